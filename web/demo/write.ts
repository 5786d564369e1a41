/** Sets an element's text where it differs. The same text again would lay the element out anew. */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
