// The chapter "Patch to token": its numbers against the weights' file and the API.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { DIGITS, ink, picture, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { chooseModel, drawingOn, weightsOf } from "./story.mjs";

/** As the page writes it: a true minus sign, and no minus before a zero. */
const written = (value, decimals = 2) => {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
};

describe("patch to token", { skip }, () => {
  const browser = withBrowser();
  let page, close, tensors;
  before(async () => {
    await open();
    await filters().waitFor();
    ({ tensors } = readSafetensors(weightsOf("digits")));
  });

  /** A drawing of a 3 before the plain model, scrolled to the chapter. */
  async function open(options) {
    ({ page, close } = await browser.visit(options));
    await ink(page, DIGITS[3]);
    await toChapter(page, "patches");
    await page.locator("#patches-class[data-values]").waitFor({ state: "attached" });
  }
  const row = (name) => page.locator(`#patches-numbers [data-row=${name}] td span`).allTextContents();
  const sum = () => page.locator("#patches-sum").evaluate(({ dataset }) => Object.fromEntries(
    Object.entries(dataset).map(([name, value]) => [name, Number(value)])));
  const filters = () => page.locator("#patches-filters");
  const set = (selector, value) => page.locator(selector).evaluate((input, to) => {
    input.value = String(to);
    input.dispatchEvent(new Event("input"));
  }, value);
  const isChosen = (row, column) => page.locator(".rail-patch", { hasText: `row ${row}, column ${column}` }).waitFor();
  async function click(row, column) {
    const [x, y] = [column, row].map((at) => 40 * at - 20); // of 280: 40 a patch
    await page.locator("#patches-grid").click({ position: { x, y } });
    await isChosen(row, column);
    await settled(page);
  }

  describe("a model without a stem", () => {
    const bias = (d) => tensors.get("patch_embed.proj.bias").data[d];
    const weights = (d) => [...tensors.get("patch_embed.proj.weight").data.subarray(d * 16, d * 16 + 16)];

    test("it begins with the patch that has most ink and the filter that has the largest bar there", async () => {
      const vit = await Vit.load(weightsOf("digits"));
      const { input, trace } = await vit.classify(await drawingOn(page), { trace: true });
      vit.dispose();
      const ink = new Float64Array(49);
      input.forEach((value, i) => (ink[7 * Math.floor(i / 112) + Math.floor((i % 28) / 4)] += value));
      const patch = ink.indexOf(Math.max(...ink));
      await isChosen(Math.floor(patch / 7) + 1, (patch % 7) + 1);
      const token = [...trace.tokens("embedded").slice(80 * (1 + patch), 80 * (2 + patch))].map(Math.abs);
      const { filter, model } = await sum();
      assert.equal(filter, token.indexOf(Math.max(...token)));
      assert.ok(Math.abs(Math.abs(model) - token[filter]) < 1e-5);
    });

    test("for each filter, 16 products and the bias add up to the model's own number", async () => {
      await filters().locator("input").first().check({ force: true });
      const values = new Set();
      for (let d = 0; d < 8; d++) {
        const { filter, sum: byHand, model } = await sum();
        assert.equal(filter, d);
        assert.ok(Math.abs(byHand - model) < 1e-5, `filter ${d}: ${byHand} by hand, ${model} by the model`);
        values.add(model);
        assert.deepEqual(await row("weight"), weights(d).map((weight) => written(weight)));
        const pixels = (await row("input")).map(Number);
        // Each pixel is shown to 0.005, and each product of them too.
        (await row("product")).forEach((text, i) => {
          const product = Number(text.replace("−", "-"));
          assert.ok(Math.abs(product - pixels[i] * weights(d)[i]) <= 0.005 * Math.abs(weights(d)[i]) + 0.00501);
        });
        await page.keyboard.press("ArrowRight");
      }
      assert.equal(values.size, 8, "each filter has a number of its own");
    });

    test("the slider adds the products one by one, and the bar of the filter follows", async () => {
      await filters().locator("input").first().check({ force: true });
      const bar = () => filters().locator("label:has(:checked) i").evaluate((i) => Number(i.style.getPropertyValue("--v")));
      const products = (await row("product")).map((text) => Number(text.replace("−", "-")));
      const full = await bar();
      await set("#patches-added", 6);
      const part = products.slice(0, 6).reduce((a, b) => a + b) + bias(0);
      const now = await sum();
      assert.ok(Math.abs(now.sum - part) < 6 * 0.005, `${now.sum}, but the first six products and the bias are ${part}`);
      const top = Number(/±(\S+) /.exec(await page.locator(".filters-figure .grid-legend").textContent())[1]);
      assert.ok(Math.abs((await bar()) - now.sum / top) < 1e-3);
      assert.equal(await page.locator(".to-come").count(), 10);
      await page.locator("#patches-added").press("End");
      assert.equal(await bar(), full);
      assert.equal(await page.locator("#patches-added").getAttribute("aria-valuetext"), "16 of 16 products");
    });

    test("the keys on the grid choose a patch for the whole page, and it is announced", async () => {
      const before = await picture(page, "#patches-grid");
      await page.emulateMedia({ reducedMotion: "no-preference" });
      await page.locator("#patches-grid").focus();
      for (const [key, row, column] of [["ArrowUp", 3, 4], ["ArrowUp", 2, 4], ["ArrowLeft", 2, 3], ["ArrowRight", 2, 4], ["ArrowDown", 3, 4], ["ArrowUp", 2, 4]]) {
        await page.keyboard.press(key);
        await isChosen(row, column);
      }
      await page.locator("#patches .flying").first().waitFor({ state: "attached" }); // the patch's pixels
      await settled(page);
      assert.match(await page.locator("#announce").textContent(), /^Patch in row 2, column 4: \d+(\.\d)? % of it is ink\.$/);
      assert.match(await page.locator("#patches h3").first().textContent(), /row 2, column 4, as 16 numbers/);
      assert.notEqual(await picture(page, "#patches-grid"), before);
      await page.waitForFunction(() => !document.querySelector(".flying"));
      await page.emulateMedia({ reducedMotion: "reduce" });
    });

    test("a click on the grid chooses the patch that is there", () => click(4, 3));

    test("an empty patch's token is the biases", async () => {
      await click(1, 1);
      assert.deepEqual(new Set(await row("input")), new Set(["0.00"]));
      for (let d = 0; d < 8; d++) {
        await filters().locator("input").nth(d).check({ force: true });
        const { sum: byHand, model } = await sum();
        assert.equal(byHand, bias(d));
        assert.equal(model, bias(d));
      }
    });

    test("who says that two empty patches have different tokens is shown two that are equal", async () => {
      await page.locator("#patches .guess button", { hasText: "different" }).click();
      const truth = page.locator("#patches .truth");
      await truth.filter({ hasText: /^It is otherwise\. At row 1, column 1 and at row \d, column \d all 80 numbers/ }).waitFor();
    });

    test("the class token is the file's, whatever is drawn", async () => {
      const learnt = [...tensors.get("cls_token").data];
      const classToken = async () =>
        (await page.locator("#patches-class").getAttribute("data-values")).split(" ").map(Number);
      for (const digit of [3, 7]) {
        await page.evaluate(() => scrollTo(0, 0));
        if (digit !== 3) await ink(page, DIGITS[digit]);
        await toChapter(page, "patches");
        await settled(page);
        (await classToken()).forEach((value, d) => assert.ok(Math.abs(value - learnt[d]) < 1e-6));
      }
    });
  });

  test("a model with a stem: the text says what the patch sees, and the API agrees", async () => {
    const name = "digits-large";
    await chooseModel(page, name);
    await page.locator("#patches .truth", { hasText: /^You were right\. .* differ by up to \d/ }).waitFor();
    await click(2, 3);
    assert.equal(await filters().isVisible(), false);
    const vit = await Vit.load(weightsOf(name));
    const strides = vit.config.stem.map(([, stride]) => stride);
    // In the middle of the image no side of the window is cut off.
    const [[first, last], [up, down], [west, east]] = [3, 1, 2].map((index) => receptiveField(strides, index));
    const side = last - first + 1;
    assert.match(await page.locator("#patches .lead").textContent(), new RegExp(`know of up to ${side}\u00a0×\u00a0${side} pixels`));
    // One run a question: what lies outside changes nothing, and each side of the window changes the token.
    const changes = await changesOf(vit, 1 + 1 * 7 + 2);
    assert.equal(await changes((y, x) => y < up || y > down || x < west || x > east), false, "outside");
    for (const [side, isOn] of Object.entries({
      top: (y) => y === up, bottom: (y) => y === down, left: (_, x) => x === west, right: (_, x) => x === east,
    })) assert.ok(await changes(isOn), side);
    vit.dispose();
  });

  test("filters that do not load are announced, and come with the next choice", async () => {
    await close();
    await open({
      before: (page) => page.addInitScript(() => {
        const { fetch } = window;
        let loads = 0; // the first loads the model
        window.fetch = (url, ...rest) => {
          if (/\/digits-(?!stem|large|int8)/.test(url) && ++loads === 2) return Promise.resolve(new Response("", { status: 503 }));
          return fetch(url, ...rest);
        };
      }),
    });
    const status = page.locator(".filters-figure [role=status]");
    await status.filter({ hasText: /503/ }).waitFor();
    await page.locator("#patches-grid").press("ArrowDown");
    await filters().waitFor();
    assert.equal(await status.textContent(), "");
  });
});

/** Along one side, by sets: the first and last pixel known to the places above patch `index` of 4. */
function receptiveField(strides, index) {
  let places = Array.from({ length: 28 }, (_, pixel) => new Set([pixel]));
  let unit = 1;
  for (const stride of strides) {
    const map = places;
    places = Array.from({ length: map.length / stride }, (_, i) =>
      new Set([-1, 0, 1].flatMap((step) => [...(map[i * stride + step] ?? [])])));
    unit *= stride;
  }
  const over = places.slice((index * 4) / unit, ((index + 1) * 4) / unit).flatMap((set) => [...set]);
  return [Math.min(...over), Math.max(...over)];
}

/** Whether a token changes when all pixels do of which `isOne(y, x)`, in a random image. */
async function changesOf(vit, token) {
  const { width } = vit.config;
  const tokenOf = async (image) => {
    const { trace } = await vit.classify(image, { trace: true });
    return trace.tokens("embedded").slice(token * width, (token + 1) * width).join();
  };
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const image = Float32Array.from({ length: 28 * 28 }, random), before = await tokenOf(image);
  return async (isOne) =>
    (await tokenOf(image.map((value, i) => (isOne(Math.floor(i / 28), i % 28) ? 1 - value : value)))) !== before;
}
