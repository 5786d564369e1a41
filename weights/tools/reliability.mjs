// node weights/tools/reliability.mjs: reads MNIST's test images with the model that tells the
// story and writes what the chapter "How sure is it?" shows: how often answers were right, by how sure
// they were, at several temperatures, and the twenty images with the greatest loss. It needs dist/.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Trouble, isMain, main, root, say } from "../../web/scripts/lib.mjs";
import { testDigits } from "../../web/scripts/data.mjs";

const NAME = "digits";
export const model = join(root, "weights", `${NAME}.safetensors`);
export const file = join(root, "web", "demo", "story", "chapters", "doubt", "reliability.json");
const SIDE = 28, BINS = 15, WORST = 20, AT_ONCE = 250;

/** The images as Vit.classifyAll takes them: as they are. Preparing them like a photo of a digit
 *  would change the faintest pixels of one in five, by up to 15 of 255 levels. */
export const pictures = ({ images }, indices) => indices.map((index) =>
  Float32Array.from(images.subarray(index * SIDE * SIDE, (index + 1) * SIDE * SIDE), (level) => level / 255));

export const hashOf = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** The classes' probabilities, which with doubt sum to 1 - doubt. */
function softmax({ logits: all, doubt = 0, classes }, temperature) {
  const logits = all.subarray(0, classes.length), most = Math.max(...logits);
  const powers = Array.from(logits, (logit) => Math.exp((logit - most) / temperature));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => ((1 - doubt) * power) / sum);
}

/** For each bin of width 1/15, as Guo et al. have it: images, right answers, the mean probability. */
function binsAt(temperature, all, labels) {
  const bins = Array.from({ length: BINS }, () => [0, 0, 0]);
  all.forEach((answer, index) => {
    const shares = softmax(answer, temperature), p = Math.max(...shares);
    const bin = bins[Math.max(0, Math.ceil(p * BINS) - 1)];
    bin[0]++;
    bin[1] += Number(shares.indexOf(p) === labels[index]);
    bin[2] += p;
  });
  return bins.map(([count, right, sum]) => [count, right, count ? Number((sum / count).toFixed(5)) : 0]);
}

async function measure(digits) {
  const { Vit } = await import("../../dist/vit.js");
  const vit = await Vit.load(model);
  const all = [], count = digits.labels.length;
  for (let first = 0; first < count; first += AT_ONCE) {
    const indices = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, i) => first + i);
    all.push(...await vit.classifyAll(pictures(digits, indices)));
  }
  const own = vit.config.temperature;
  const temperatures = [...new Set([own, ...Array.from({ length: 17 }, (_, k) => 2 ** (k / 4 - 2))])].sort((a, b) => a - b);
  const loss = all.map((answer, index) => -Math.log(softmax(answer, own)[digits.labels[index]]));
  vit.dispose();
  return {
    by: "node weights/tools/reliability.mjs",
    model: NAME,
    sha256: hashOf(model),
    images: count,
    temperature: own,
    uncertain_below: vit.config.uncertain_below,
    worst: [...loss.keys()].sort((a, b) => loss[b] - loss[a]).slice(0, WORST),
    at: temperatures.map((temperature) => ({ temperature, bins: binsAt(temperature, all, digits.labels) })),
  };
}

if (isMain(import.meta)) {
  await main(async () => {
    const digits = testDigits();
    if (!digits) throw new Trouble("MNIST's test images are not at hand: name their folder in $VITRINE_DATA");
    const result = await measure(digits);
    const text = JSON.stringify(result).replaceAll('{"temperature"', '\n  {"temperature"').replaceAll(/,"(?=[a-z])(?!bins)/g, ',\n "');
    writeFileSync(file, `${text}\n`);
    say(`✓ ${file}: ${result.images} images, temperature ${result.temperature}`);
  });
}
