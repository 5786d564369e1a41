/** Papers: each arXiv number in a text becomes a link. */
import { h } from "../dom.ts";

export const linked = (text: string): (Node | string)[] =>
  text.split(/(arXiv:\d{4}\.\d{4,5})/).map((part, i) =>
    i % 2 ? h("a", { href: `https://arxiv.org/abs/${part.slice("arXiv:".length)}` }, part) : part);

/** A line that names a paper. */
export const cite = (text: string): HTMLParagraphElement => h("p", { className: "cite" }, ...linked(text));
