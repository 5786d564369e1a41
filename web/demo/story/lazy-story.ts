/** Loads the story's code when the story comes near the screen, after the first prediction. */
import type { PadEvents } from "../pad.ts";
import type { State } from "../state.ts";
import { showMissing } from "../status.ts";
import type { Stroke } from "../ink.ts";

/** What the page lends the story. */
export interface Page {
  state: State;
  hand: PadEvents;
  redraw(): void;
  draw(strokes: Stroke[], unfinished?: boolean): void;
  wipe(): void;
  say(text: string): void;
}

/** Returns what the page calls whenever it has drawn itself. */
export function loadStoryLazily(root: HTMLElement, page: Page): () => void {
  let near = false, asked = false;
  let draw = () => {};
  const load = async () => {
    if (!near || asked || !page.state.reading) return;
    asked = true;
    const code = await import("./main.ts").catch(() => undefined);
    if (!code) return showMissing(root.querySelector<HTMLElement>("#story-status")!);
    draw = code.tell(root, page);
    draw();
  };
  const observer = new IntersectionObserver((entries) => {
    near = entries.at(-1)!.isIntersecting;
    void load();
  }, { rootMargin: "60% 0px" });
  observer.observe(root);
  return () => {
    void load();
    draw();
  };
}
