// npm run train: remakes a model of weights/ from its recipe, calibrates it and measures it. digits
// and photos are remade in int8 too. Options after `--`, such as --threads 4, go to `vit train`.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { cmake } from "../../web/scripts/build.mjs";
import { findStrokes, mnist } from "../../web/scripts/data.mjs";
import { explain } from "./explain.mjs";
import { finish, laterRuns } from "./finish.mjs";
import { files as hands } from "./hands.mjs";
import { numbers } from "./numbers.mjs";
import { Trouble, main, root, run, say, timed } from "../../web/scripts/lib.mjs";
import * as setup from "../../web/scripts/setup.mjs";

const vit = join(root, "build", "native", "vit");
const suffix = ".recipe.json";
const names = readdirSync(join(root, "weights")).filter((name) => name.endsWith(suffix))
  .map((name) => name.slice(0, -suffix.length));
const [usual, usualTeacher] = ["digits", "digits-stem"];
const LABELS_HEAD = 8; // bytes of an IDX file's header

/** The data sets of models that do not learn from MNIST. */
const SETS = {
  fashion: {
    data: "/usr/share/datasets/fashion-mnist",
    from: "Debian's package dataset-fashion-mnist has it: Fashion-MNIST (Xiao, Rasul & Vollgraf, arXiv:1708.07747)",
  },
  photos: {
    data: join(root, "build", "train", "kinds"),
    later: join(root, "build", "train", "photos"), // of the second run
    from: "weights/tools/photos.mjs and weights/tools/idx.mjs gather it, as the card of photos says",
  },
};

/** `--accept` of `vit calibrate`, for models that doubt more of what they do not know than its default lets them. */
const ACCEPT = { digits: 0.994, photos: 0.95 };

const help = `npm run train [-- NAME] [OPTIONS OF vit train]

Remakes weights/NAME.safetensors from weights/NAME.recipe.json (NAME: ${names.join(", ")};
${usual} where none is given), with MNIST from $VITRINE_DATA or its mirrors. fashion, which we do
not ship, goes into build/train.
Where the recipe has "drawings", pens' are in $VITRINE_DATA or
in strokes beside it, and the model is calibrated by the validation part: by images and
drawings, and by half-drawn ones where it has "unfinished". A recipe that trains on all has the
temperature of one that does not. Where it has "distillation", it learns from ${usualTeacher}; a model with
an output for doubt learns from the drawings that weights/tools/hands.mjs has gathered.

A model with weights/NAME.finish.json, and perhaps NAME.third.json and NAME.fourth.json, is trained in
several runs, whose models stay in build/train. The first follows the recipe. Each later one begins
from the one before, and follows the recipe with the changes of its file. If it learns from all images
and drawings, it has the temperature of the run before, or that of its file, which may also name
another teacher and other drawings.

Measured on the test images and on drawings of writers held out; ${usual} in int8 too. A run
that was interrupted goes on from its last step, and a run that is done is not repeated.

npm run train -- explain
Trains all small models that the page explains with, by weights/explain.recipes.json, into
weights/explain.safetensors.gz. Models that build/explain has already are not trained again.

  --epochs N, --threads N, --seed S, --fresh   as vit train has them, for all runs
  --help                                       this text`;

/** The native command built, and where the data are. */
async function prepared(pens, set) {
  setup.node();
  for (const path of set ? [set.data, join(set.later ?? set.data, "t10k-labels-idx1-ubyte.gz")] : []) {
    if (!existsSync(path)) throw new Trouble(`no ${path}: ${set.from}`);
  }
  const strokes = pens && findStrokes();
  if (pens && !strokes) {
    throw new Trouble(`no pen drawings: expected pendigits-train.jsonl.gz in $VITRINE_DATA or in strokes beside it,
  got none; they are the pen digits of UCI (Alimoglu & Alpaydin, CC BY 4.0), one line of JSON each, as
  in weights/README.md. To train without them, give build/native/vit train a recipe without "drawings".`);
  }
  await setup.native();
  await timed("native command", () => cmake("native", { targets: ["vit"] }));
  return { data: set?.data ?? (await mnist()), strokes };
}

await main(async () => {
  const words = process.argv.slice(2);
  if (words.includes("--help")) return say(help);
  const name = words[0] === undefined || words[0].startsWith("-") ? usual : words.shift();
  if (name !== "explain" && !names.includes(name)) {
    throw new Trouble(`${name}: expected explain or one of ${names.join(", ")}`);
  }
  if (name === "explain") {
    const { data, strokes } = await prepared(true);
    return explain({ data, strokes, words });
  }
  if (name === "numbers") {
    await prepared(false);
    return numbers({ command: (...words) => run(vit, words, { terminal: true }), words });
  }
  const path = `weights/${name}${suffix}`, set = SETS[name];
  const model = `${name === "fashion" ? "build/train" : "weights"}/${name}.safetensors`;
  const recipe = JSON.parse(readFileSync(join(root, path), "utf8")), { training } = recipe;
  const pens = training.drawings > 0;
  const { data, strokes } = await prepared(pens, set);
  const later = set?.later ?? data;
  const file = (name) => join(later, `${name}-ubyte.gz`), images = recipe.model.channels === 1 ? "images-idx3" : "images-idx4";
  const command = (...words) => run(vit, words, { terminal: true });
  const drawingsFile = recipe.model.doubt && pens ? hands[0] : strokes;
  for (const path of pens ? [drawingsFile, ...laterRuns(name).map(({ changes }) => changes.strokes ?? drawingsFile)] : []) {
    if (!existsSync(resolve(root, path))) throw new Trouble(`no drawings in ${path}: weights/tools/hands.mjs gathers them`);
  }
  const drawings = pens ? ["--strokes", drawingsFile] : [];
  const halves = pens && training.unfinished > 0 ? ["--points", "0.5"] : [];

  const train = (recipe, out, { from, teacher = usualTeacher, strokes = drawingsFile } = {}) => {
    const options = { "--data": from ? later : data, "--strokes": pens && strokes, "--recipe": recipe, "--out": out,
      "--teacher": training.distillation > 0 && `weights/${teacher}.safetensors`, "--init": from };
    return command("train", ...Object.entries(options).filter(([, value]) => value).flat(), ...words);
  };
  const calibrate = (model, { validation }) => {
    const length = gunzipSync(readFileSync(file("train-labels-idx1"))).length - LABELS_HEAD;
    return command("calibrate", "--model", model, "--out", model, "--first", `${length - validation}`,
      ...(ACCEPT[name] ? ["--accept", `${ACCEPT[name]}`] : []),
      ...drawings, ...(recipe.model.doubt && pens ? ["--points", "0.5,0.75"] : halves), "--images", file(`train-${images}`), "--labels", file("train-labels-idx1"));
  };
  if (laterRuns(name).length > 0) {
    await finish({ name, path, recipe, words, calibrate, train });
  } else {
    await train(path, model);
    if ((pens || set) && training.validation > 0) await calibrate(model, training);
  }

  const measured = [model];
  if (name === usual || name === "photos") {
    measured.push(`weights/${name}-int8.safetensors`);
    await command("quantize", "--model", model, "--out", measured[1]);
  }
  for (const path of measured) {
    const measure = (...words) => command("eval", "--model", path, ...words);
    await measure("--images", file(`t10k-${images}`), "--labels", file("t10k-labels-idx1"));
    if (pens) await measure(...drawings, "--writers", "held-out");
    if (halves.length) await measure(...drawings, "--writers", "held-out", ...halves);
  }
});
