/**
 * The visitor's choices in the chapters, for links and for a change of language. A control with
 * `data-choice` has a name of its own there; one that the visitor has used carries `data-used`.
 */
import { usedChoices, valueOf } from "../link.ts";

/**
 * Gives each control the value that `wanted` has for its name, as soon as the control is there and takes
 * it. `wanted` then loses the name. Call what it returns before the chapters are rebuilt: it puts their
 * choices into `wanted`.
 */
export function keepChoices(chapters: HTMLElement, wanted: Map<string, string>): () => void {
  const used = ({ target }: Event) => (target as Element).closest("[data-choice]")?.setAttribute("data-used", "");
  for (const event of ["input", "change", "click"]) chapters.addEventListener(event, used, true);
  const set = () => {
    for (const control of wanted.size > 0 ? chapters.querySelectorAll<HTMLElement>("[data-choice]") : []) {
      const name = control.dataset.choice!, value = wanted.get(name);
      if (value === undefined || !take(control, value)) continue;
      wanted.delete(name);
      control.dataset.used = "";
    }
  };
  new MutationObserver(set).observe(chapters, { subtree: true, childList: true, attributeFilter: ["max", "disabled"] });
  return () => {
    for (const [name, value] of usedChoices()) wanted.set(name, value);
  };
}

/** Sets a control as a visitor would. False if it does not take the value yet. */
function take(control: HTMLElement, value: string): boolean {
  if (valueOf(control) === value) return true;
  if (control instanceof HTMLButtonElement) {
    if (value === "on") control.click();
    return true;
  }
  let input = control as HTMLInputElement | HTMLSelectElement;
  if (control instanceof HTMLFieldSetElement) {
    const radio = [...control.querySelectorAll("input")].find((one) => one.value === value);
    if (!radio) return false;
    radio.checked = true;
    input = radio;
  } else if (input.type === "checkbox") (input as HTMLInputElement).checked = value === "on";
  else {
    const before = input.value;
    input.value = value; // a range takes the nearest, a list none
    if (input.value !== value) {
      input.value = before;
      return false;
    }
  }
  for (const event of ["input", "change"]) input.dispatchEvent(new Event(event, { bubbles: true }));
  return true;
}
