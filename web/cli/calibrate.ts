import { readFile } from "node:fs/promises";
import { withKeys } from "../base/safetensors.mjs";
import { reason } from "../errors.ts";
import { jsonOf, modelOptions, type PlainCommand, weightsOf, withModel } from "./command.ts";
import { answersOf, DATA_OPTIONS, readDataSource } from "./answers.ts";
import { decimal, textOf, whole } from "./options.ts";
import { checkOut, readOut, writeWhole } from "./output.ts";
import { fixed } from "./terminal.ts";

/** The share of right answers that count as certain. */
const ACCEPT = 0.995;

export const calibrate: PlainCommand = {
  about: "make a model's probabilities honest, using images that it was not trained on",
  operand: "",
  options: {
    ...DATA_OPTIONS,
    model: { value: "MODEL", help: "a file as train and quantize write it; the digits by default" },
    out: { value: "FILE", help: "safetensors to write; may be the model's own file" },
    first: { value: "N", help: "the first image to use; counts from 0" },
    count: { value: "N", help: "the number of images to use; by default all from there on" },
    accept: { value: "SHARE", help: `the share of the right answers that count as certain; ${ACCEPT} by default` },
    threads: { value: "N", help: "the number of threads; all cores by default" },
    ndjson: { help: "the same on one line" },
  },
  plan(values) {
    const dataSource = readDataSource(values);
    const out = readOut(values);
    const first = whole("--first", textOf(values, "first") ?? "0", 0);
    const countText = textOf(values, "count");
    const count = countText === undefined ? undefined : whole("--count", countText, 1);
    const accept = decimal("--accept", textOf(values, "accept") ?? String(ACCEPT), 0, 1);
    const model = modelOptions(values, undefined, Infinity);
    const { variant = "auto" } = model.options;
    return async ({ terminal }) => {
      const file = await ownFile(weightsOf(values));
      await checkOut(out);
      return withModel(model, terminal, async ({ vit }) => {
        const answers = await answersOf(vit, dataSource, "validation", terminal, { first, count });
        const { score } = await import("vitrine/train");
        const options = { variant, worker: true };
        const { calibrationError: before } = await score(answers, { temperature: vit.config.temperature, ...options });
        const { temperature, uncertainBelow: uncertain_below, calibrationError: after, right, wrong } = await score(answers, { accept, ...options });
        if (right.count === 0) {
          throw new Error(`images: expected some that the model classifies right, got none of the ${wrong.count} right`);
        }
        await writeWhole(out, withKeys(file, { temperature, uncertain_below }));
        if (jsonOf(values).json) {
          terminal.printJson({ out, temperature, uncertain_below, calibrationError: { before, after }, right, wrong });
          return true;
        }
        terminal.print(`temperature: ${fixed(temperature)}`);
        terminal.print(`calibration error: ${fixed(before)} before, ${fixed(after)} after`);
        terminal.print(`uncertain below: ${fixed(uncertain_below)}, which is ${right.below} of ${right.count} right answers and ${wrong.below} of ${wrong.count} wrong ones`);
        return true;
      });
    };
  },
};

/** The bytes of a model's file, whose config can be changed. */
async function ownFile(path: string | URL): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const file = new Uint8Array(await readFile(path));
    withKeys(file, {}); // refuses another file before any work
    return file;
  } catch (cause) {
    throw new Error(`${String(path)}: ${reason(cause)}`, { cause });
  }
}
