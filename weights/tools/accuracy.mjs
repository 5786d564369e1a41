// node weights/tools/accuracy.mjs: measures the models of weights/explain.safetensors.gz on MNIST's test
// images, and writes web/demo/explain/accuracy.json, which the page shows. It needs `npm run build`.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { unpack } from "../../web/base/pack.mjs";
import { mnist, readDigits } from "../../web/scripts/data.mjs";
import { isMain, main, root, say } from "../../web/scripts/lib.mjs";

const out = join(root, "web", "demo", "explain", "accuracy.json");
const IMAGES = 1000; // for a snapshot: the first of the test images

/** The packed models' bytes, and their SHA-256. */
export function readPack() {
  const bytes = readFileSync(join(root, "weights", "explain.safetensors.gz"));
  return { series: unpack(gunzipSync(bytes)), pack: createHash("sha256").update(bytes).digest("hex") };
}

/** The first `count` of MNIST's test images: { images, labels }. */
export function testImages(folder, count) {
  const { images: pixels, labels } = readDigits(folder, "t10k");
  const first = Array.from(labels.subarray(0, count), String);
  return { images: first.map((_, at) => Float32Array.from(pixels.subarray(784 * at, 784 * (at + 1)), (v) => v / 255)), labels: first };
}

/** How many images a model reads rightly, and its loss: the mean of -ln of the right class's p. */
export async function score(weights, { images, labels }) {
  const { Vit } = await import("../../dist/vit.js");
  const vit = await Vit.load(weights, { variant: "simd128" }); // the same bits on every machine
  try {
    const answers = await vit.classifyAll(images);
    const right = answers.filter(({ classes }, at) => classes[0].label === labels[at]).length;
    const losses = answers.map(({ classes }, at) => -Math.log(classes.find(({ label }) => label === labels[at]).p));
    return { right, loss: losses.reduce((sum, loss) => sum + loss, 0) / losses.length };
  } finally {
    vit.dispose();
  }
}

/** JSON with each list of numbers in one line. */
const jsonOf = (figures) =>
  `${JSON.stringify(figures, null, 1).replaceAll(/\[[^[\]]*\]/g, (list) => list.replaceAll(/\s+/g, " ").replace("[ ", "[").replace(" ]", "]"))}\n`;

if (isMain(import.meta)) {
  await main(async () => {
    const folder = await mnist();
    const { series: { learning, ...models }, pack } = readPack();
    const all = testImages(folder, 10_000), some = testImages(folder, IMAGES);
    const figures = { pack, models: { images: all.images.length, right: {} }, learning: { images: IMAGES, right: [], loss: [] } };
    for (const [name, [{ weights }]] of Object.entries(models)) {
      figures.models.right[name] = (await score(weights, all)).right;
      say(`${name}: ${figures.models.right[name]} of ${all.images.length}`);
    }
    for (const { step, weights } of learning) {
      const { right, loss } = await score(weights, some);
      figures.learning.right.push(right);
      figures.learning.loss.push(Number(loss.toFixed(4)));
      say(`step ${step}: ${right} of ${IMAGES}, loss ${loss.toFixed(4)}`);
    }
    writeFileSync(out, jsonOf(figures));
    say(`✓ ${out}`);
  });
}
