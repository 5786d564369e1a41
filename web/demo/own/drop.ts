/** Gives the body the class `dragging` while files are over the page. It lights up the targets. */
export function lightTargets(): void {
  const light = (on: boolean) => document.body.classList.toggle("dragging", on);
  document.addEventListener("dragover", ({ dataTransfer }) => light(dataTransfer?.types.includes("Files") ?? false));
  document.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!relatedTarget) light(false); // the pointer has left the page, not only one element
  });
  document.addEventListener("drop", () => light(false));
}
