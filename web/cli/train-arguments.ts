/** The command line of train. */
import type { Freeze } from "vitrine/train";
import { jsonOf, modelOptions } from "./command.ts";
import { decimal, type Options, textOf, UsageError, type Values, whole } from "./options.ts";
import { readOut } from "./output.ts";

export const DEFAULTS = { epochs: 10, out: "model.safetensors" };

const MOST_EPOCHS = 100_000;
const MOST_SHARE = 0.9;

export const TRAIN_OPTIONS: Options = {
  data: { value: "FOLDER", help: "a folder of photos for each class, or IDX files under MNIST's names, .gz or not" },
  recipe: { value: "FILE", help: "JSON: the model to train from scratch, and its training; with --model, only its training" },
  model: { value: "MODEL", help: "weights to fine-tune, as in the other commands; the digits by default, unless --recipe is set" },
  freeze: { value: "WHAT", help: 'what of --model stays unchanged: none (the default), "all but head", or a number of blocks' },
  out: { value: "FILE", help: `safetensors to write; ${DEFAULTS.out} by default; FILE.checkpoint during training` },
  epochs: { value: "N", help: `overrides the recipe's; ${DEFAULTS.epochs} by default` },
  validation: { value: "SHARE", help: "the share of each class of 5 or more to measure on; 0.1 by default" },
  seed: { value: "N", help: "decides all random numbers; the recipe's by default, or 1" },
  fresh: { help: "start over, even if there is a checkpoint" },
  threads: { value: "N", help: "the number of threads; all cores by default" },
  ndjson: { help: "print one JSON line per epoch, as soon as it is ready" },
};

export interface TrainArguments {
  readonly data: string;
  readonly out: string;
  readonly recipe: string | undefined;
  /** The weights to fine-tune, and their name; undefined: a recipe's model from scratch. */
  readonly model: { readonly source: ReturnType<typeof modelOptions>["source"]; readonly name: string } | undefined;
  readonly freeze: Freeze | undefined;
  readonly epochs: number | undefined;
  readonly share: number | undefined;
  readonly seed: number | undefined;
  readonly fresh: boolean;
  readonly lines: boolean;
  readonly json: boolean;
  /** With the threads and the variant of the command line, or the defaults. */
  readonly options: ReturnType<typeof modelOptions>["options"];
  /** Whether the command line sets them. */
  readonly explicit: { readonly threads: boolean; readonly variant: boolean };
}

export function readArguments(values: Values): TrainArguments {
  const [data, recipe, model, freeze] = ["data", "recipe", "model", "freeze"].map((name) => textOf(values, name));
  if (data === undefined) throw new UsageError("--data: expected a folder, got none; see vitrine train --help");
  const out = readOut(values, DEFAULTS.out);
  const fromScratch = recipe !== undefined && model === undefined;
  for (const name of ["freeze", "config"]) {
    if (fromScratch && values[name] !== undefined) {
      throw new UsageError(`--${name}: expected only with weights to fine-tune, got no --model`);
    }
  }
  const { source, options } = modelOptions(values, undefined, Infinity);
  const number = <Value>(name: string, read: (text: string) => Value) => {
    const text = textOf(values, name);
    return text === undefined ? undefined : read(text);
  };
  return {
    data, recipe, out, options,
    model: fromScratch ? undefined : { source, name: model ?? "the digits" },
    freeze: freeze === undefined ? undefined : readFreeze(freeze),
    epochs: number("epochs", (text) => whole("--epochs", text, 1, MOST_EPOCHS)),
    share: number("validation", (text) => decimal("--validation", text, 0, MOST_SHARE)),
    seed: number("seed", (text) => whole("--seed", text, 0, Number.MAX_SAFE_INTEGER)),
    fresh: values["fresh"] === true,
    ...jsonOf(values),
    explicit: { threads: values["threads"] !== undefined, variant: values["variant"] !== undefined },
  };
}

function readFreeze(text: string): Freeze {
  if (text === "none" || text === "all but head") return text;
  if (/^\d+$/.test(text)) return Number(text);
  throw new UsageError(`--freeze: expected none, "all but head" or a number of blocks, got "${text}"`);
}
