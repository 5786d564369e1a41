/** A chapter's figures that need files: says that they load, or that they failed. */
import { button, h } from "./dom.ts";
import type { Scene, Story } from "./scene.ts";

/** `open` loads what the figures need and returns them, with what draws a scene in them. */
export function loads(
  body: HTMLElement,
  { texts }: Story,
  open: () => Promise<[figures: Node, draw: (scene: Scene) => void]>,
): (scene: Scene) => void {
  let draw: ((scene: Scene) => void) | undefined;
  let last: Scene | undefined;
  const load = async () => {
    body.replaceChildren(h("p", {}, texts.story.loading));
    const opened = await open().catch(() => undefined);
    if (!opened) {
      const { failed, retry } = texts.learning;
      return body.replaceChildren(h("p", { className: "notice", role: "alert" }, failed), button(retry, () => void load()));
    }
    body.replaceChildren(opened[0]);
    draw = opened[1];
    if (last) draw(last);
  };
  void load();
  return (scene) => {
    last = scene;
    draw?.(scene);
  };
}

/** A link to a paper. */
export const arxiv = (id: string): HTMLAnchorElement =>
  h("a", { href: `https://arxiv.org/abs/${id}` }, `arXiv:${id}`);
