// "Which patches spoke for this class": the page's maps beside the API's own numbers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { DIGITS, settled, skip, withBrowser } from "./harness.mjs";
import { drawingOn, visitChapter, weightsOf } from "./story.mjs";

describe("the chapter on what spoke for a class", { skip }, () => {
  const browser = withBrowser();
  let page, vit;
  before(async () => {
    vit = await Vit.load(weightsOf("digits"));
    ({ page } = await visitChapter(browser, "why", DIGITS[3]));
    await page.locator("#why .why-words", { hasText: "gradient" }).waitFor();
    await settled(page);
  });
  after(() => vit?.dispose());

  /** Every number of a figure, read as a keyboard's user reads it who goes to and fro, row by row. */
  const numbersOf = async (way) => {
    const texts = await page.locator(`#why [data-way=${way}]`).evaluate((figure) => {
      const canvas = figure.querySelector("canvas[role=application]"), words = figure.querySelector(".grid-words");
      canvas.blur(); // an earlier cursor goes
      canvas.focus();
      return Array.from({ length: 49 }, (_, step) => {
        // The first key only shows the cursor, in the first cell.
        const key = step > 0 && step % 7 === 0 ? "ArrowDown" : Math.floor(step / 7) % 2 === 1 ? "ArrowLeft" : "ArrowRight";
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        return words.textContent;
      });
    });
    const numbers = [];
    for (const [step, text] of texts.entries()) {
      const row = Math.floor(step / 7), column = row % 2 === 1 ? 6 - (step % 7) : step % 7;
      assert.match(text, new RegExp(`^row ${row + 1}, column ${column + 1}: `));
      numbers[7 * row + column] = Number(/: ([+−]?[\d.]+)/.exec(text.replace("> ", ""))[1].replace("−", "-"));
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
    const { input, logits, classes } = await vit.classify(await drawingOn(page));
    const values = await numbersOf("occlusion");
    for (let patch = 0; patch < 49; patch++) {
      const without = await vit.classify(blank(input, patch));
      const drop = logits[classes[0].index] - without.logits[classes[0].index];
      assert.ok(Math.abs(values[patch] - drop) <= 0.005 + 1e-4, `patch ${patch}: ${values[patch]}, ${drop}`);
    }
  });

  test("gradient × attention is the API's relevance in shares, for the answer and for another class", async () => {
    const { input, classes } = await vit.classify(await drawingOn(page));
    for (const { index, label } of classes.slice(0, 2)) {
      await page.selectOption("#why-class", label);
      await page.locator("#why .why-words", { hasText: `For ${label},` }).waitFor();
      const { attention } = await vit.classify(input, { attention: true, relevance: [index] });
      const map = attention.relevance(index), sum = map.reduce((a, b) => a + b, 0);
      const values = await numbersOf("relevance");
      values.forEach((number, patch) => {
        const share = (100 * map[patch]) / sum;
        assert.ok(Math.abs(number - share) <= 0.051, `class ${label}, patch ${patch}: ${number}, ${share}`);
      });
    }
  });
});
