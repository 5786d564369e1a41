import { type LoadOptions, type Vit, VitError } from "vitrine";
import { type Options, oneOf, textOf, type Values, whole } from "./options.ts";
import type { Photos } from "./photos.ts";

/** What a command works with. */
export interface Tools {
  readonly vit: Vit;
  readonly photos: Photos;
}

/** Resolves to whether every photo went well; what ends the whole command it throws. */
export type Work = (tools: Tools) => Promise<boolean>;

export interface Command {
  readonly about: string;
  readonly options: Options;
  /** Refuses what the command line has wrong, before anything is loaded. */
  plan(values: Values, files: readonly string[]): Work;
}

const VARIANTS = ["auto", "relaxed", "simd128", "scalar"] as const;

/** Read from dist/cli.js. */
const DIGITS = new URL("../weights/digits.safetensors", import.meta.url);

/** Where the model is, and how it is to run: in a worker, so that Ctrl-C is heard. */
export function modelOptions(values: Values): { source: string | URL; options: LoadOptions } {
  const options = {
    worker: true,
    threads: whole("--threads", textOf(values, "threads") ?? "1", 1),
    variant: oneOf("--variant", textOf(values, "variant") ?? "auto", VARIANTS),
  };
  return { source: textOf(values, "model") ?? DIGITS, options };
}

/** The error of a photo that the model does not take; any other ends the command. */
export function refusal(error: unknown): VitError {
  if (error instanceof VitError && /^(bad|blank)_image$/.test(error.code)) return error;
  throw error;
}
