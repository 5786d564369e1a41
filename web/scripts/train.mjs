// npm run train: remakes weights/digits.safetensors from its recipe, calibrates it, makes it int8
// too and measures both. What follows `--` goes to `vit train`, as --threads 4.
import { join } from "node:path";
import { cmake } from "./build.mjs";
import { findStrokes, mnist } from "./data.mjs";
import { Trouble, main, root, run, say, timed } from "./lib.mjs";
import * as setup from "./setup.mjs";

const vit = join(root, "build", "native", "vit");
const model = "weights/digits.safetensors";
const int8 = "weights/digits-int8.safetensors";

const help = `npm run train [-- OPTIONS OF vit train]

Remakes ${model} from its recipe, with MNIST from $VITRINE_DATA, ../shared/mnist or
its mirrors and pen drawings from $VITRINE_DATA or ../shared/strokes; draws its curves, calibrates
it, makes ${int8} of it and measures both on the test images and on
drawings of writers held out. A run that was interrupted goes on from its last epoch.

  --epochs N, --threads N, --seed S, --fresh   as vit train has them
  --help                                       this text`;

await main(async () => {
  if (process.argv.includes("--help")) return say(help);
  setup.node();
  const strokes = findStrokes();
  if (!strokes) {
    throw new Trouble(`no pen drawings: expected pendigits-train.jsonl.gz in $VITRINE_DATA or ../shared/strokes,
  the pen digits of UCI (Alimoglu & Alpaydin, CC BY 4.0) with a line of JSON each, as README.md has
  it. To do without: a recipe without "drawings" in it, for build/native/vit train.`);
  }
  await setup.native();
  await timed("native command", () => cmake("native", { target: "vit" }));
  const data = await mnist();
  const file = (name) => join(data, `${name}-ubyte.gz`);
  const command = (...words) => run(vit, words, { terminal: true });
  await command("train", "--data", data, "--strokes", strokes, "--recipe", "weights/digits.recipe.json",
    "--out", model, "--plot", "weights/digits.svg", ...process.argv.slice(2));
  await command("calibrate", "--model", model, "--out", model, "--first", "55000", "--strokes", strokes,
    "--images", file("train-images-idx3"), "--labels", file("train-labels-idx1"));
  await command("quantize", "--model", model, "--out", int8);
  for (const measured of [model, int8]) {
    await command("eval", "--model", measured, "--images", file("t10k-images-idx3"), "--labels", file("t10k-labels-idx1"));
    await command("eval", "--model", measured, "--strokes", strokes, "--writers", "held-out");
  }
});
