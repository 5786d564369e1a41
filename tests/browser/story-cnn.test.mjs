// The story's chapter "Beside a convolutional network": measured reach, answers, accuracy and speed.
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

  const measured = async (name) => {
    const { reached, values } = await dataOf(page, `#cnn-reached-${name}`);
    return { reached: Number(reached), values: values.split(" ").map(Number) };
  };
  const nonzero = (values) => values.flatMap((value, square) => (value > 0 ? [square] : []));
  const chip = (name) => page.locator("#cnn .chips label", { hasText: name }).click();
  /** Chooses a patch of 7 × 7 by the keys on the convolutions' grid. */
  const choose = async (row, column) => {
    await page.locator("#cnn .grid canvas").first().blur(); // an earlier cursor goes
    await page.locator("#cnn .grid canvas").first().focus();
    for (const key of ["ArrowRight", ...Array(row).fill("ArrowDown"), ...Array(column).fill("ArrowRight"), "Enter"]) await page.keyboard.press(key);
    await settled(page);
  };

  test("the figure opens on the patch with most ink, before the Transformer's first block", async () => {
    const { input } = await nets.vit.classify(await drawingOn(page)), ink = new Array(49).fill(0);
    input.forEach((value, i) => (ink[7 * Math.floor(i / 112) + Math.floor((i % 28) / 4)] += value));
    const most = ink.indexOf(Math.max(...ink));
    assert.deepEqual(nonzero((await measured("vit")).values), [most], "only its own square reaches the token");
  });

  test("the question is checked on the drawing, and the figure then shows the first block", async () => {
    await page.locator("#cnn .guess").getByRole("button", { name: "2 to 9" }).click();
    await page.locator("#cnn .truth[data-right=false]", { hasText: "49 of 49 squares change the token" }).waitFor();
    assert.equal((await measured("vit")).reached, 49);
    assert.ok(await page.locator("#cnn input[value='1']").isChecked());
    await page.locator("#cnn .guess").getByRole("button", { name: "all 49" }).click();
    await page.locator("#cnn .truth[data-right=true]").waitFor();
  });

  test("the squares that reach a convolutional unit are those that its window of 21 pixels touches", async () => {
    // The window lies around pixel 4u; a square has the pixels 4s to 4s + 3.
    const inWindow = (unit) => [0, 1, 2, 3, 4, 5, 6].filter((square) => 4 * square <= 4 * unit + 10 && 4 * square + 3 >= 4 * unit - 10);
    for (const [row, column] of [[0, 2], [6, 6], [3, 3]]) {
      await choose(row, column);
      const { values } = await measured("convolutions");
      const want = inWindow(row).flatMap((r) => inWindow(column).map((c) => r * 7 + c));
      assert.deepEqual(nonzero(values), want, `${row}, ${column}`);
      assert.match(await page.locator("#cnn-reached-convolutions").textContent(), new RegExp(`^${want.length} of 49 .* 21×21 pixels`));
      assert.equal((await measured("vit")).reached, 49);
    }
  });

  test("measured changes are those of runs with the square inverted, and the colours' end is the largest of all", async () => {
    const unit = 3 * 7 + 3, { input } = await nets.vit.classify(await drawingOn(page));
    const length = (list) => Math.sqrt(list.reduce((sum, value) => sum + value * value, 0));
    /** How much a unit (D) changes at each stage. */
    const unitsOf = async ({ classify, config }, image) => {
      const { trace } = await classify(image, { trace: true }), D = config.width, first = config.prefix.length + unit;
      return Array.from({ length: config.depth + 1 }, (_, stage) => trace.tokens(stage).slice(first * D, (first + 1) * D));
    };
    const want = {};
    for (const [name, vit] of Object.entries(nets)) {
      const net = { classify: vit.classify.bind(vit), config: vit.config }, before = await unitsOf(net, input);
      want[name] = before.map(() => []);
      for (let square = 0; square < 49; square++) {
        const changed = input.map((value, i) => (7 * Math.floor(i / 112) + Math.floor((i % 28) / 4) === square ? 1 - value : value));
        (await unitsOf(net, changed)).forEach((after, stage) =>
          want[name][stage].push(length(after.map((value, i) => value - before[stage][i])) / length(before[stage])));
      }
    }
    const close = (got, values, what) =>
      got.forEach((value, at) => assert.ok(Math.abs(value - values[at]) < 1e-4, `${what}, square ${at}: ${value}, not ${values[at]}`));
    close((await measured("convolutions")).values, want.convolutions[0], "convolutions");
    for (const [name, stage] of Object.entries({ "the embedding": 0, "block 1": 1, "block 3": 3 })) {
      await chip(name);
      close((await measured("vit")).values, want.vit[stage], name);
    }
    const most = Math.max(...Object.values(want).flat(2));
    for (const legend of await page.locator("#cnn .grid .grid-legend").allTextContents())
      assert.equal(legend, `0 %${(100 * most).toFixed(1)} %`);
  });

  test("the table has both answers, the models' sizes and their measured accuracy", async () => {
    const { images, right } = accuracy().models, drawing = await drawingOn(page);
    for (const [name, vit] of Object.entries(nets)) {
      const { label, p } = await dataOf(page, `#cnn [data-model=${name}]`), [best] = (await vit.classify(drawing)).classes;
      assert.deepEqual([label, best.label], ["3", "3"]);
      assert.ok(Math.abs(p - best.p) < 1e-5, `${name}: ${p}, not ${best.p}`);
    }
    const cells = await page.locator("#cnn tbody tr").evaluateAll((rows) =>
      rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepEqual(cells[1].slice(1), ["27,734", "26,602"]); // weights/README.md
    assert.deepEqual(cells[3].slice(1), [right.convolutions, right.sincos2d].map((count) => `${((100 * count) / images).toFixed(2)} %`));
    assert.deepEqual(cells[4].slice(1), [right.convolutions, right.sincos2d].map((count) => String(images - count)));
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
    await page.waitForFunction((text) => document.getElementById("announce").textContent === text, words);
  });
});
