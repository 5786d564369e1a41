/** Makes elements in one expression. */

type Child = Node | string;
type Properties<T extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[T], "style" | "dataset">
> & { aria?: Record<string, string>; data?: Record<string, string> };

/** h("p", { className: "lead" }, "text") is the element `<p class="lead">text</p>`. */
export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  { aria = {}, data = {}, ...properties }: Properties<T> = {},
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  for (const [name, value] of Object.entries(aria)) element.setAttribute(`aria-${name}`, value);
  Object.assign(element.dataset, data);
  element.append(...children);
  return element;
}

/** A button that can be used by pointer and keyboard. */
export const button = (text: string, press: () => void, properties: Properties<"button"> = {}) => {
  const made = h("button", { type: "button", ...properties }, text);
  made.addEventListener("click", press);
  return made;
};

/** A labelled range control. `change` gets its value while it moves. */
export function slider(
  text: string,
  [min, max, step]: readonly [number, number, number],
  value: number,
  change: (value: number) => void,
): { label: HTMLLabelElement; input: HTMLInputElement } {
  const input = h("input", { type: "range", min: String(min), max: String(max), step: String(step) });
  input.value = String(value);
  input.addEventListener("input", () => change(input.valueAsNumber));
  return { label: h("label", { className: "slider" }, text, input), input };
}

/** Gives a control the name by which a link holds its choice: choices.ts. */
export function named<Control extends HTMLElement>(name: string, control: Control): Control {
  control.dataset.choice = name;
  return control;
}

/** Buttons of which one is chosen: a group of radio buttons that look like chips. */
export function chips<Name extends string>(
  legend: string,
  names: readonly (readonly [name: Name, text: string])[],
  chosen: Name,
  choose: (name: Name) => void,
): HTMLFieldSetElement {
  const group = `chips-${++groups}`;
  const made = names.map(([name, text]) => {
    const input = h("input", { type: "radio", name: group, value: name, checked: name === chosen });
    input.addEventListener("change", () => choose(name));
    return h("label", {}, input, h("span", {}, text));
  });
  return h("fieldset", { className: "chips" }, h("legend", {}, legend), ...made);
}
let groups = 0;
