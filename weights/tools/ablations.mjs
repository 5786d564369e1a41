// node weights/tools/ablations.mjs: measures how much each part of a Vision Transformer matters on
// MNIST. Small models differ from a base in one thing. Each is trained with several seeds and
// measured on validation images, never on test images. The table goes into weights/experiments.md.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { cmake } from "../../web/scripts/build.mjs";
import { Trouble, isMain, main, root, say, timed } from "../../web/scripts/lib.mjs";
import { mnist } from "../../web/scripts/data.mjs";
import * as setup from "../../web/scripts/setup.mjs";

const vit = join(root, "build", "native", "vit");
const folder = join(root, "build", "ablations");
const resultsFile = join(folder, "results.json");
const markers = ["<!-- ablations -->", "<!-- end of ablations -->"];

const base = {
  image_size: [28, 28], patch_size: [4, 4], channels: 1, width: 32, depth: 3, heads: 4, mlp_width: 64,
  classes: 10, norm: "pre", position: "learned", pool: "class", prefix: ["class"],
  prepare: { kind: "digit" },
};
const training = {
  batch: 128, validation: 5000, optimizer: "adamw", schedule: "cosine", learning_rate: 2e-3,
  min_learning_rate: 1e-5, warmup_epochs: 0.3, weight_decay: 0.05, beta1: 0.9, beta2: 0.98, clip_norm: 1,
  augment: { probability: 1, shift: 1, rotation: 8, scale: 0.08, shear: 4 },
};

const each = (values, change) => values.map((value) => ({ value: String(value), change: change(value) }));

/** The experiments. A group varies one thing; each value is a change of the base's config. */
export const groups = {
  position: each(["none", "learned", "sincos1d", "sincos2d", "relative"], (position) => ({ position })),
  pool: each(["class", "mean"], (pool) => (pool === "mean" ? { pool, prefix: [] } : { pool })),
  norm: each(["pre", "post"], (norm) => ({ norm })),
  heads: each([1, 2, 4, 8], (heads) => ({ heads })),
  stem: [
    { value: "none", change: {} },
    { value: "32/2-64/2", change: { stem: [32, 64] } }, // channels/stride of each convolution
    { value: "32/2-32/1-64/2-64/1", change: { stem: [[32, 2], [32, 1], [64, 2], [64, 1]] } },
  ],
  patch: each([2, 4, 7, 14], (patch) => ({ patch_size: [patch, patch] })),
  depth: each([1, 2, 3, 4, 5, 6, 7, 8], (depth) => ({ depth })),
};

const help = `node weights/tools/ablations.mjs

Trains small models that differ from a base in one thing, and writes their accuracy on
validation images as a table into weights/experiments.md, between ${markers[0]} and
${markers[1]}. Runs that build/ablations/results.json has are not repeated:
after Ctrl-C the same command goes on. Remove that file after a change of the trainer.

  --epochs N     of every run (default: 3)
  --seeds N      runs a row, of seeds 1 to N (default: 3)
  --only A,B     these rows alone, as position or depth=3
  --threads N    of a run (default: one for each core)
  --data DIR     where the training images are (default: as npm run train)
  --out FILE     where the table goes (default: weights/experiments.md)
  --help         this text`;

// ---- The runs ------------------------------------------------------------------------

/** Every row of the table: { group, value, model, isBase }. */
export function allRows() {
  return Object.entries(groups).flatMap(([group, values]) => values.map(({ value, change }) => {
    const model = { ...base, ...change };
    return { group, value, model, isBase: JSON.stringify(model) === JSON.stringify(base) };
  }));
}

/** The rows that --only names. */
export function chosenRows(only) {
  if (only === undefined) return allRows();
  const names = only.split(",");
  const matches = ({ group, value }, name) => name === group || name === `${group}=${value}`;
  const unknown = names.find((name) => !allRows().some((row) => matches(row, name)));
  if (unknown !== undefined) {
    throw new Trouble(`--only: expected some of ${Object.keys(groups).join(", ")}, or as depth=3, got "${unknown}"`);
  }
  return allRows().filter((row) => names.some((name) => matches(row, name)));
}

/** A run's recipe, and its name in the results, which depends on nothing but the recipe. */
export function runOf(row, seed, epochs, data) {
  const recipe = { model: row.model, training: { epochs, seed, ...training } };
  const key = createHash("sha256").update(JSON.stringify([recipe, data])).digest("hex").slice(0, 16);
  return { key, row, seed, recipe };
}

