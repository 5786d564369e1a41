// "Which patches spoke for this class": the page's maps beside the API's own numbers.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { DIGITS, draw, openBrowser, settled, skip, toChapter } from "./harness.mjs";
import { drawingOn } from "./story.mjs";

describe("the chapter on what spoke for a class", { skip }, () => {
  let browser, vit;
  before(async () => {
    browser = await openBrowser();
    vit = await Vit.load(await readFile(new URL("../../weights/digits.safetensors", import.meta.url)));
  });
  after(() => {
    vit?.dispose();
    return browser?.close();
  });

  const visit = async (options) => {
    const { page, trouble, close } = await browser.visit(options);
    await draw(page, DIGITS[3]);
    await toChapter(page, "why");
    await page.locator("#why .why-words", { hasText: "gradient" }).waitFor();
    await settled(page);
    return { page, trouble, close };
  };

  /** Every number of a figure, read as a keyboard's user reads it. */
  const numbersOf = async (page, way) => {
    const canvas = page.locator(`#why [data-way=${way}] canvas[role=application]`);
    const words = page.locator(`#why [data-way=${way}] .grid-words`);
    await canvas.blur(); // an earlier cursor goes
    await canvas.focus();
    const numbers = [];
    for (let row = 0; row < 7; row++) {
      for (let column = 0; column < 7; column++) {
        // The first key only shows the cursor, in the first cell.
        await page.keyboard.press(row + column === 0 || column > 0 ? "ArrowRight" : "ArrowDown");
        if (row > 0 && column === 0) for (let back = 0; back < 6; back++) await page.keyboard.press("ArrowLeft");
        const text = await words.textContent();
        assert.match(text, new RegExp(`^row ${row + 1}, column ${column + 1}: `));
        numbers.push(Number(/: ([+−]?[\d.]+)/.exec(text.replace("> ", ""))[1].replace("−", "-")));
      }
    }
    return numbers;
  };

  const blank = (input, patch) => {
    const copy = input.slice();
    for (let i = 0; i < 16; i++)
      copy[(Math.floor(patch / 7) * 4 + (i >> 2)) * 28 + (patch % 7) * 4 + (i & 3)] = 0;
    return copy;
  };

  test("occlusion's numbers are what the class's logit loses, patch by patch", async () => {
    const { page, trouble, close } = await visit();
    const { input, logits, classes } = await vit.classify(await drawingOn(page));
    const shown = await numbersOf(page, "occlusion");
    for (let patch = 0; patch < 49; patch++) {
      const without = await vit.classify(blank(input, patch));
      const lost = logits[classes[0].index] - without.logits[classes[0].index];
      assert.ok(Math.abs(shown[patch] - lost) <= 0.005 + 1e-4, `patch ${patch}: ${shown[patch]}, ${lost}`);
    }
    assert.deepEqual(trouble, []);
    await close();
  });

  test("gradient × attention is the API's relevance in shares, for the answer and for another class", async () => {
    const { page, trouble, close } = await visit();
    const { input, classes } = await vit.classify(await drawingOn(page));
    for (const { index, label } of classes.slice(0, 2)) {
      await page.selectOption("#why-class", label);
      await page.locator("#why .why-words", { hasText: `For ${label},` }).waitFor();
      const { attention } = await vit.classify(input, { attention: true, relevance: [index] });
      const map = attention.relevance(index), sum = map.reduce((a, b) => a + b, 0);
      const shown = await numbersOf(page, "relevance");
      shown.forEach((number, patch) => {
        const share = (100 * map[patch]) / sum;
        assert.ok(Math.abs(number - share) <= 0.051, `class ${label}, patch ${patch}: ${number}, ${share}`);
      });
    }
    assert.deepEqual(trouble, []);
    await close();
  });

  test("Enter on a cell chooses its patch for the whole page, at 320 pixels too", async () => {
    const { page, trouble, close } = await visit({ viewport: { width: 320, height: 640 } });
    await page.locator("#why [data-way=rollout] canvas[role=application]").focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await settled(page);
    assert.match(await page.locator(".rail-patch").textContent(), /row 2, column 2/);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(trouble, []);
    await close();
  });
});
