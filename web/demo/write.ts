/** Sets a node's text where it differs. The same text again would lay the node out anew. */
export function write(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
