/** Finds elements, makes them in one expression, writes into them, and says when they change or draw. */

export const element = <E extends HTMLElement = HTMLElement>(id: string): E => document.getElementById(id) as E;

/** Sets a node's text where it differs. The same text again would lay the node out anew. */
export function write(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Writes a class's label. A visitor's own sign is its drawing, and its label is for screen readers and programs. */
export function writeSign(element: HTMLElement, label: string, picture?: string): void {
  element.textContent = label;
  element.classList.toggle("drawn", picture !== undefined);
  element.style.setProperty("--picture", picture ? `url(${picture})` : "none");
}

export const ARROWS: Readonly<Record<string, [rows: number, columns: number]>> =
  { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Calls `take` with the files that the visitor chooses. The same can be chosen again. */
export function onChosen(input: HTMLInputElement, take: (files: [File, ...File[]]) => void): void {
  input.addEventListener("change", () => {
    const [first, ...more] = input.files!;
    input.value = "";
    if (first) take([first, ...more]);
  });
}

/** Returns what lets `draw` run once in the next frame, however often it is called before. */
export function inNextFrame(draw: () => void): () => void {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      draw();
    });
  };
}

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

export const button = (content: Child, press: () => void, properties: Properties<"button"> = {}) => {
  const made = h("button", { type: "button", ...properties }, content);
  made.addEventListener("click", press);
  return made;
};

export type Slider = ReturnType<typeof slider>;

/** A labelled range control. `change` gets its value while it moves. `move` moves it as the visitor does. */
export function slider(
  text: string,
  [min, max, step]: readonly [number, number, number],
  value: number,
  change: (value: number) => void,
) {
  const input = h("input", { type: "range", min: String(min), max: String(max), step: String(step) });
  input.value = String(value);
  const moved = () => change(input.valueAsNumber);
  input.addEventListener("input", moved);
  const move = (value: number) => {
    input.value = String(value);
    moved();
  };
  return { label: h("label", { className: "slider" }, text, input), input, move };
}

/** Buttons of which one is chosen, `value`: a group of radio buttons that look like chips. */
export function chips<Name extends string>(
  legend: string,
  names: readonly (readonly [name: Name, text: string])[],
  chosen: Name,
  choose: (name: Name) => void,
) {
  const group = `chips-${++groups}`;
  const inputs = names.map(([name]) => h("input", { type: "radio", name: group, value: name, checked: name === chosen }));
  const root = h("fieldset", { className: "chips" }, h("legend", {}, legend),
    ...inputs.map((input, at) => h("label", {}, input, h("span", {}, names[at]![1]))));
  root.addEventListener("change", () => choose(made.value));
  const made = {
    root,
    get value() {
      return inputs.find(({ checked }) => checked)!.value as Name;
    },
    set value(name) {
      for (const input of inputs) input.checked = input.value === name;
    },
  };
  return made;
}
let groups = 0;
