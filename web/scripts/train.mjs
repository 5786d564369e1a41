// npm run train: remakes weights/digits.safetensors from its recipe, draws its curve, makes it
// int8 too and measures both on MNIST's test images. What follows `--` goes to `vit train`, as --threads 4.
import { join } from "node:path";
import { cmake } from "./build.mjs";
import { main, root, run, say, timed } from "./lib.mjs";
import { mnist } from "./mnist.mjs";
import * as setup from "./setup.mjs";

const vit = join(root, "build", "native", "vit");
const model = "weights/digits.safetensors";
const int8 = "weights/digits-int8.safetensors";

const help = `npm run train [-- OPTIONS OF vit train]

Remakes ${model} from its recipe, with MNIST from $VITRINE_DATA, ../shared/mnist or
its mirrors, draws the curve, makes ${int8} of it and
measures both on the test images. A run that was interrupted goes on from its last epoch.

  --epochs N, --threads N, --seed S, --fresh   as vit train has them
  --help                                       this text`;

await main(async () => {
  if (process.argv.includes("--help")) return say(help);
  setup.node();
  await setup.native();
  await timed("native command", () => cmake("native", { target: "vit" }));
  const data = await mnist();
  await run(vit, ["train", "--data", data, "--recipe", "weights/digits.recipe.json", "--out", model,
    "--plot", "weights/digits.svg", ...process.argv.slice(2)], { terminal: true });
  await run(vit, ["quantize", "--model", model, "--out", int8], { terminal: true });
  for (const measured of [model, int8]) {
    await run(vit, ["eval", "--model", measured,
      "--images", join(data, "t10k-images-idx3-ubyte.gz"),
      "--labels", join(data, "t10k-labels-idx1-ubyte.gz")], { terminal: true });
  }
});
