// For teachers: what the solutions of the six exercises say holds for the model that tells the story,
// on our own handwriting.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { permuted, seeded, shuffled } from "../../web/base/scramble.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { file, model } from "../../weights/tools/reliability.mjs";

const { OFFERED, MORE } = await importTypescript("web/train/handwriting.ts");
const { texts: { exercises } } = await importTypescript("web/demo/story/chapters/teach/texts/en.ts");
const drawings = [...OFFERED, ...MORE];
const pad = { width: 280, height: 280 };
const LAYERS = [0, 1, 2, 3, 4], HEADS = [0, 1, 2, 3, 4], T = 50;

/** Fails where a solution's sentence, whose claim the test checks, says otherwise now. */
const says = (id, ...sentences) => {
  for (const sentence of sentences) assert.ok(exercises[id].look.includes(sentence), `the solution of ${id} no longer says: ${sentence}`);
};
const pOf = ({ classes }, label) => classes.find((one) => one.label === label).p;

describe("solutions of the exercises", () => {
  let vit, read;
  before(async () => {
    vit = await Vit.load(readFileSync(model)); // the one that tells the story
    read = [];
    for (const { label, strokes } of drawings)
      read.push({ label, strokes, ...(await vit.classify({ strokes, ...pad }, { trace: true, attention: true })) });
  });
  after(() => vit?.dispose());

  test("the drawings are read rightly", () => {
    for (const { label, classes } of read) assert.equal(classes[0].label, label);
  });

  test("one score by hand: 16 products of q and k, divided by 4, and 50 shares that sum to 1", () => {
    says("score", "A head has 16 numbers here, and √16 is 4.", "the 50 scores of a query", "sum to 100 %");
    for (const { trace, attention } of read.slice(0, 2)) {
      for (const layer of LAYERS) for (const head of HEADS) {
        const [q, k, scores, shares] = [trace.queries(layer, head), trace.keys(layer, head), trace.scores(layer, head), attention.at(layer, head)];
        assert.deepEqual([q.length, k.length, scores.length], [T * 16, T * 16, T * T]);
        for (let i = 0; i < T; i++) {
          let all = 0;
          for (let j = 0; j < T; j++) {
            let dot = 0, mass = 0;
            for (let d = 0; d < 16; d++) {
              dot += q[16 * i + d] * k[16 * j + d];
              mass += Math.abs(q[16 * i + d] * k[16 * j + d]);
            }
            assert.ok(Math.abs(scores[T * i + j] - dot / 4) <= 16 * 2 ** -23 * mass, `score ${i}, ${j}`);
            all += shares[T * i + j];
          }
          assert.ok(Math.abs(all - 1) < 1e-5);
        }
      }
    }
  });

  test("does order matter: not without positions; with them most scrambled drawings are read as something else", async () => {
    says("positions", "Without positions nothing changes", "With positions most scrambled drawings are read as something else");
    const random = seeded(1), sizes = { rows: 28, cols: 28, patchRows: 4, patchCols: 4, gridRows: 7, gridCols: 7 };
    let others = 0, count = 0;
    for (const { label, input } of read) {
      const { logits } = await vit.classify(input, { ablate: { positions: true } });
      for (let time = 0; time < 5; time++, count++) {
        const scrambled = permuted(input, shuffled(49, random), sizes);
        others += Number((await vit.classify(scrambled)).classes[0].label !== label);
        const without = await vit.classify(scrambled, { ablate: { positions: true } });
        without.logits.forEach((logit, index) => assert.ok(Math.abs(logit - logits[index]) < 1e-4, `${label}: ${logit}, not ${logits[index]}`));
      }
    }
    assert.ok(others > count / 2, `${others} of ${count}`);
  });

  test("when does it know: after the fourth block; no head alone changes an answer, the first MLP nearly all of it", async () => {
    says("layers", "After four blocks the right class has over 90 %; before, another often leads. The fifth makes it sure.",
      "No single head changes the answer", "Without the first MLP hardly anything of the probability is left.");
    const others = read.filter(({ label, trace }) => trace.lens(2)[0].label !== label).length;
    assert.ok(others > read.length / 2, `${others} of ${read.length}`);
    for (const { label, strokes, trace } of read) {
      assert.equal(trace.lens(4)[0].label, label);
      assert.ok(trace.lens(4)[0].p > 0.9 && trace.lens(5)[0].p > Math.max(0.99, trace.lens(4)[0].p), label);
      for (const layer of LAYERS) for (const head of HEADS) {
        const { classes: [best] } = await vit.classify({ strokes, ...pad }, { ablate: { heads: [[layer, head]] } });
        assert.equal(best.label, label, `without head ${head} of layer ${layer}`);
      }
      const without = await vit.classify({ strokes, ...pad }, { ablate: { mlps: [0] } });
      assert.ok(pOf(without, label) < 0.1, `${label}: ${pOf(without, label)}`);
    }
  });

  test("half a digit: the closed loop of a 9 is a sure 0, and while the pen is down perhaps a 9", async () => {
    says("strokes", "Finished, the loop alone is a 0 to this model, and it is over 99 % sure.", "it expects a tail, and leans to 9 without being sure");
    for (const { strokes: [whole] } of drawings.filter(({ label }) => label === "9")) {
      const closed = whole.findIndex(({ x, y }, at) => at > 0 && x === whole[0].x && y === whole[0].y);
      assert.ok(closed > 3, "the loop closes");
      const loop = { strokes: [whole.slice(0, closed + 1)], ...pad };
      const [finished, drawing] = [await vit.classify(loop), await vit.classify({ ...loop, unfinished: true })];
      assert.deepEqual([finished, drawing].map(({ classes: [best], uncertain }) => [best.label, uncertain]), [["0", false], ["9", true]]);
      assert.ok(finished.classes[0].p > 0.99, String(finished.classes[0].p));
    }
  });

  test("what does 90 % mean: no temperature changes the first class, and the surest bin is too modest", () => {
    const { temperature, at } = JSON.parse(readFileSync(file, "utf8"));
    const [count, right, sure] = at.find((each) => each.temperature === temperature).bins.at(-1);
    says("doubt", `of the ${count.toLocaleString("en")} test digits of which it was surest, ${(100 * sure).toFixed(1)} % on average, it read ${count - right} wrongly`);
    assert.ok(right / count > sure, "it is right more often than it says");
    for (const { logits, classes } of read) {
      for (const { temperature: t } of at) {
        const scaled = [...logits.subarray(0, 10)].map((logit) => Math.exp(logit / t));
        assert.equal(scaled.indexOf(Math.max(...scaled)), classes[0].index);
      }
    }
  });

  test("who may look at whom: under the causal mask the class token sees itself, and the last token all, as before", () => {
    says("masks", "The first row is the class token’s: it sees itself alone", "The last row still sees all 50 tokens, as before.");
    assert.equal(vit.config.prefix[0], "class");
    for (const { trace, attention } of read.slice(0, 3)) {
      for (const layer of LAYERS) for (const head of HEADS) {
        const scores = trace.scores(layer, head), full = attention.at(layer, head);
        const causal = (row) => {
          const powers = Array.from({ length: T }, (_, j) => (j <= row ? Math.exp(scores[T * row + j]) : 0));
          const sum = powers.reduce((a, b) => a + b);
          return powers.map((power) => power / sum);
        };
        assert.deepEqual(causal(0), [1, ...Array(T - 1).fill(0)]);
        causal(T - 1).forEach((share, j) => assert.ok(Math.abs(share - full[T * (T - 1) + j]) < 1e-5));
      }
    }
  });
});
