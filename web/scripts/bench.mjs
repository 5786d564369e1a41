// npm run bench: compares our speed with our peers' in one run, in Node and in Chromium.
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as build from "./build.mjs";
import { Trouble, main, root, run, select } from "./lib.mjs";
import * as setup from "./setup.mjs";

const DIGITS = join(root, "weights", "digits.safetensors");
const ROWS = ["f32", "int8", "maps", "threads", "start-up", "train", "epochs"];
/** Recipes to take training steps of, with their batches. */
const TRAINED = [["digits", 64], ["myvit", 128]];
const EPOCHS = { epochs: 5, images: 10_000 };
const PLACES = ["node", "chromium"];

const help = `npm run bench [-- OPTIONS]

Times each model against onnxruntime-web and tfjs-backend-wasm on the same weights, in Node and in
headless Chromium: all sides in turn in one run, one thread each, after checking that their
answers agree; and training, after checking that the losses of 20 steps do. Installs and
builds what is missing, as npm test does. Takes about 15 minutes.

  --json           the standard output holds a JSON array and nothing else
  --only PLACE     node or chromium (default: both)
  --model MODELS   some of: a safetensors file; random weights of a shape, random:digits,
                   random:tiny (DeiT-Ti/16 224), random:base (ViT-B/16 224)
                   (default: the shipped digits, random:tiny, random:base)
  --rows ROWS      some of (default: all):
                     f32       against onnxruntime-web and tfjs-backend-wasm
                     int8      weights in int8, against onnxruntime-web in int8 and in float32
                     maps      with attention maps against without: a ratio of 0.87 is 15 % slower
                     threads   two threads against one: large models and batches
                     start-up  script's start to first prediction, against onnxruntime-web's:
                               small models
                     train     a training step on a batch, against tfjs-backend-wasm and jax-js,
                               and with two threads
                     epochs    5 epochs of the tutorial's model on 10,000 of MNIST's images,
                               against PyTorch where python3 has it (in Node)
                               (these two whatever --model says)
  --rounds N       all sides in turn, N times (default: 10, large models 5)
  --variant NAME   our build: auto, relaxed, simd128, scalar (default: auto)
  --node PATH      another Node for Node's part
  --help           this text

Lists are comma-separated. A row of the JSON: name, model, batch, threads, ours_ms, peer, peer_ms,
ratio (peer_ms / ours_ms), gflops (null for start-up), and where, row, precision, variant,
ours_best_ms, peer_best_ms, peer_form, limit_gflops, share_of_limit, for int8 also cosine and
peer_cosine with float32's logits, for one image against onnxruntime-web also weights_mb,
ours_heap_mb and peer_heap_mb, for epochs also images and the last epoch's loss and peer_loss; their
times are those of all epochs, and the peer's are null without PyTorch. Other times are medians, MB
are 1,000,000 bytes.`;

const optionTypes = {
  json: { type: "boolean" },
  only: { type: "string" },
  model: { type: "string", multiple: true },
  rows: { type: "string" },
  rounds: { type: "string" },
  variant: { type: "string", default: "auto" },
  node: { type: "string", default: process.execPath },
  help: { type: "boolean" },
};

const START_UPS = 10;
const SLICE = 250; // milliseconds

function positive(option, text) {
  if (text === undefined || /^[1-9]\d{0,3}$/.test(text)) return text && Number(text);
  throw new Trouble(`--${option}: expected a number from 1 to 9999, got "${text}"`);
}

/** Builds tests/bench/limit.c with plain SIMD and with relaxed SIMD; resolves to the files. */
async function limits(env) {
  const variants = ["simd128", "relaxed"];
  await build.cmake("wasm", { targets: variants.map((variant) => `vit_limit-${variant}`), env });
  return variants.map((variant) => join(build.buildFolder("wasm"), `limit.${variant}.wasm`));
}

async function openPlace(place, { node }, limitFiles) {
  if (place === "node") return (await import("../../tests/bench/in-node.mjs")).inNode(node, limitFiles);
  const executable = await setup.chromium();
  if (executable) {
    return (await import("../../tests/bench/in-chromium.mjs")).inChromium(executable, limitFiles);
  }
  console.error("– Chromium's part is skipped: install Chromium, or name one in $CHROMIUM");
}

