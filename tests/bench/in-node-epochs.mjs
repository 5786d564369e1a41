// Epochs in a process of their own: node in-node-epochs.mjs RECIPE PLAN LIMITS, as of
// in-node-training.mjs; PLAN also holds `images`, how many of MNIST to train on.
import { readFile } from "node:fs/promises";
import { Trainer } from "../../dist/train.js";
import { trainingDigits } from "../../web/scripts/data.mjs";
import { epochsContest, findTorch } from "./training-epochs.mjs";

/** The first `count` of MNIST's images to train on. */
function first({ images, labels }, count) {
  const image = (i) => Float32Array.from(images.subarray(784 * i, 784 * (i + 1)), (value) => value / 255);
  return { images: Array.from({ length: count }, (_, i) => image(i)), labels: [...labels.subarray(0, count)] };
}

const [recipe, given, limitFiles] = process.argv.slice(2), plan = JSON.parse(given);
try {
  const digits = trainingDigits();
  if (!digits) {
    process.send({ rows: [], notes: ["epochs are skipped: no MNIST here; npm run train fetches it, or name its folder in $VITRINE_DATA"] });
  } else {
    const limits = await Promise.all(JSON.parse(limitFiles).map((file) => readFile(file)));
    const python = await findTorch();
    process.send(await epochsContest({ Trainer, limits, python }, JSON.parse(await readFile(recipe, "utf8")),
      first(digits, plan.images), plan));
  }
} catch (error) {
  process.send({ error: error.message });
}
