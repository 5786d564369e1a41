// A model that is trained in several runs: each later one, shorter or slower, begins from the one before. The temperature is
// fitted to the validation part that the last or, if that learns from all there is, the run before keeps; else the recipe
// or the last run's changes have one. A run's changes may also name another teacher and other drawings.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { root, say } from "../../web/scripts/lib.mjs";

const folder = "build/train";
const at = (path) => join(root, path);

/** The later runs of a model, in order, { run, changes }: those of which weights/NAME.RUN.json says how they differ from the first. */
export const laterRuns = (name) => ["finish", "third", "fourth"].map((run) => ({ run, file: at(`weights/${name}.${run}.json`) }))
  .filter(({ file }) => existsSync(file)).map(({ run, file }) => ({ run, changes: JSON.parse(readFileSync(file, "utf8")) }));

/** A later run's recipe: the first's with changes, and with the temperature of the run before if nothing is left to fit
 *  another to and the changes have none. */
export function finishing(first, changes, { temperature, uncertain_below }) {
  const training = { ...first.training, ...changes.training };
  training.augment = { ...first.training.augment, ...changes.training.augment };
  const fitted = training.validation > 0 ? {} : { temperature, uncertain_below };
  return { model: { ...first.model, ...fitted, ...changes.model }, training };
}

/** Makes weights/NAME.safetensors by all runs. `path` is the recipe's, and `train`, whose last argument has a later run's start,
 *  teacher and drawings, and `calibrate` run `vit`. */
export async function finish({ name, path, recipe, words, train, calibrate }) {
  mkdirSync(at(folder), { recursive: true });
  const first = `${folder}/${name}.safetensors`, logs = [[first, `weights/${name}.safetensors.log.tsv`]];
  await trainOnce(first, { recipe, words }, () => {
    say(`▸ first run, by ${path}, into ${first}`);
    return train(path, first);
  });
  let last = { model: first, training: recipe.training };
  for (const { run, changes } of laterRuns(name)) {
    if (changes.training.validation === 0 && last.training.validation > 0) await calibrate(last.model, last.training);
    const from = readFileSync(at(last.model));
    const then = finishing(recipe, changes, readSafetensors(from).config);
    const [model, path] = ["safetensors", "recipe.json"].map((end) => `${folder}/${name}.${run}.${end}`);
    await trainOnce(model, { recipe: then, teacher: changes.teacher, strokes: changes.strokes, words, from: createHash("sha256").update(from).digest("hex") }, () => {
      writeFileSync(at(path), `${JSON.stringify(then, null, 4)}\n`);
      say(`▸ run "${run}", by ${path}, from ${last.model}`);
      return train(path, model, { from: last.model, ...changes });
    });
    logs.push([model, `weights/${name}.${run}.log.tsv`]);
    last = { model, training: then.training };
  }
  if (last.training.validation > 0) await calibrate(last.model, last.training);
  copyFileSync(at(last.model), at(`weights/${name}.safetensors`));
  for (const [model, log] of logs) copyFileSync(at(`${model}.log.tsv`), at(log));
}

/** Trains a model unless it is there already, made from the same. */
async function trainOnce(model, { words, ...how }, train) {
  const file = at(`${model}.from.json`);
  const text = JSON.stringify({ ...how, words: words.filter((word) => word !== "--fresh") });
  const same = existsSync(file) && readFileSync(file, "utf8") === text;
  if (same && existsSync(at(model)) && !words.includes("--fresh")) return say(`✓ ${model}: trained before`);
  rmSync(at(model), { force: true });
  writeFileSync(file, text);
  await train();
}
