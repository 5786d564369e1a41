/** Formulas in MathML. A plain text in one becomes a name, a number or a sign. */
type Part = Node | string;

const NAMESPACE = "http://www.w3.org/1998/Math/MathML";

function element(tag: string, ...parts: Part[]): Element {
  const made = document.createElementNS(NAMESPACE, tag);
  made.append(...parts);
  return made;
}

const leaf = (part: Part): Node =>
  typeof part !== "string" ? part : element(/^\p{L}/u.test(part) ? "mi" : /^\d/.test(part) ? "mn" : "mo", part);

export const row = (...parts: Part[]): Node => element("mrow", ...parts.map(leaf));
export const sub = (base: Part, index: Part): Node => element("msub", leaf(base), leaf(index));
export const sup = (base: Part, index: Part): Node => element("msup", leaf(base), leaf(index));
export const over = (above: Part, below: Part): Node => element("mfrac", leaf(above), leaf(below));
export const root = (part: Part): Node => element("msqrt", leaf(part));
export const sumOver = (index: Part): Node => element("munder", leaf("∑"), leaf(index));

/** A formula on a line of its own. */
export function formula(...parts: Part[]): Element {
  const made = element("math", row(...parts));
  made.setAttribute("display", "block");
  return made;
}
