import { h } from "./dom.ts";

/** A line that names a paper and links to it. */
export const cite = (text: string, arxiv: string): HTMLElement =>
  h("p", { className: "cite" }, text, ", ", h("a", { href: `https://arxiv.org/abs/${arxiv}` }, `arXiv:${arxiv}`), ".");
