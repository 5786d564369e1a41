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

/** Returns what draws what it is given or, if nothing, what it was given last. */
export function repeatable<Shown>(draw: (shown: Shown) => void): (shown?: Shown) => void {
  let last: Shown | undefined;
  return (shown = last) => {
    last = shown;
    if (shown !== undefined) draw(shown);
  };
}

/** The same for what a fold shows: it is drawn only while the fold is open, and when it opens. */
export function whenOpen<Shown>(fold: HTMLDetailsElement, draw: (shown: Shown) => void): (shown?: Shown) => void {
  const show = repeatable((shown: Shown) => fold.open && draw(shown));
  fold.addEventListener("toggle", () => show());
  return show;
}
