// Drawings: a pen's strokes as an image.
import assert from "node:assert/strict";
import { test } from "node:test";
import { instancesOf, load, rejects, ways } from "./support.mjs";

const weights = new URL("../../weights/digits.safetensors", import.meta.url);
const pad = { width: 280, height: 280 };
const stroke = (...points) => points.map(([x, y, width = 23]) => ({ x, y, width }));
const seven = [
  stroke([80, 58], [130, 60], [200, 50], [200, 50], [170, 104], [142, 160], [126, 238]),
  stroke([104, 144], [142, 142], [184, 134]),
];
const four = [
  stroke([118, 44], [104, 92], [82, 158], [82, 158], [132, 160], [206, 150]),
  stroke([170, 92], [164, 150], [156, 242]),
];

for (const { variant, worker } of ways) {
  test(`a drawing's strokes are drawn and read: ${variant}${worker ? " in a worker" : ""}`, async () => {
    const vit = await load(weights, { variant, worker });
    const results = await vit.classifyAll([seven, four].map((strokes) => ({ strokes, ...pad })));
    assert.deepEqual(results.map(({ classes }) => classes[0].label), ["7", "4"]);
    const alone = await vit.classify({ strokes: four, ...pad });
    assert.deepEqual(alone.input, results[1].input);
    assert.deepEqual(alone.logits, results[1].logits);
  });
}

test("an upright line of a drawing is drawn at its place with its width", async () => {
  const vit = await load(weights);
  // A box of 40 by 200 is scaled to 4 by 20 pixels, all full except at the round ends.
  const strokes = [stroke([100, 60, 40], [100, 220, 40])];
  const { input } = await vit.classify({ strokes, ...pad });
  const rows = Array.from({ length: 28 }, (_, row) =>
    input.slice(row * 28, (row + 1) * 28).reduce((sum, value) => sum + value, 0),
  );
  assert.equal(rows.filter((ink) => ink > 0).length, 20);
  for (const ink of rows.slice(7, 21)) assert.ok(Math.abs(ink - 4) < 1e-6, `${rows}`);
});

test("an unfinished drawing is as pale as the model's config says, in a worker too", async () => {
  const { config } = await load(weights);
  for (const [unfinished_ink, worker] of [[0.25, false], [0.25, true], [1, false]]) {
    const vit = await load({ weights, config: { ...config, unfinished_ink } }, { worker });
    const { input } = await vit.classify({ strokes: four, ...pad, unfinished: false });
    assert.deepEqual((await vit.classify({ strokes: four, ...pad })).input, input);
    const pale = (await vit.classify({ strokes: four, ...pad, unfinished: true })).input;
    assert.deepEqual(pale, input.map((value) => unfinished_ink * value));
    assert.equal(Math.max(...input), 1);
  }
});

test("a drawing's strokes may change after the call is made", async () => {
  const vit = await load(weights);
  const strokes = [stroke([100, 60], [100, 220])];
  const want = (await vit.classify({ strokes, ...pad })).input;
  const call = vit.classify({ strokes, ...pad });
  strokes[0].forEach((point) => (point.y = point.x));
  strokes.push(...four);
  assert.deepEqual((await call).input, want);
});

test("a drawing that grows is drawn on from its finished strokes, to the same image", async () => {
  let calls = 0;
  const counted = ({ vitw_stroke, ...others }) =>
    ({ ...others, vitw_stroke: (...words) => (calls++, vitw_stroke(...words)) });
  const [, vit] = await instancesOf(() => load(weights), counted);
  const [stem, bar] = four;
  const dots = Array.from({ length: 20 }, (_, i) => stroke([40 + 10 * i, 30]));
  const drawings = [
    [1, [stem.slice(0, 3)]],
    [1, [stem]],
    [2, [stem, bar.slice(0, 2)]],
    [1, [stem, bar]],
    [20, [stem, bar, ...dots.slice(0, 19)]],
    [2, [stem, bar, ...dots]],
    [1, [stem, bar, ...dots]],
    [1, [stem]], // undone
    [22, [bar, stem, ...dots]],
    [22, [[...bar.slice(0, 2), stem[0]], stem, ...dots]],
    [22, [bar.slice(0, 2), [bar[2], ...stem], ...dots]], // the same points in other strokes
    [22, [bar.slice(0, 2), [bar[2], ...stem], ...dots], { width: 300, height: 280 }],
  ];
  for (const [count, strokes, size = pad] of drawings) {
    calls = 0;
    const { input } = await vit.classify({ strokes, ...size });
    assert.equal(calls, count);
    assert.deepEqual(input, (await (await load(weights)).classify({ strokes, ...size })).input);
  }
});

test("a drawing without ink is a blank image", async () => {
  const vit = await load(weights);
  const blank = [[], [[]], [stroke([-500, -500], [-400, -500])], [stroke([10, 10, 0], [90, 10, 0])]];
  for (const strokes of blank) {
    await rejects(() => vit.classify({ strokes, ...pad }), "blank_image", /ink|blank/);
  }
});

test("wrong drawings are refused and the model stays usable", async () => {
  const vit = await load(weights);
  const point = { x: 1, y: 2, width: 3 };
  const wrong = [
    [{ strokes: seven }, /width and height in whole pixels, got undefined×undefined/],
    [{ strokes: seven, width: 280.5, height: 280 }, /got 280.5×280/],
    [{ strokes: seven, width: 0, height: 280 }, /got 0×280/],
    [{ strokes: seven, width: 1e5, height: 10 }, /at most 32768/],
    [{ strokes: null, ...pad }, /array of arrays/],
    [{ strokes: [point], ...pad }, /array of arrays/],
    [{ strokes: [[null]], ...pad }, /finite numbers/],
    [{ strokes: [[{ ...point, x: NaN }]], ...pad }, /got NaN, 2, 3 at 0/],
    [{ strokes: [[point, { ...point, y: 1e39 }]], ...pad }, /at 1/],
    [{ strokes: [[{ ...point, width: -1 }]], ...pad }, /got 1, 2, -1/],
    [{ strokes: [[{ x: 1, y: 2 }]], ...pad }, /got 1, 2, undefined/],
  ];
  for (const [image, message] of wrong) {
    await rejects(() => vit.classify(image), "bad_image", message);
  }
  assert.equal((await vit.classify({ strokes: seven, ...pad })).classes[0].label, "7");
});
