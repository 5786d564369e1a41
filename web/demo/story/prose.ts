/** Prose of a chapter: papers, and the second visit's matter. */
import { h } from "../dom.ts";
import type { Story } from "./scene.ts";

/** Each arXiv number in a text becomes a link. */
export const linked = (text: string): (Node | string)[] =>
  text.split(/(arXiv:\d{4}\.\d{4,5})/).map((part, i) =>
    i % 2 ? h("a", { href: `https://arxiv.org/abs/${part.slice("arXiv:".length)}` }, part) : part);

/** A line that names a paper. */
export const cite = (text: string): HTMLParagraphElement => h("p", { className: "cite" }, ...linked(text));

/** The second visit's matter, folded. */
export const fold = (story: Story, title: string, ...parts: (Node | string)[]): HTMLDetailsElement =>
  h("details", { className: "more" }, h("summary", {}, story.words.more({ title })), ...parts);

/** Draws what a fold shows only while it is open, and when it opens. */
export function whenOpen<Shown>(fold: HTMLDetailsElement, draw: (shown: Shown) => void): (shown: Shown) => void {
  let last: Shown | undefined;
  const show = () => {
    if (fold.open && last !== undefined) draw(last);
  };
  fold.addEventListener("toggle", show);
  return (shown) => {
    last = shown;
    show();
  };
}
