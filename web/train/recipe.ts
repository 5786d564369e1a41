/** The recipe of a trainer: a model's config, and how it is trained. */
import type { TextConfig, VitConfig } from "../generated/config.js";
import { CONFIG_KEYS } from "../generated/keys.js";
import { isObject, parseObject } from "../base/json.js";
import { show, VitError } from "../errors.js";

/** What `freeze` may be. */
export type Freeze = "none" | "all but head" | number;

/**
 * `{ model, training }`, as in the files weights/*.recipe.json.
 * `model`: the config. `training`: a missing key has its default, as in src/train/recipe.c.
 */
export interface Recipe {
  readonly model: Partial<VitConfig>;
  readonly training?: Readonly<Record<string, unknown>>;
}

/** How weights are fine-tuned, unless the call says otherwise. */
const FINE_TUNING = { batch: 16, optimizer: "adamw", weight_decay: 0.01, clip_norm: 1, warmup_epochs: 0.5 };
/** A head alone learns fast; a whole model forgets if it does. */
const RATES = { head: 1e-2, all: 3e-4 };
/** Changes after which a drawn sign is still the same sign. */
const PEN_AUGMENT = { shift: 1.5, rotation: 10, scale: 0.1, shear: 10, elastic: 0.6 };

/** @internal JSON of a recipe for the module. The examples decide what `validation` is. */
export function recipeJson({ model, training = {} }: Recipe, seed: number): string {
  return JSON.stringify({ model, training: { ...training, validation: 0, seed } });
}

/** @internal The seed that a recipe names. */
export const seedOf = ({ training }: Recipe): number => Number(training?.seed ?? 1);

/** @internal A recipe that fine-tunes the model of this config (JSON) on these classes. */
export function fineTuning(
  config: string,
  labels: readonly string[],
  freeze: Freeze,
  training: Readonly<Record<string, unknown>> | undefined,
): Recipe {
  const own = parseObject(config, "config");
  if (!own.decoder !== labels.length > 0) {
    throw new VitError("bad_argument", `labels: expected ${own.decoder ? "[] for a decoder" : NAMES}, got ${labels.length}`);
  }
  const model: Record<string, unknown> = {};
  for (const key of CONFIG_KEYS) if (own[key] !== undefined) model[key] = own[key];
  delete model.temperature; // these three are the old head's
  delete model.uncertain_below;
  delete model.problem_type;
  const depth = own.depth as number;
  const frozen = freeze === "none" ? 0 : freeze === "all but head" ? depth + 1 : freeze;
  if (!Number.isInteger(frozen) || frozen < 0 || frozen > depth + 1) {
    throw new VitError("bad_option", `freeze: expected "none", "all but head" or blocks from 0 to ${depth}, got ${show(freeze)}`);
  }
  const drawn = isObject(own.prepare) && own.prepare.kind === "digit";
  const learning_rate = frozen > depth ? RATES.head : RATES.all;
  return {
    model: own.decoder ? model : { ...model, classes: labels.length, labels },
    training: { ...FINE_TUNING, learning_rate, ...(drawn && { augment: PEN_AUGMENT }), ...training, freeze: frozen },
  };
}

/** @internal Whether a value has the form of a recipe. The module checks what is in it. */
export const isRecipe = (value: unknown): value is Recipe =>
  isObject(value) && isObject(value.model) && (value.training === undefined || isObject(value.training));

/** @internal @throws {VitError} code `bad_config` if `recipe` is not a recipe. */
export function takeRecipe(recipe: unknown): Recipe {
  if (isRecipe(recipe)) return JSON.parse(JSON.stringify(recipe)) as Recipe; // a copy
  throw new VitError("bad_config", `recipe: expected { model, training }, got ${show(recipe)}`);
}

const NAMES = "an array of the classes' names";

/** @internal @throws {VitError} code `bad_argument` if these are not names of classes, or none. */
export function takeLabels(labels: unknown): string[] {
  const names = Array.isArray(labels) ? Array.from(labels as unknown[]) : [labels];
  const wrong = names.findIndex((name) => typeof name !== "string");
  if (!Array.isArray(labels) || wrong >= 0) throw new VitError("bad_argument", `labels: expected ${NAMES}, got ${show(names[wrong] ?? labels)}`);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice === undefined) return names as string[];
  throw new VitError("bad_argument", `labels: expected each name once, got "${show(twice)}" twice`);
}

/** @internal A text's tokens as bytes. @throws {VitError} code `bad_argument`. */
export function takeTokens(text: unknown, { vocabulary, max_tokens }: TextConfig, name: string): Uint8Array<ArrayBuffer> {
  const ids = typeof text === "object" && text !== null ? Array.from(text as ArrayLike<unknown>) : [];
  if (ids.length < 2 || ids.length > max_tokens) {
    throw new VitError("bad_argument", `${name}: labels: expected the text's 2 to ${max_tokens} tokens, its first one among them, got ${ids.length || show(text)}`);
  }
  const wrong = ids.findIndex((id) => !(Number.isInteger(id) && (id as number) >= 0 && (id as number) < vocabulary));
  if (wrong < 0) return Uint8Array.from(ids as number[]);
  throw new VitError("bad_argument", `${name}: labels: expected tokens from 0 to ${vocabulary - 1}, got ${show(ids[wrong])}`);
}
