// A model that is trained in two runs: the second, short one begins from the first. The temperature is fitted to the
// validation part that the second or, if that learns from all there is, the first one keeps; else the recipe has one.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { root, say } from "../../web/scripts/lib.mjs";

const folder = "build/train";
const at = (path) => join(root, path);

/** The second run's recipe: the first's with changes, and with the temperature of the first if nothing is
 *  left to fit another to. */
export function finishing(first, changes, { temperature, uncertain_below }) {
  const training = { ...first.training, ...changes.training };
  training.augment = { ...first.training.augment, ...changes.training.augment };
  const fitted = training.validation > 0 ? {} : { temperature, uncertain_below };
  return { model: { ...first.model, ...changes.model, ...fitted }, training };
}

/** Makes weights/NAME.safetensors by both runs. `path` is the recipe's, and `train` and `calibrate` run `vit`. */
export async function finish({ name, path, recipe, words, train, calibrate }) {
  const first = `${folder}/${name}.safetensors`, second = `${folder}/${name}.finish.safetensors`;
  const last = `${folder}/${name}.finish.recipe.json`;
  mkdirSync(at(folder), { recursive: true });
  await trainOnce(first, { recipe, words }, () => {
    say(`▸ first run of two, by ${path}, into ${first}`);
    return train(path, first);
  });
  const changes = JSON.parse(readFileSync(at(`weights/${name}.finish.json`), "utf8"));
  if (changes.training.validation === 0) await calibrate(first, recipe.training);
  const { config } = readSafetensors(readFileSync(at(first)));
  const then = finishing(recipe, changes, config);
  writeFileSync(at(last), `${JSON.stringify(then, null, 4)}\n`);
  say(`▸ second run of two, by ${last}, from ${first}`);
  await train(last, second, "--init", first);
  if (then.training.validation > 0) await calibrate(second, then.training);
  copyFileSync(at(second), at(`weights/${name}.safetensors`));
  copyFileSync(at(`${first}.log.tsv`), at(`weights/${name}.safetensors.log.tsv`));
  copyFileSync(at(`${second}.log.tsv`), at(`weights/${name}.finish.log.tsv`));
}

/** Trains a model unless it is there already, made from the same. */
async function trainOnce(model, { recipe, words }, train) {
  const file = at(`${model}.from.json`);
  const text = JSON.stringify({ recipe, words: words.filter((word) => word !== "--fresh") });
  const same = existsSync(file) && readFileSync(file, "utf8") === text;
  if (same && existsSync(at(model)) && !words.includes("--fresh")) return say(`✓ ${model}: trained before`);
  rmSync(at(model), { force: true });
  writeFileSync(file, text);
  await train();
}