/** The multiplications of an image's blocks. They also estimate a run's time. */
function cost({ image_size, patch_size, width, depth, mlp_width, prefix }) {
  const tokens = (image_size[0] / patch_size[0]) * (image_size[1] / patch_size[1]) + prefix.length;
  return depth * tokens * (4 * width * width + 2 * width * mlp_width + 2 * tokens * width);
}

/** The operations of a forward pass, as src/train/flops.c counts them. */
export function flopsOf(model) {
  const { image_size, channels, stem = [], width, classes } = model;
  let [maps, pixels, convolutions] = [channels, image_size[0] * image_size[1], 0];
  for (const layer of stem) {
    const [more, stride] = Array.isArray(layer) ? layer : [layer, 2];
    pixels /= stride ** 2;
    convolutions += 9 * maps * more * pixels;
    maps = more;
  }
  return 2 * (convolutions + maps * pixels * width + cost(model) + width * classes);
}

const duration = (seconds) => {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min` : `${Math.round(seconds)} s`;
};

const readResults = () => (existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, "utf8")) : {});

function keepResults(results) {
  writeFileSync(`${resultsFile}.part`, `${JSON.stringify(results, null, 1)}\n`);
  renameSync(`${resultsFile}.part`, resultsFile);
}

/** Ctrl-C reaches the trainer too. It saves its last epoch, and this script ends after it. */
const stop = { pending: false, child: undefined };
function catchSignals() {
  process.on("SIGINT", () => (stop.pending = true));
  process.on("SIGTERM", () => {
    stop.pending = true;
    stop.child?.kill("SIGTERM");
  });
}

/** Trains a model; resolves to whether it finished. Shows the progress bar, but not the lines. */
function train(args) {
  return new Promise((done, failed) => {
    const child = spawn(vit, ["train", ...args], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
    stop.child = child;
    child.on("error", (error) => failed(new Trouble(`cannot run ${vit}: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return done(true);
      if (stop.pending || code === 130) return done(false);
      failed(new Trouble(`vit train ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

/** Does one run: { accuracy, parameters, flops, seconds }, or undefined if it was interrupted. */
async function measure({ key, recipe }, data, threads) {
  const [recipeFile, model] = [join(folder, `${key}.json`), join(folder, `${key}.safetensors`)];
  writeFileSync(recipeFile, JSON.stringify(recipe));
  const start = performance.now();
  const finished = await train(["--data", data, "--recipe", recipeFile, "--out", model, "--threads", threads]);
  if (!finished) return undefined;
  const seconds = (performance.now() - start) / 1000;
  const { config, tensors } = readSafetensors(readFileSync(model));
  const result = {
    accuracy: config.validation_accuracy,
    parameters: [...tensors.values()].reduce((sum, { data }) => sum + data.length, 0),
    flops: flopsOf(config),
    seconds,
  };
  if (!Object.values(result).every(Number.isFinite)) throw new Trouble(`${model}: something is not measured`);
  for (const path of [recipeFile, model, `${model}.log.tsv`]) rmSync(path, { force: true });
  return result;
}

/** Seconds for the waiting runs, at the pace of the finished ones; undefined before the first. */
export function secondsLeft(waiting, done) {
  const total = (runs, of) => runs.reduce((sum, each) => sum + of(each), 0);
  const work = ({ row, recipe }) => cost(row.model) * recipe.training.epochs;
  const spent = total(done, work);
  return spent === 0 ? undefined : total(waiting, work) * (total(done, ({ seconds }) => seconds) / spent);
}

/** Does the runs that `results` lacks and saves each at once; resolves to whether all are done. */
async function doRuns(runs, results, data, threads) {
  const waiting = runs.filter(({ key }) => !results[key]), done = [];
  if (waiting.length < runs.length) say(`✓ ${runs.length - waiting.length} of ${runs.length} runs: done before`);
  while (waiting.length > 0) {
    const next = waiting[0], { row, seed, key } = next;
    const left = secondsLeft(waiting, done);
    say(`▸ run ${runs.length - waiting.length + 1} of ${runs.length}: ${row.group} ${row.value}, seed ${seed}` +
      (left === undefined ? "" : `; about ${duration(left)} left`));
    const result = await measure(next, data, threads);
    if (!result) return false;
    results[key] = { group: row.group, value: row.value, seed, ...result };
    keepResults(results);
    done.push({ ...next, seconds: result.seconds });
    waiting.shift();
    say(`  ${(100 * result.accuracy).toFixed(2)} % in ${duration(result.seconds)}`);
    if (stop.pending) return waiting.length === 0;
  }
  return true;
}

// ---- The table -----------------------------------------------------------------------

/** "98.12 ± 0.05 (98.06..98.16)": the accuracies' mean, standard deviation, least and most. */
export function summary(accuracies) {
  const percent = accuracies.map((accuracy) => 100 * accuracy), n = percent.length;
  const mean = percent.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return mean.toFixed(2);
  const spread = Math.sqrt(percent.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1));
  const [least, most] = [Math.min(...percent), Math.max(...percent)];
  return `${mean.toFixed(2)} ± ${spread.toFixed(2)} (${least.toFixed(2)}..${most.toFixed(2)})`;
}

/**
 * The table in Markdown, with the rows whose runs are all done. A base without a row to compare it
 * to is left out. `runsOf` gives the keys of a row's runs.
 */
export function table(rows, runsOf, results) {
  const all = rows.map((row) => ({ ...row, runs: runsOf(row).map((key) => results[key]) }));
  const done = all.filter(({ runs }) => runs.every(Boolean));
  const compared = new Set(done.filter(({ isBase }) => !isBase).map(({ group }) => group));
  const lines = done.filter(({ group }) => compared.has(group)).map(({ group, value, isBase, runs }) => {
    const [{ parameters, flops }] = runs;
    const name = isBase ? `${value}, the base` : value;
    return `| ${group} | ${name} | ${summary(runs.map(({ accuracy }) => accuracy))} | ` +
      `${parameters.toLocaleString("en")} | ${(flops / 1e6).toFixed(1)} |`;
  });
  return ["| what | value | validation accuracy, % | parameters | MFLOP an image |",
    "|---|---|---|--:|--:|", ...lines].join("\n");
}

/** Replaces the text between the markers. A text without markers gets both at its end. */
export function withTable(text, content) {
  const [first, last] = markers, begin = text.indexOf(first), end = text.indexOf(last);
  if (begin < 0 && end < 0) return `${text.trimEnd()}\n\n${first}\n${content}\n${last}\n`.trimStart();
  if (begin < 0 || end < begin) throw new Trouble(`expected ${first}, then ${last}`);
  return `${text.slice(0, begin + first.length)}\n${content}\n${text.slice(end)}`;
}

function describe(seeds, epochs) {
  const runs = seeds === 1 ? "one run" : `mean ± standard deviation (least..most) of ${seeds} seeds`;
  return `${epochs} epoch${epochs === 1 ? "" : "s"} of all but the last 5,000 training images; ` +
    `measured on those; ${runs}.`;
}

function writeTable(path, content) {
  writeFileSync(path, withTable(existsSync(path) ? readFileSync(path, "utf8") : "", content));
  say(`✓ the table is in ${path}`);
}

// ---- The command ---------------------------------------------------------------------

const wholeNumber = (name, text, otherwise) => {
  if (text === undefined) return otherwise;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new Trouble(`--${name}: expected a whole number from 1 up, got "${text}"`);
};

/** A hash that differs from data set to data set. */
function digestOf(data) {
  const hash = createHash("sha256");
  for (const name of ["train-images-idx3-ubyte", "train-labels-idx1-ubyte"]) {
    const path = [`${name}.gz`, name].map((file) => join(data, file)).find((file) => existsSync(file));
    if (!path) throw new Trouble(`${data}: expected ${name}.gz or ${name} in it`);
    hash.update(readFileSync(path));
  }
  return hash.digest("hex").slice(0, 16);
}

async function ablate() {
  const text = { type: "string" };
  const { values } = parseArgs({
    options: { epochs: text, seeds: text, only: text, threads: text, data: text, out: text, help: { type: "boolean" } },
  });
  if (values.help) return say(help);
  const epochs = wholeNumber("epochs", values.epochs, 3), seeds = wholeNumber("seeds", values.seeds, 3);
  const threads = String(wholeNumber("threads", values.threads, availableParallelism()));
  const rows = chosenRows(values.only);
  setup.node();
  await setup.native();
  await timed("native command", () => cmake("native", { targets: ["vit"] }));
  const data = values.data ? resolve(values.data) : await mnist();
  const digest = digestOf(data);
  mkdirSync(folder, { recursive: true });

  const results = readResults();
  const runsOf = (row) => Array.from({ length: seeds }, (_, i) => runOf(row, i + 1, epochs, digest));
  const runs = new Map(rows.flatMap(runsOf).map((each) => [each.key, each])); // the base is in every group
  catchSignals();
  if (!(await doRuns([...runs.values()], results, data, threads))) {
    console.error("\ninterrupted: the same command goes on from here");
    process.exit(130);
  }
  const keysOf = (row) => runsOf(row).map(({ key }) => key);
  const content = `${describe(seeds, epochs)}\n\n${table(allRows(), keysOf, results)}`;
  writeTable(resolve(values.out ?? join(root, "weights", "experiments.md")), content);
}

if (isMain(import.meta)) await main(ablate);
