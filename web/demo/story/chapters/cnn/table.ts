/** What both networks answer; their size, accuracy and speed. */
import type { Classification, Vit, VitConfig } from "vitrine";
import { readSafetensors } from "../../../../base/safetensors.mjs";
import { button, h } from "../../../dom.ts";
import { models } from "../../../explain/accuracy.json";
import { weightsOf } from "../../../explain/models.ts";
import { buildTable, tableRow } from "../../../figure/parts.ts";
import { medianOf } from "../../../reader.ts";
import { stridesOf } from "../../../stem.ts";
import { decimal, percent, percentage, whole } from "../../../texts/words.ts";
import { millions } from "../../millions.ts";
import type { Story } from "../../scene.ts";
import { slices } from "../../work.ts";
import { type Name, NAMES, ORDER, type Pair } from "./influence.ts";
import type { Words } from "./texts/en.ts";

const { images, right } = models;

const parametersOf = async (name: Name): Promise<number> =>
  [...readSafetensors(await weightsOf(NAMES[name])).tensors.values()].reduce((sum, { data }) => sum + data.length, 0);

/** Returns the table and what writes both networks' answers to a drawing into it. */
export async function buildNumbers(pair: Pair, { say }: Story, words: Words) {
  const parameters = { vit: await parametersOf("vit"), convolutions: await parametersOf("convolutions") };
  const wrong = { vit: images - right[NAMES.vit], convolutions: images - right[NAMES.convolutions] };
  const row = (title: string, cell: (name: Name) => string) => {
    const cells = ORDER.map((name) => h("td", {}, cell(name)));
    return { root: tableRow(title, cells), cells };
  };
  const reads = row(words.reads, () => "–"), times = row(words.time, () => "–");
  const rows = [
    reads,
    row(words.parameters, (name) => whole(parameters[name])),
    row(words.products, (name) => words.million({ count: millions(multiplications(pair[name].config)) })),
    row(words.right({ images }), (name) => percentage(right[NAMES[name]] / images, 2)),
    row(words.wrong, (name) => whole(wrong[name])),
    times,
  ];
  const table = buildTable(words.table, ["", ...ORDER.map((name) => words.names[name])], rows.map(({ root }) => root), "cnn-table");
  const verdict = h("output", { id: "cnn-speed" });
  let input: Float32Array | undefined, busy = false;

  const run = async () => {
    if (busy || !input) return;
    busy = true;
    press.ariaDisabled = "true";
    verdict.textContent = words.timing;
    try {
      const median = await measure(ORDER.map((name) => pair[name]), input);
      median.forEach((ms, at) => (times.cells[at]!.textContent = words.milliseconds({ ms: decimal(ms, 2) })));
      const slower = median[0]! > median[1]! ? 0 : 1, ratio = median[slower]! / median[1 - slower]!;
      verdict.textContent = words.speed({ slower: words.names[ORDER[slower]!], ratio: decimal(ratio, 1), rounds: ROUNDS, calls: CALLS });
      Object.assign(verdict.dataset, { convolutions: String(median[0]), vit: String(median[1]), ratio: String(ratio) });
      say(verdict.textContent);
    } finally {
      busy = false;
      press.ariaDisabled = null;
    }
  };
  const press = button(words.measure, () => void run(), { id: "cnn-measure" });
  const root = h("div", { className: "panel side-by-side" },
    h("div", { className: "grid-scroll" }, table),
    h("div", { className: "cnn-says" }, h("p", {}, words.why(wrong)), press, verdict));
  const draw = (answers: Record<Name, Classification>) => {
    ({ input } = answers.vit);
    ORDER.forEach((name, at) => {
      const { label, p } = answers[name].classes[0]!, cell = reads.cells[at]!;
      cell.textContent = `${label}, ${percent(p)}`;
      Object.assign(cell.dataset, { model: name, label, p: String(p) });
    });
  };
  return { root, draw };
}

// ---- Size -------------------------------------------------------------------

const SIDE = 3; // of every convolution

/** How many numbers a model multiplies for one image. */
function multiplications(config: Readonly<VitConfig>): number {
  const { image_size: [height, width], patch_size, channels, width: D, depth, mlp_width, classes, prefix } = config;
  let area = height * width, depthIn = channels, count = 0, unit = 1;
  const strides = stridesOf(config);
  for (const [at, layer] of config.stem.entries()) {
    const out = typeof layer === "number" ? layer : layer[0], stride = strides[at]!;
    area /= stride * stride;
    unit *= stride;
    count += area * depthIn * out * SIDE * SIDE;
    depthIn = out;
  }
  const patches = (height / patch_size[0]) * (width / patch_size[1]);
  count += patches * depthIn * (patch_size[0] / unit) * (patch_size[1] / unit) * D;
  const T = patches + prefix.length;
  const block = T * (4 * D * D + 2 * D * mlp_width) + 2 * T * T * D; // projections and MLP; scores and mixing
  return count + depth * block + D * classes;
}

// ---- Speed ------------------------------------------------------------------

const ROUNDS = 25, CALLS = 8; // clocks of browsers are coarse, so a round times several calls together

/** Milliseconds a call of each model, the median of the rounds. The models take turns, in slices. */
async function measure(models: readonly Vit[], image: Float32Array): Promise<number[]> {
  const times = models.map((): number[] => []), pause = slices();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [at, vit] of models.entries()) {
      const begin = performance.now();
      for (let call = 0; call < CALLS; call++) await vit.classify(image);
      const took = (performance.now() - begin) / CALLS;
      if (round > 0) times[at]!.push(took); // the first round warms up
      await pause();
    }
  }
  return times.map((each) => medianOf(each)!);
}
