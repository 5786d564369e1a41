import { readFile } from "node:fs/promises";
import { withKeys } from "../base/safetensors.mjs";
import { reason } from "../errors.ts";
import { modelOptions, type PlainCommand, weightsOf, withModel } from "./command.ts";
import { type Answers, answersOf, DATA_OPTIONS, readDataSource } from "./answers.ts";
import { decimal, textOf, whole } from "./options.ts";
import { checkOut, readOut, writeWhole } from "./output.ts";
import { calibrationError, fitTemperature, fixed, scoreAnswers, type ScoredAnswer, passingThreshold } from "./score.ts";

/** The share of right answers that count as certain. */
const ACCEPT = 0.995;

interface Calibration {
  readonly temperature: number;
  readonly uncertain_below: number;
  readonly calibrationError: { readonly before: number; readonly after: number };
  /** How many answers there are, and how many of them are below the threshold. */
  readonly right: ThresholdCount;
  readonly wrong: ThresholdCount;
}
interface ThresholdCount {
  readonly count: number;
  readonly below: number;
}

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
    return async ({ terminal }) => {
      const file = await ownFile(weightsOf(values));
      await checkOut(out);
      return withModel(model, terminal, async ({ vit }) => {
        const answers = await answersOf(vit, dataSource, "validation", terminal, { first, count });
        const found = calibrationOf(answers, vit.config.temperature, accept);
        const { temperature, uncertain_below, calibrationError: { before, after }, right, wrong } = found;
        await writeWhole(out, withKeys(file, { temperature, uncertain_below }));
        if (values["json"] || values["ndjson"]) {
          terminal.printJson({ out, ...found });
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

/** Rounds the numbers as they will be written, and measures everything with those. */
function calibrationOf(answers: Answers, before: number, accept: number): Calibration {
  const temperature = Math.round(fitTemperature(answers) * 1e4) / 1e4;
  const scored = scoreAnswers(answers, temperature);
  const [right, wrong] = [true, false].map((is) => scored.filter((answer) => answer.right === is)) as [ScoredAnswer[], ScoredAnswer[]];
  if (right.length === 0) {
    throw new Error(`images: expected some that the model classifies right, got none of the ${scored.length} right`);
  }
  const uncertain_below = passingThreshold(right.map(({ p }) => p), accept);
  const countBelow = (all: readonly ScoredAnswer[]): ThresholdCount =>
    ({ count: all.length, below: all.filter(({ p }) => p < Math.fround(uncertain_below)).length });
  return {
    temperature,
    uncertain_below,
    calibrationError: { before: calibrationError(scoreAnswers(answers, before)), after: calibrationError(scored) },
    right: countBelow(right),
    wrong: countBelow(wrong),
  };
}
