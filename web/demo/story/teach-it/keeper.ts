/** Says what the drawing is: a click on a class that is known, or a new sign's name. */
import type { Texts } from "../../texts/en.ts";
import { button, h } from "../dom.ts";
import { nameOf } from "./text.ts";

export function buildKeeper(texts: Texts["teachIt"], keep: (label: string) => void) {
  const classes = h("div", { className: "classes", role: "group", ariaLabel: texts.thisIs });
  const name = h("input", { id: "teach-it-name", autocomplete: "off", spellcheck: false, maxLength: 24, placeholder: texts.placeholder, ariaLabel: texts.name });
  const press = button(texts.keep, () => send(), { id: "teach-it-keep" });
  const send = () => {
    const label = nameOf(name.value);
    if (label && able) keep(label);
    else name.focus();
  };
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) send();
  });
  let able = false;
  return {
    root: h("div", { className: "keeper" },
      h("p", {}, texts.thisIs), classes, h("label", {}, texts.orNew, name), press),
    draw(labels: readonly string[], hasDrawing: boolean): void {
      able = hasDrawing;
      const shown = [...classes.children].map((child) => child.textContent);
      if (shown.join("\n") !== labels.join("\n")) {
        classes.replaceChildren(...labels.map((label) =>
          button(label, () => able && keep(label), { className: "plain small", ariaLabel: texts.itIs(label) })));
      }
      // Not `disabled`, because a disabled button loses the keyboard's focus.
      for (const child of [...classes.children, press]) child.ariaDisabled = String(!able);
    },
  };
}
