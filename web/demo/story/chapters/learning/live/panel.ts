/** The panel: presets, and a control for each choice. */
import { button, h } from "../../../../dom.ts";
import { whole } from "../../../../texts/words.ts";
import type { Story } from "../../../scene.ts";
import type { texts, Words } from "../texts/en.ts";
import { type Choices, HIGHEST_RATE, headsFor, type PresetName, LOWEST_RATE, OFFERED, PRESETS } from "./recipe.ts";

type Name = keyof typeof texts.live.controls;

export function buildPanel({ choices: storyChoices }: Story, words: Words["live"], change: () => void) {
  const kinds = Object.keys(PRESETS) as PresetName[];
  let choices: Choices = { ...PRESETS[storyChoices.of("live-myvit") === "on" ? "myvit" : "ours"] };
  const list = (...options: HTMLOptionElement[]) => h("select", {}, ...options);
  const box = () => h("input", { type: "checkbox" });
  const heads = list();
  const controls: Record<Name, HTMLInputElement | HTMLSelectElement> = {
    heads,
    width: list(...OFFERED.width.map((width) => option(width))),
    depth: list(...OFFERED.depth.map((depth) => option(depth))),
    patch: list(...OFFERED.patch.map((side) => option(side, `${side}×${side}`))),
    images: list(...OFFERED.images.map((images) => option(images))),
    epochs: list(...OFFERED.epochs.map((epochs) => option(epochs))),
    position: list(...OFFERED.position.map((value) => h("option", { value }, words.positions[value]))),
    rate: h("input", { type: "number", min: String(LOWEST_RATE), max: String(HIGHEST_RATE), step: "any", inputMode: "decimal", required: true }),
    residual: box(),
    augment: box(),
  };
  const presets = kinds.map((kind) => button(words.kinds[kind], () => {
    put(PRESETS[kind]);
    changed();
  }, { data: { kind }, className: "plain" }));

  const show = () => {
    fill(heads, headsFor(choices.width));
    for (const name of ORDER) {
      const control = controls[name], value = choices[name];
      if (typeof value === "boolean") (control as HTMLInputElement).checked = value;
      else control.value = String(value);
    }
    presets.forEach((preset, at) => (preset.ariaPressed = String(kinds[at] === choices.kind)));
  };
  const put = (some: Partial<Choices>) => {
    choices = { ...choices, ...some };
    if (!headsFor(choices.width).includes(choices.heads)) choices.heads = 1;
    show();
  };
  /** Takes a control's value. One that does not fit gives way to the last one. */
  const take = (name: Name) => {
    const control = controls[name], type = typeof choices[name];
    const value = type === "boolean" ? (control as HTMLInputElement).checked : type === "number" ? Number(control.value) : control.value;
    put(control.validity.valid ? { [name]: value } : {});
  };
  /** Keeps what the visitor has otherwise than the preset. */
  const changed = () => {
    const preset = PRESETS[choices.kind];
    storyChoices.set("live-myvit", choices.kind === "myvit" || undefined);
    for (const name of ORDER) storyChoices.set(`live-${name}`, choices[name] === preset[name] ? undefined : choices[name]);
    change();
  };
  show();
  for (const name of ORDER) {
    const control = controls[name];
    control.id = `live-${name}`;
    if (storyChoices.restore(control.id, control)) take(name);
    control.addEventListener("change", () => {
      take(name);
      changed();
    });
  }
  return {
    root: h("fieldset", { className: "live-panel" },
      h("legend", {}, words.panel),
      h("div", { className: "figure-tools", role: "group", ariaLabel: words.presets }, ...presets),
      h("div", { className: "live-controls" }, ...ORDER.map((name) => h("label", {}, words.controls[name], controls[name])))),
    get choices() {
      return choices;
    },
  };
}

/** A width comes before its heads, because it limits them. */
const ORDER: readonly Name[] = ["width", "depth", "heads", "patch", "position", "residual", "rate", "augment", "images", "epochs"];

const option = (value: number, text = whole(value)) => h("option", { value: String(value) }, text);

function fill(heads: HTMLSelectElement, values: readonly number[]): void {
  if (heads.options.length === values.length) return; // the lists are the beginnings of one another
  heads.replaceChildren(...values.map((value) => option(value)));
}
