/** Writes a class's label. A visitor's own sign is its drawing, and its label is for screen readers and programs. */
export function writeSign(element: HTMLElement, label: string, picture?: string): void {
  element.textContent = label;
  element.classList.toggle("drawn", picture !== undefined);
  element.style.setProperty("--picture", picture ? `url(${picture})` : "none");
}

/** Sets a node's text where it differs. The same text again would lay the node out anew. */
export function write(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
