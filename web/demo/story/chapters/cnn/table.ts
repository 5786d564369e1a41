/** Size, accuracy and speed of both networks. */
import accuracy from "../../../explain/accuracy.json";
import { weightsOf } from "../../../explain/models.ts";
import { readSafetensors } from "../../../../base/safetensors.mjs";
import { decimal, percentage, whole } from "../../../texts/words.ts";
import { button, h } from "../../../dom.ts";
import type { Story } from "../../scene.ts";
import { saveableTable } from "../../table.ts";
import { type Both, type Name, NAMES, ORDER, type Pair } from "./pair.ts";
import { multiplications } from "./reach.ts";
import { measure } from "./speed.ts";

const { images, right } = accuracy.models;

const parametersOf = async (name: Name): Promise<number> =>
  [...readSafetensors(await weightsOf(NAMES[name])).tensors.values()].reduce((sum, { data }) => sum + data.length, 0);

const accuracyOf = (name: Name) => right[NAMES[name]];

export async function buildTable(pair: Pair, { texts: { cnn: texts }, say }: Story): Promise<[HTMLElement, (both: Both) => void]> {
  const parameters = { vit: await parametersOf("vit"), convolutions: await parametersOf("convolutions") };
  const times = { convolutions: h("td", {}, "–"), vit: h("td", {}, "–") };
  const verdict = h("output", { id: "cnn-speed" });
  const row = (title: string, cell: (name: Name) => string) =>
    h("tr", {}, h("th", { scope: "row" }, title), ...ORDER.map((name) => h("td", { data: { model: name } }, cell(name))));
  const table = h("table", { className: "cnn-table" },
    h("thead", {}, h("tr", {}, h("th"), ...ORDER.map((name) => h("th", { scope: "col" }, texts[name])))),
    h("tbody", {},
      row(texts.parameters, (name) => whole(parameters[name])),
      row(texts.products, (name) => texts.million(decimal(multiplications(pair[name].config) / 1e6, 1))),
      row(texts.right(whole(images)), (name) => percentage(accuracyOf(name) / images, 2)),
      row(texts.wrong, (name) => whole(images - accuracyOf(name))),
      h("tr", {}, h("th", { scope: "row" }, texts.time), ...ORDER.map((name) => times[name]))));
  let input: Float32Array | undefined, busy = false;

  const run = async () => {
    if (busy || !input) return;
    busy = true;
    press.setAttribute("aria-disabled", "true");
    verdict.textContent = texts.timing;
    try {
      const { median, rounds, calls } = await measure(ORDER.map((name) => pair[name]), input);
      ORDER.forEach((name, at) => (times[name].textContent = texts.milliseconds(decimal(median[at]!, 2))));
      const slower = median[0]! > median[1]! ? 0 : 1, ratio = median[slower]! / median[1 - slower]!;
      verdict.textContent = texts.speed(texts[ORDER[slower]!], decimal(ratio, 1), rounds, calls);
      Object.assign(verdict.dataset, { convolutions: String(median[0]), vit: String(median[1]), ratio: String(ratio) });
      say(verdict.textContent);
    } finally {
      busy = false;
      press.removeAttribute("aria-disabled");
    }
  };
  const press = button(texts.measure, () => void run(), { id: "cnn-measure" });
  const root = h("div", { className: "figure" },
    h("h3", {}, texts.tableTitle), h("div", { className: "grid-scroll" }, saveableTable(table, texts.tableTitle)),
    h("div", { className: "cnn-measure" }, press, verdict),
    h("p", {}, texts.why(images - accuracyOf("convolutions"), images - accuracyOf("vit"))));
  return [root, (both) => (input = both.input)];
}
