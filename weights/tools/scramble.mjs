// node weights/tools/scramble.mjs: how many of the first test images each small model still reads when
// their patches are scrambled. Writes web/demo/explain/scramble.json, which the page tells. Run it
// after `npm run train -- explain`. It needs dist/, from `npm run build`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { permuted, seeded, shuffled } from "../../web/base/scramble.mjs";
import { mnist } from "../../web/scripts/data.mjs";
import { isMain, main, root, say } from "../../web/scripts/lib.mjs";
import { readPack, testImages } from "./accuracy.mjs";

const DIGITS = 1000, SEED = 1;
const SIZES = { rows: 28, cols: 28, patchRows: 4, patchCols: 4, gridCols: 7 };
const models = ["none", "sincos1d", "sincos2d", "learned", "relative", "rotary"];
const file = join(root, "web", "demo", "explain", "scramble.json");

/** The first test images, each with a scrambled copy. Every image has a permutation of its own. */
function digits(data) {
  const random = seeded(SEED), { images, labels } = testImages(data, DIGITS);
  return images.map((image, i) => ({ label: labels[i], image, scrambled: permuted(image, shuffled(49, random), SIZES) }));
}

/** Right answers of each model: as the images are (before), scrambled (after), and scrambled with the
 *  model's positions left out (without). */
export async function measure(data) {
  const { Vit } = await import("../../dist/vit.js");
  const all = digits(data);
  const { series } = readPack();
  const right = {};
  for (const name of models) {
    const vit = await Vit.load(series[name][0].weights);
    const count = async (key, ablate) => {
      const answers = await vit.classifyAll(all.map((digit) => digit[key]), { topK: 1, ablate });
      return answers.filter(({ classes }, i) => classes[0].label === all[i].label).length;
    };
    right[name] = {
      before: await count("image"),
      after: await count("scrambled"),
      without: await count("scrambled", { positions: true }),
    };
    vit.dispose();
  }
  return { digits: DIGITS, seed: SEED, right };
}

if (isMain(import.meta)) {
  await main(async () => {
    const measured = await measure(await mnist());
    writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`);
    for (const [name, right] of Object.entries(measured.right)) say(`${name}: ${JSON.stringify(right)}`);
    say(`✓ ${file}`);
  });
}
