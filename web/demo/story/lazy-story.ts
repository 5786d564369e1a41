/** Loads the story's code when the story comes near the screen, after the first prediction. */
import { showMissing } from "../status.ts";
import { loadSentences } from "../texts/language.ts";
import type { Page } from "./scene.ts";

/** Returns what the page calls whenever it has drawn itself. */
export function loadStoryLazily(root: HTMLElement, page: Page): () => void {
  let near = false, hasStarted = false;
  let draw = () => {};
  const load = async () => {
    if (!near || hasStarted || !page.state.reading) return;
    hasStarted = true;
    const [code] = await Promise.all([import("./main.ts"), loadSentences()]).catch(() => []);
    if (!code) return showMissing(root.querySelector<HTMLElement>("#story-status")!);
    draw = code.tell(root, page);
    draw();
  };
  const observer = new IntersectionObserver((entries) => {
    near = entries.at(-1)!.isIntersecting;
    void load();
  }, { rootMargin: "-1px 0px" }); // the stage fills the first window, so the story waits until it is scrolled to
  observer.observe(root);
  return () => {
    void load();
    draw();
  };
}
