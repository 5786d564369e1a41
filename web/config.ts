import { MOST_HEADER_VALUES, parseJson } from "./base/json.js";
import type { VitConfig } from "./generated/config.js";
import type { Mapping } from "./vit-error.js";

export type { Mapping } from "./vit-error.js";
export type { Prepare, TextConfig, VitConfig } from "./generated/config.js";

/** @internal The config that the module has printed. It may have a million labels. */
export function configOf(json: string): VitConfig {
  return freeze(parseJson(json, "config", { most: MOST_HEADER_VALUES }) as VitConfig);
}

/** @internal How text is written without options, as transformers' generation_config.json says. */
export interface Settings {
  /** The most tokens, with the first one. */
  readonly length: number;
  readonly beams: number;
  /** Keys that are not computed here. */
  readonly unknown: readonly string[];
}

/** @internal Where a model comes from. */
export interface Origin {
  readonly family: string;
  readonly assumed: readonly string[];
  readonly skipped: readonly string[];
  /** See Vit. */
  readonly mapping: Mapping;
  /** How the model's own code writes text, if it does. */
  readonly generation?: Settings;
  /** What places an image among texts. */
  readonly projection: "head" | "pooled" | null;
}

function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
