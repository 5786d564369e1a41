// Where in its source a model looked: `placement`. The oracle is a photo that gets redder from left to
// right and greener from top to bottom, so that each prepared pixel says where it lies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support.mjs";

const weights = new URL("../golden/families/vit.safetensors", import.meta.url);
const digits = new URL("../../weights/digits.safetensors", import.meta.url);
const SIDE = 12; // of the model's image
const plain = { mean: [0, 0, 0], std: [1, 1, 1] };

function ramps(width, height) {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) data.set([(255 * (x + 0.5)) / width, (255 * (y + 0.5)) / height, 0], at);
  }
  return { data, width, height, channels: 3 };
}

/** The places of an axis's pixels, in the photo's own, from their colours. */
const placesOf = (input, plane, length, stride, from) =>
  Array.from({ length: SIDE }, (_, i) => input[plane * SIDE * SIDE + from + i * stride] * length);

/** Compares the places that the colours tell with those that the placement tells, but for the ends. */
function expectPlaced({ input, placement }, { width, height }, what) {
  const middle = SIDE / 2;
  const axes = [
    ["left", placesOf(input, 0, width, 1, middle * SIDE), placement.left, placement.width, width],
    ["top", placesOf(input, 1, height, SIDE, middle), placement.top, placement.height, height],
  ];
  for (const [name, places, from, length, side] of axes) {
    const step = length / SIDE;
    let compared = 0;
    places.forEach((place, i) => {
      const want = from + (i + 0.5) * step;
      if (want < step || want > side - step) return; // the ends and the border
      assert.ok(Math.abs(place - want) <= (3 * side) / 255, `${what}: ${name}, pixel ${i} shows ${place}, not ${want}`);
      compared++;
    });
    assert.ok(compared > 3, `${what}: only ${compared} pixels of the photo`);
  }
}

const prepares = {
  "stretched, as by transformers": { resize: [12, 12], crop: [12, 12] },
  "the middle nine tenths, as by timm": { resize: 13, crop: 12 },
  "the middle, with an odd margin rounded down": { resize: [17, 15], fit: "cover", crop: [12, 12], crop_at: "floor" },
  "with a border": { resize: [12, 12], fit: "contain", crop: [12, 12], fill: [9, 9, 9] },
  "kept as large as it is": { resize: null, crop: 12 },
};

for (const [what, prepare] of Object.entries(prepares)) {
  test(`the placement is where the photo was looked at: ${what}`, async () => {
    const source = { weights, config: { heads: 2 }, prepare: { kind: "photo", ...plain, ...prepare } };
    const photos = [[60, 30], [31, 64], [24, 24]].map(([width, height]) => ramps(width, height));
    for (const worker of [false, true]) {
      const vit = await load(source, { worker });
      const answers = await vit.classifyAll(photos);
      answers.forEach((answer, i) => expectPlaced(answer, photos[i], `${photos[i].width}×${photos[i].height}`));
      const { placement } = answers[1];
      assert.deepEqual(Object.keys(placement), ["left", "top", "width", "height"]);
      assert.deepEqual((await vit.embed(photos[1])).placement, placement);
      assert.deepEqual((await vit.classify(photos[1], { trace: true })).placement, placement);
    }
  });
}

test("a border lies outside the photo", async () => {
  const prepare = { kind: "photo", ...plain, ...prepares["with a border"] };
  const vit = await load({ weights, config: { heads: 2 }, prepare });
  const { placement } = await vit.classify(ramps(60, 30));
  assert.deepEqual(placement, { left: 0, top: -15, width: 60, height: 60 });
});

test("prepared values are their own source", async () => {
  const vit = await load({ weights, config: { heads: 2 } });
  const values = new Float32Array(3 * SIDE * SIDE);
  assert.deepEqual((await vit.classify(values)).placement, { left: 0, top: 0, width: SIDE, height: SIDE });
});

test("a drawing's placement maps the digit's ink onto the strokes, beyond the pad if need be", async () => {
  const vit = await load(digits);
  for (const [width, height, x, top, bottom] of [[280, 280, 60, 40, 200], [500, 90, 470, 8, 82]]) {
    const strokes = [[{ x, y: top, width: 8 }, { x, y: bottom, width: 8 }]];
    const { input, placement } = await vit.classify({ strokes, width, height });
    let [mass, across, down] = [0, 0, 0];
    input.forEach((ink, i) => {
      mass += ink;
      across += ink * ((i % 28) + 0.5);
      down += ink * (Math.floor(i / 28) + 0.5);
    });
    const place = (axis, from, length) => from + (axis / mass / 28) * length;
    assert.ok(Math.abs(place(across, placement.left, placement.width) - x) < 0.5);
    assert.ok(Math.abs(place(down, placement.top, placement.height) - (top + bottom) / 2) < 0.5);
    const rows = [...input.keys()].filter((i) => input[i] > 0).map((i) => Math.floor(i / 28));
    const [first, last] = [rows[0], rows.at(-1) + 1].map((row) => placement.top + (row / 28) * placement.height);
    assert.ok(Math.abs(first - (top - 4)) < 1 && Math.abs(last - (bottom + 4)) < 1, `${first}…${last}`);
  }
});