/** The jobs of a model, by name: one contest for each precision, and a start-up. */
async function jobs(model, rows, plan) {
  const { contestRows } = await import("../../tests/bench/contest.mjs");
  const { configOf, isSmall, titleOf } = await import("../../tests/bench/models.mjs");
  const config = await configOf(model, () => readFileSync(model)).catch((error) => {
    throw new Trouble(`--model ${model}: ${error.message}`);
  });
  const title = titleOf(model);
  const all = Object.entries(contestRows)
    .map(([precision, supported]) => [precision, supported.filter((row) => rows.includes(row))])
    .filter(([, selection]) => selection.length > 0)
    .map(([precision, selection]) => ({
      title,
      name: `${title}, ${precision}`,
      work: (place) => place.contest(model, { ...plan, precision, rows: selection }),
    }));
  if (!isSmall(config) || !rows.includes("start-up")) return all;
  const work = async (place) => ({ rows: [await place.startUp(model, plan)] });
  return [...all, { title, name: `${title}, start-up`, work }];
}

/** The jobs that time training. */
function trainingJobs(rows, plan) {
  const job = (title, what, kind, own) => {
    const recipe = join(root, "weights", `${title}.recipe.json`);
    const none = { rows: [], notes: [`${what}: in Node only`] };
    const work = async (place) => place[kind]?.(recipe, { ...plan, ...own }) ?? none;
    return { title, name: `${title}, ${what}`, work };
  };
  return [
    ...(rows.includes("train") ? TRAINED : []).map(([title, batch]) => job(title, "a training step", "training", { batch })),
    ...(rows.includes("epochs") ? [job("myvit", "epochs", "epochs", EPOCHS)] : []),
  ];
}

function versions() {
  const version = (name) =>
    JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
  return {
    "onnxruntime-web": version("onnxruntime-web"),
    "tfjs-backend-wasm": version("@tensorflow/tfjs-backend-wasm"),
    "jax-js": version("@jax-js/jax"),
  };
}

async function surroundings() {
  const describe = ["describe", "--always", "--dirty"];
  const { code, output } = await run("git", describe, { allowFailure: true });
  const commit = code === 0 ? `commit ${output.trim()}` : "no commit";
  const processors = cpus();
  const machine = `${processors[0].model}, ${processors.length} cores, ${process.platform}`;
  return `${machine}; ${new Date().toISOString()}; ${commit}`;
}

const notes = `Medians of milliseconds a call, all sides in turn, on the same weights, after their answers were
compared; each peer in the fastest of its forms. Ratio: the peer's median over ours. Limit: 128-bit
multiply-add on registers alone, on one core. Heap: WebAssembly memory once one image has run.
A row of epochs gives the time of all its epochs.`;

await main(async () => {
  const { values: options } = parseArgs({ options: optionTypes });
  const print = console.log;
  if (options.help) return print(help);
  if (options.json) console.log = console.error; // stdout is for JSON, not for the set-up's messages

  const places = select("only", options.only, PLACES);
  const rowNames = select("rows", options.rows, ROWS);
  const { variant } = options;
  const plan = { rounds: positive("rounds", options.rounds), slice: SLICE, startUps: START_UPS, variant };
  const models = options.model?.flatMap((list) => list.split(",")) ?? [DIGITS, "random:tiny", "random:base"];
  const contests = await Promise.all(models.map((model) => jobs(model, rowNames, plan)));
  const work = [...contests.flat(), ...trainingJobs(rowNames, plan)];
  await build.packages();
  const env = await build.wasm();
  await build.dist();
  const limitFiles = await limits(env);

  const { named, tables } = await import("../../tests/bench/report.mjs");
  const all = [];
  let failed = 0;
  for (const name of places) {
    const place = await openPlace(name, options, limitFiles);
    if (!place) continue;
    const done = [];
    for (const job of work) {
      console.error(`▸ ${job.name}, ${place.where}`);
      await job.work(place).then(
        (answer) => {
          for (const note of answer.notes ?? []) console.error(`– ${note}`);
          done.push({ title: job.title, ...answer });
        },
        (error) => {
          failed++;
          console.error(`✗ ${error.message}`);
        },
      );
    }
    await place.close();
    all.push(named(name, place.where, done, versions()));
  }
  const parts = all.filter((rows) => rows.length > 0);
  if (options.json) print(JSON.stringify(parts.flat(), null, 2));
  else print(["", ...parts.map(tables), notes, await surroundings()].join("\n\n"));
  if (failed > 0) throw new Trouble(`${failed} of ${work.length * places.length} failed, see above`);
});
