// npm run train -- explain: trains the models that the page explains with, by
// weights/explain.recipes.json, and packs them into weights/explain.safetensors.gz.
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { pack, unpack } from "../../web/base/pack.mjs";
import { Trouble, root, run, say } from "../../web/scripts/lib.mjs";

const vit = join(root, "build", "native", "vit");
const folder = join(root, "build", "explain");
const packed = join(root, "weights", "explain.safetensors.gz");

/** Each model's recipe: the base's with the model's changes. */
export function recipes() {
  const { base, models, snapshots } = JSON.parse(readFileSync(join(root, "weights", "explain.recipes.json"), "utf8"));
  return Object.entries(models).map(([name, change]) => ({
    name,
    recipe: { ...base, model: { ...base.model, ...change } },
    snapshots: snapshots.of === name ? snapshots.count : undefined,
  }));
}

/** Trains the models that are missing, packs all and measures them on the test images. A model that
 *  is in build/explain already, by the same recipe, is not trained again. */
export async function explain({ data, strokes, words }) {
  mkdirSync(folder, { recursive: true });
  const all = recipes();
  for (const each of all) await train(each, data, strokes, words);
  const series = all.map(({ name }) => ({ name, models: [{ step: 0, weights: readFileSync(fileOf(name)) }] }));
  for (const { name } of all.filter(({ snapshots }) => snapshots)) series.push({ name: "learning", models: steps(name) });
  const open = pack(series), bytes = gzipSync(open, { level: 9 });
  writeFileSync(`${packed}.part`, bytes);
  renameSync(`${packed}.part`, packed);
  say(`✓ ${packed}: ${bytes.length.toLocaleString("en")} bytes`);
  for (const [name, models] of Object.entries(unpack(open))) await measure(name, models.at(-1).weights, data);
}

const fileOf = (name) => join(folder, `${name}.safetensors`);

async function train({ name, recipe, snapshots }, data, strokes, words) {
  const file = join(folder, `${name}.recipe.json`), text = JSON.stringify(recipe);
  const same = existsSync(file) && readFileSync(file, "utf8") === text;
  if (same && existsSync(fileOf(name)) && words.length === 0) return say(`✓ ${name}: trained before`);
  say(`▸ ${name}`);
  if (!same) rmSync(fileOf(name), { force: true }); // of another recipe
  writeFileSync(file, text);
  const more = snapshots ? ["--snapshots", String(snapshots)] : [];
  await run(vit, ["train", "--data", data, "--strokes", strokes, "--recipe", file, "--out", fileOf(name), ...more, ...words],
    { terminal: true });
}

/** The snapshots of a run, in order. */
function steps(name) {
  const pattern = new RegExp(`^${name}\\.safetensors\\.step-(\\d+)\\.safetensors$`);
  const found = readdirSync(folder).map((file) => file.match(pattern)).filter(Boolean)
    .map(([file, step]) => ({ step: Number(step), weights: readFileSync(join(folder, file)) }));
  if (found.length < 2) throw new Trouble(`${folder}: expected snapshots of ${name}, got ${found.length}; remove ${fileOf(name)}`);
  return found.sort((a, b) => a.step - b.step);
}

/** Measures a model as it comes out of the pack, where its numbers are rounded. */
async function measure(name, weights, data) {
  const unpacked = join(folder, `${name}.unpacked.safetensors`);
  writeFileSync(unpacked, weights);
  const file = (part) => join(data, `${part}-ubyte.gz`);
  const { output } = await run(vit, ["eval", "--model", unpacked, "--images", file("t10k-images-idx3"),
    "--labels", file("t10k-labels-idx1")]);
  say(`${name}: ${output.trim().split("\n").at(-1)}`);
}
