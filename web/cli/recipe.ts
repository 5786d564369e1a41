/** A recipe's file: a model, and how it is trained. */
import { readFile, stat } from "node:fs/promises";
import type { Recipe } from "vitrine/train";
import { isObject, type Json } from "../base/json.ts";
import { reason } from "../errors.ts";
import type { DataSet } from "./examples.ts";
import type { Terminal } from "./terminal.ts";

export interface RecipeFile {
  readonly path: string;
  readonly model: Json;
  readonly training: Json;
}

const MOST_BYTES = 2 ** 20;

/** Keys of `training` that need files which only the native command reads. 0 turns them off. */
const NATIVE: Readonly<Record<string, string>> = { drawings: "--strokes", distillation: "--teacher" };

/** Reads a recipe. The trainer checks the keys of its `model` and its `training`. */
export async function readRecipe(path: string, terminal: Terminal): Promise<RecipeFile> {
  const recipe = await readJson(path);
  const { model = {}, training = {}, ...more } = isObject(recipe) ? recipe : { model: recipe };
  const [other] = Object.keys(more);
  if (!isObject(model) || !isObject(training) || other !== undefined) {
    const got = other === undefined ? "something else" : `"${other}"`;
    throw new Error(`${path}: expected an object with two objects, "model" and "training", got ${got}`);
  }
  for (const [key, option] of Object.entries(NATIVE)) {
    if (![undefined, 0].includes(training[key] as undefined)) {
      throw new Error(`${path}: training key ${key}: expected 0, got ${JSON.stringify(training[key])}; only the native vit train has it, by ${option}`);
    }
  }
  if (training["precision"] === "bfloat16") terminal.complain(`${path}: training key precision: float32 is used, because bfloat16 needs the native vit train`);
  return { path, model, training };
}

async function readJson(path: string): Promise<unknown> {
  const { size } = await stat(path).catch((cause: unknown) => {
    throw new Error(`${path}: expected a recipe, got ${reason(cause)}`, { cause });
  });
  if (size > MOST_BYTES) throw new Error(`${path}: expected a recipe of at most ${MOST_BYTES} bytes, got ${size}`);
  try {
    return JSON.parse(await readFile(path, "utf8")) as unknown;
  } catch (cause) {
    throw new Error(`${path}: expected JSON, got ${reason(cause)}`, { cause });
  }
}

/** The recipe with the data's classes. If it names classes, they must be the data's. */
export function withClasses({ path, model, training }: RecipeFile, data: DataSet): Recipe {
  if (isObject(model["decoder"])) throw new Error(`${path}: decoder: expected none, because only the native vit train and the Trainer of vitrine/train learn texts`);
  const labels = model["labels"] ?? data.labels;
  if (!Array.isArray(labels)) throw new Error(`${path}: labels: expected a list of names, got ${JSON.stringify(labels)}`);
  const got = model["labels"] === undefined ? (model["classes"] ?? labels.length) : labels.length;
  if (got !== data.labels.length) {
    throw new Error(`${path}: classes: expected ${data.labels.length} as in ${data.path}, got ${JSON.stringify(got)}`);
  }
  const other = data.named ? labels.find((label) => !data.labels.includes(label as string)) : undefined;
  if (other !== undefined) {
    throw new Error(`${path}: labels: expected the folders of ${data.path}, got ${JSON.stringify(other)}, which has none`);
  }
  return { model: { classes: labels.length, ...model, labels } as Recipe["model"], training };
}
