// node weights/tools/signs.mjs [MODEL]: how often a model of digits is uncertain of signs that are none, each drawn by
// ten hands, most of them of a kind that no training has seen. It needs dist/, from `npm run build`.
import { join } from "node:path";
import { isMain, main, root, say } from "../../web/scripts/lib.mjs";
import { SIGNS, dice, shape } from "./shapes.mjs";

const HANDS = 10;

/** Of each sign's drawings, how many are uncertain, and the answers to the others. */
export async function uncertainSigns(vit, seed = 11) {
  const random = dice(seed), all = [];
  for (const sign of SIGNS) {
    const answers = await vit.classifyAll(Array.from({ length: HANDS }, () => shape(sign, random)), { topK: 1 });
    const labels = answers.filter(({ uncertain }) => !uncertain).map(({ classes }) => classes[0].label);
    all.push({ sign, uncertain: HANDS - labels.length, labels });
  }
  return all;
}

if (isMain(import.meta)) {
  await main(async () => {
    const { Vit } = await import("../../dist/vit.js");
    const vit = await Vit.load(process.argv[2] ?? join(root, "weights", "digits.safetensors"));
    const all = await uncertainSigns(vit), sum = all.reduce((total, { uncertain }) => total + uncertain, 0);
    for (const { sign, uncertain, labels } of all) say(`${sign}: ${uncertain} of ${HANDS}${labels.length ? `, else ${labels.join(" ")}` : ""}`);
    say(`uncertain of ${SIGNS.length} signs by ${HANDS} hands: ${((100 * sum) / (SIGNS.length * HANDS)).toFixed(1)} %`);
    vit.dispose();
  });
}
