/** While files are dragged over the page, `dragging` on its body lights up the drop targets. */
export function lightTargets(): void {
  const light = (on: boolean) => document.body.classList.toggle("dragging", on);
  document.addEventListener("dragover", ({ dataTransfer }) => light(dataTransfer?.types.includes("Files") ?? false));
  document.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!relatedTarget) light(false); // it has left the page, not one element for another
  });
  document.addEventListener("drop", () => light(false));
}
