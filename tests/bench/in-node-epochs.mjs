// Epochs in a process of their own: node in-node-epochs.mjs RECIPE PLAN LIMITS, as of
// in-node-training.mjs; PLAN also holds `images`, how many of MNIST to train on.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Trainer } from "../../dist/train.js";
import { findMnist } from "../../web/scripts/data.mjs";
import { epochsContest, findTorch } from "./training-epochs.mjs";

/** The first `count` of MNIST's images to train on. */
async function digits(folder, count) {
  const read = async (name) => gunzipSync(await readFile(join(folder, name)));
  const [pixels, labels] = await Promise.all(["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"].map(read));
  const image = (i) => Float32Array.from(pixels.subarray(16 + 784 * i, 16 + 784 * (i + 1)), (value) => value / 255);
  return { images: Array.from({ length: count }, (_, i) => image(i)), labels: [...labels.subarray(8, 8 + count)] };
}

const [recipe, given, limitFiles] = process.argv.slice(2), plan = JSON.parse(given);
try {
  const folder = findMnist();
  if (!folder) {
    process.send({ rows: [], notes: ["epochs are skipped: no MNIST here; npm run train fetches it, or name its folder in $VITRINE_DATA"] });
  } else {
    const limits = await Promise.all(JSON.parse(limitFiles).map((file) => readFile(file)));
    const python = await findTorch();
    process.send(await epochsContest({ Trainer, limits, python }, JSON.parse(await readFile(recipe, "utf8")),
      await digits(folder, plan.images), plan));
  }
} catch (error) {
  process.send({ error: error.message });
}
