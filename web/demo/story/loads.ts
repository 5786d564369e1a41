/** A chapter's figures that need files: says that they load, or that they failed. */
import { showError, withRemedy } from "../status.ts";
import { words } from "../texts/words.ts";
import { h } from "../dom.ts";
import { repeatable } from "./prose.ts";
import type { Scene, Story } from "./scene.ts";

/** `open` loads what the figures need and returns them, with what draws a scene in them. */
export function loads(body: HTMLElement, { words: common }: Story, open: () => Promise<[figures: Node, draw: (scene: Scene) => void]>) {
  let drawFigures = (_scene: Scene) => {};
  const draw = repeatable((scene: Scene) => drawFigures(scene));
  const load = async () => {
    const status = h("p", { role: "status" }, common.loading);
    body.replaceChildren(status);
    const [figures, drawThem] = await open().catch(() => []);
    if (!figures) return showError(status, withRemedy(words.trouble.story), () => void load());
    body.replaceChildren(figures);
    drawFigures = drawThem!;
    draw();
  };
  void load();
  return draw;
}
