// The story's chapter "Beside a convolutional network": reach, measured reach, accuracy and speed.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { DIGITS, settled, skip, withBrowser } from "./harness.mjs";
import { accuracy, dataOf, drawingOn, visitChapter, packed } from "./story.mjs";

describe("beside a convolutional network", { skip }, () => {
  const { convolutions, sincos2d } = packed();
  const browser = withBrowser();
  let page, nets;
  before(async () => {
    ({ page } = await visitChapter(browser, "cnn", DIGITS[3]));
    nets = { convolutions: await Vit.load(convolutions[0].weights), vit: await Vit.load(sincos2d[0].weights) };
    for (const name of Object.keys(nets)) await page.locator(`#cnn-reached-${name}[data-measured="49"]`).waitFor();
  });
  after(() => {
    for (const vit of Object.values(nets ?? {})) vit.dispose();
  });

  const fields = (row) => page.locator(".cnn-fields").nth(row).locator("figure")
    .evaluateAll((all) => all.map((figure) => ({ ...figure.dataset, words: figure.textContent })));
  const measured = async (name) => {
    const { reached, values } = await dataOf(page, `#cnn-reached-${name}`);
    return { reached: Number(reached), values: values.split(" ").map(Number) };
  };
  const chip = (name) => page.locator("#cnn .chips label", { hasText: name }).click();
  /** Chooses a patch by the keys on the first picture of the convolutions; the page begins at (3, 3). */
  const press = async (...keys) => {
    await page.locator(".cnn-fields canvas").first().focus();
    for (const key of keys) await page.keyboard.press(key);
    await settled(page);
  };

  test("both networks' bars are what they say", async () => {
    const drawing = await drawingOn(page);
    for (const [name, vit] of Object.entries(nets)) {
      const { classes } = await vit.classify(drawing);
      const shown = await page.locator(`#cnn-${name} .bars li`).evaluateAll((rows) => rows.map((row) => Number(row.dataset.p)));
      for (const { index, p } of classes) assert.ok(Math.abs(shown[index] - p) < 1e-5, `${name}, ${index}: ${shown[index]}, not ${p}`);
      assert.equal(classes[0].label, "3");
    }
  });

  test("a unit's window grows by the kernel and the strides", async () => {
    let side = 1, unit = 1;
    const want = nets.convolutions.config.stem.map(([, stride]) => {
      side += 2 * unit;
      unit *= stride;
      return side;
    });
    const shown = await fields(0);
    assert.deepEqual(shown.slice(0, -1).map(({ side }) => Number(side)), want);
    assert.equal(Number(shown.at(-1).pixels), 784);
    // In the middle, no window but the last reaches the edge: rows 12 - 10 to 12 + 10 are all inside.
    assert.deepEqual(shown.slice(0, -1).map(({ pixels }) => Number(pixels)), want.map((side) => side * side));
  });

  test("a token's share in itself is that of attention rollout", async () => {
    const { attention } = await nets.vit.classify(await drawingOn(page), { attention: true });
    const T = attention.tokens, token = 1 + 3 * 7 + 3;
    // By columns of whole matrices, from the first block on, unlike the page.
    const own = [1];
    let product = Array.from({ length: T }, (_, i) => Array.from({ length: T }, (_, j) => Number(i === j)));
    for (let layer = 0; layer < attention.layers; layer++) {
      const map = attention.at(layer, "mean");
      product = product.map((_, i) => product[0].map((_, j) => {
        let sum = product[i][j];
        for (let k = 0; k < T; k++) sum += map[i * T + k] * product[k][j];
        return sum / 2;
      }));
      own.push(product[token][token]);
    }
    const shown = await fields(1);
    assert.equal(shown.length, own.length);
    shown.forEach((field, at) => assert.ok(Math.abs(Number(field.own) - own[at]) < 1e-5, `${field.own}, not ${own[at]}`));
    assert.deepEqual(shown.map(({ reached }) => Number(reached)), [1, 49, 49, 49]);
  });

  /** The units whose windows of 21 pixels, around pixel 4u, overlap a square's pixels 4s to 4s + 3. */
  const inReach = (square) => [0, 1, 2, 3, 4, 5, 6].filter((unit) => 4 * square <= 4 * unit + 10 && 4 * square + 3 >= 4 * unit - 10);

  test("measured, a square changes exactly the convolutional units whose windows hold it, and all tokens", async () => {
    const ways = [
      [3, 3, []],
      [0, 2, ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft"]],
      [6, 6, [...Array(6).fill("ArrowDown"), ...Array(4).fill("ArrowRight")]],
    ];
    for (const [row, column, keys] of ways) {
      await press(...keys);
      const { values, reached } = await measured("convolutions");
      const want = inReach(row).flatMap((r) => inReach(column).map((c) => r * 7 + c));
      assert.deepEqual(values.flatMap((value, unit) => (value > 0 ? [unit] : [])), want, `${row}, ${column}`);
      assert.equal(reached, want.length);
      assert.equal((await measured("vit")).reached, 49);
      if (keys.length === 0) continue;
      assert.equal(await page.locator("#announce").textContent(), `Patch: row ${row + 1}, column ${column + 1}`);
    }
    await press(...Array(3).fill("ArrowUp"), ...Array(3).fill("ArrowLeft"));
  });

  test("measured changes are those of runs with the square inverted", async () => {
    const square = 3 * 7 + 3, D = 32;
    const { input } = await nets.vit.classify(await drawingOn(page));
    const changed = input.map((value, i) => (Math.floor(i / 28 / 4) === 3 && Math.floor((i % 28) / 4) === 3 ? 1 - value : value));
    const chips = { "the embedding": 0, "block 1": 1, "block 3": 3 };
    for (const [name, stage] of Object.entries(chips)) {
      await chip(name);
      const { values, reached } = await measured("vit");
      const [a, b] = await Promise.all([input, changed].map(async (image) =>
        (await nets.vit.classify(image, { trace: true })).trace.tokens(stage).subarray(D)));
      const length = (list) => Math.sqrt(list.reduce((sum, value) => sum + value * value, 0));
      for (let unit = 0; unit < 49; unit++) {
        const [from, to] = [a, b].map((all) => all.subarray(unit * D, (unit + 1) * D));
        const want = length(from.map((value, i) => value - to[i])) / length(from);
        assert.ok(Math.abs(values[unit] - want) < 1e-4, `${name}, unit ${unit}: ${values[unit]}, not ${want}`);
      }
      if (stage === 0) assert.deepEqual(values.flatMap((value, unit) => (value > 0 ? [unit] : [])), [square]);
      else assert.equal(reached, 49);
    }
    await chip("block 1");
  });

  test("the other way, the squares that change the chosen unit are those of its window", async () => {
    await chip("Who reaches the chosen unit");
    const { values } = await measured("convolutions");
    const squares = [0, 1, 2, 3, 4, 5, 6].filter((square) => inReach(square).includes(3));
    assert.deepEqual(values.flatMap((value, square) => (value > 0 ? [square] : [])), squares.flatMap((r) => squares.map((c) => r * 7 + c)));
    await chip("Whom the chosen square reaches");
  });

  test("the table has the models' sizes and their measured accuracy", async () => {
    const { images, right } = accuracy().models;
    const cells = await page.locator("#cnn tbody tr").evaluateAll((rows) =>
      rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepEqual(cells[0].slice(1), ["27,734", "26,602"]); // weights/README.md
    assert.deepEqual(cells[2].slice(1), [right.convolutions, right.sincos2d].map((count) => `${((100 * count) / images).toFixed(2)} %`));
    assert.deepEqual(cells[3].slice(1), [right.convolutions, right.sincos2d].map((count) => String(images - count)));
    assert.match(await page.locator("#cnn").textContent(), new RegExp(`${images - right.convolutions} wrong answers against ${images - right.sincos2d}`));
  });

  test("the speed of both is measured here by a press of a button", async () => {
    await page.locator("#cnn-measure").focus();
    await page.keyboard.press("Enter");
    await page.locator("#cnn-speed[data-ratio]").waitFor();
    const { convolutions, vit, ratio } = await dataOf(page, "#cnn-speed");
    const [slow, fast] = [Math.max(convolutions, vit), Math.min(convolutions, vit)];
    assert.ok(fast > 0 && Math.abs(Number(ratio) - slow / fast) < 1e-9);
    const words = await page.locator("#cnn-speed").textContent();
    assert.match(words, new RegExp(`^${Number(convolutions) > Number(vit) ? "Convolutions" : "Transformer"}: ${(slow / fast).toFixed(1)} times`));
    await page.waitForFunction((said) => document.getElementById("announce").textContent === said, words);
  });
});
