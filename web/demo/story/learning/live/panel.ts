/** The panel: presets, and a control for each choice. */
import type { Texts } from "../../../texts/en.ts";
import { whole } from "../../../texts/words.ts";
import { button, h, named } from "../../../dom.ts";
import { KINDS as POSITIONS } from "../../positions/kinds.ts";
import { type Choices, HIGHEST_RATE, headsFor, type PresetName, LOWEST_RATE, OFFERED, PRESETS } from "./recipe.ts";

type Words = Texts["learning"]["live"];
type Name = keyof Words["controls"];

/** The selects whose options are numbers, beside that of the heads. */
const NUMBERS = ["width", "depth", "patch", "images", "epochs"] as const;
const SWITCHES = ["residual", "augment"] as const;

export interface Panel {
  readonly root: HTMLElement;
  readonly choices: Choices;
}

/** `change` is called whenever a choice has changed. */
export function buildPanel({ learning: { live: words }, positions }: Texts, change: () => void): Panel {
  let choices: Choices = { ...PRESETS.ours };
  const set = (some: Partial<Choices>) => {
    choices = { ...choices, ...some };
    if (!headsFor(choices.width).includes(choices.heads)) choices.heads = 1;
    show();
    change();
  };
  const selects = Object.fromEntries(NUMBERS.map((name) => [name, numbers(name, OFFERED[name], (value) => set({ [name]: value }))]));
  const heads = numbers("heads", [], (value) => set({ heads: value }));
  const position = select("position", POSITIONS.map((kind) => [kind, positions.kinds[kind]]),
    (value) => set({ position: value as Choices["position"] }));
  const rate = h("input", { id: "live-rate", type: "number", min: String(LOWEST_RATE), max: String(HIGHEST_RATE), step: "any", inputMode: "decimal" });
  rate.addEventListener("change", () => {
    const value = rate.valueAsNumber;
    set(value >= LOWEST_RATE && value <= HIGHEST_RATE ? { rate: value } : {}); // else the last one again
  });
  const boxes = Object.fromEntries(SWITCHES.map((name) => [name, box(name, (on) => set({ [name]: on }))]));
  const presets = (Object.keys(PRESETS) as PresetName[]).map((kind) =>
    named(`live-${kind}`, button(words.kinds[kind], () => set(PRESETS[kind]), { data: { kind }, className: "plain" })));

  const show = () => {
    for (const name of NUMBERS) selects[name]!.value = String(choices[name]);
    fill(heads, headsFor(choices.width));
    heads.value = String(choices.heads);
    position.value = choices.position;
    rate.value = String(choices.rate);
    for (const name of SWITCHES) boxes[name]!.checked = choices[name];
    for (const preset of presets) preset.ariaPressed = String(preset.dataset.kind === choices.kind);
  };
  show();
  // A link sets them from the first to the last: a preset before what it changes, and the width before its heads.
  const labelled = (name: Name, control: HTMLElement) => h("label", {}, words.controls[name], named(`live-${name}`, control));
  const controls = { ...selects, ...boxes, heads, position, rate } as unknown as Record<Name, HTMLElement>;
  return {
    root: h("fieldset", { className: "live-panel" },
      h("legend", {}, words.panel),
      h("div", { className: "figure-tools", role: "group", ariaLabel: words.presets }, ...presets),
      h("div", { className: "live-controls" }, ...ORDER.map((name) => labelled(name, controls[name])))),
    get choices() {
      return choices;
    },
  };
}

const ORDER: readonly Name[] = ["width", "depth", "heads", "patch", "position", "residual", "rate", "augment", "images", "epochs"];

function box(name: Name, choose: (on: boolean) => void): HTMLInputElement {
  const made = h("input", { id: `live-${name}`, type: "checkbox" });
  made.addEventListener("change", () => choose(made.checked));
  return made;
}

function select(name: Name, options: readonly (readonly [value: string, text: string])[], choose: (value: string) => void): HTMLSelectElement {
  const made = h("select", { id: `live-${name}` }, ...options.map(([value, text]) => h("option", { value }, text)));
  made.addEventListener("input", () => choose(made.value));
  return made;
}

const numbers = (name: Name, values: readonly number[], choose: (value: number) => void): HTMLSelectElement =>
  select(name, values.map((value) => [String(value), shown(name, value)]), (value) => choose(Number(value)));

const shown = (name: Name, value: number): string => (name === "patch" ? `${value}×${value}` : whole(value));

function fill(heads: HTMLSelectElement, values: readonly number[]): void {
  if (heads.options.length === values.length) return; // the lists are the beginnings of one another
  heads.replaceChildren(...values.map((value) => h("option", { value: String(value) }, whole(value))));
}
