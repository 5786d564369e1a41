/** A chapter's figures that need files: says that they load, or that they failed. */
import { withRemedy } from "../remedy.ts";
import { showError } from "../status.ts";
import { words } from "../texts/words.ts";
import { h } from "../dom.ts";
import type { Scene, Story } from "./scene.ts";

/** `open` loads what the figures need and returns them, with what draws a scene in them. */
export function loads(body: HTMLElement, { texts }: Story, open: () => Promise<[figures: Node, draw: (scene: Scene) => void]>) {
  let draw: ((scene: Scene) => void) | undefined, last: Scene | undefined;
  const load = async () => {
    const status = h("p", { role: "status" }, texts.story.loading);
    body.replaceChildren(status);
    const [figures, drawThem] = await open().catch(() => []);
    if (!figures) return showError(status, withRemedy(words.trouble.story), () => void load());
    body.replaceChildren(figures);
    draw = drawThem;
    if (last) draw?.(last);
  };
  void load();
  return (scene: Scene): void => {
    last = scene;
    draw?.(scene);
  };
}
