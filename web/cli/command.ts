import { availableParallelism } from "node:os";
import { type LoadOptions, type Vit, VitError, type WeightsSource } from "vitrine";
import { type Options, oneOf, textOf, type Values, whole } from "./options.ts";
import type { Photos } from "./photos.ts";

/** What a command works with. */
export interface Tools {
  readonly vit: Vit;
  readonly photos: Photos;
}

/** Resolves to whether every photo went well; what ends the whole command it throws. */
export type Work<Given> = (tools: Given) => Promise<boolean>;

interface Words {
  readonly about: string;
  readonly options: Options;
}

/** `plan` refuses what the command line has wrong, before anything is loaded. */
export interface PhotoCommand extends Words {
  readonly operand: "PHOTO …";
  plan(values: Values, files: readonly string[]): Work<Tools>;
}

/** Its operand is the model itself. */
export interface ModelCommand extends Words {
  readonly operand: "MODEL";
  plan(values: Values, operands: readonly string[]): Work<Pick<Tools, "vit">>;
}

export type Command = PhotoCommand | ModelCommand;

const VARIANTS = ["auto", "relaxed", "simd128", "scalar"] as const;

/** Read from dist/cli.js. */
const DIGITS = new URL("../weights/digits.safetensors", import.meta.url);

/**
 * Where the model is, and how it is to run: in a worker, so that Ctrl-C is heard.
 *
 * @param named the model as an operand.
 * @param photos how many there are: a batch takes all cores.
 */
export function modelOptions(
  values: Values,
  named?: string,
  photos = 1,
): { source: string | URL | WeightsSource; options: LoadOptions } {
  const variant = oneOf("--variant", textOf(values, "variant") ?? "auto", VARIANTS);
  const several = photos > 1 && variant !== "scalar"; // which runs one thread
  const threads = textOf(values, "threads") ?? String(several ? availableParallelism() : 1);
  const options = { worker: true, threads: whole("--threads", threads, 1), variant };
  const weights = named ?? textOf(values, "model") ?? DIGITS;
  const config = textOf(values, "config");
  return { source: config === undefined ? weights : { weights, config }, options };
}

/** What of a model was guessed, for a person to see; undefined: nothing. */
export function assumption({ assumed, config }: Vit): string | undefined {
  const all = assumed.map((key) => `${key}: ${JSON.stringify(config[key])}`);
  return all.length > 0 ? `assumed ${all.join(", ")}: nothing told; --config does` : undefined;
}

/** The error of a photo that the model does not take; any other ends the command. */
export function refusal(error: unknown): VitError {
  if (error instanceof VitError && /^(bad|blank)_image$/.test(error.code)) return error;
  throw error;
}
