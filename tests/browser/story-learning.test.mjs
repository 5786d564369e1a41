// The story's chapter "How it learnt": its figures are what the snapshots say, by the package in Node.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { DIGITS, ink, skip, toChapter, withBrowser } from "./harness.mjs";
import { accuracy, dataOf, drawingOn, visitChapter, packed } from "./story.mjs";

describe("how it learnt", { skip }, () => {
  const { learning } = packed();
  const browser = withBrowser();
  let page;
  before(async () => {
    ({ page } = await browser.visit());
    await ink(page, DIGITS[3]);
    await page.emulateMedia({ reducedMotion: "no-preference" }); // who wants less motion has no button Play
    await toChapter(page, "learning");
    await page.locator("#learning-says[data-label]").waitFor();
  });

  const says = () => dataOf(page, "#learning-says");
  const atStep = (step) => page.locator(`#learning-says[data-step="${step}"]`).waitFor();
  /** What a snapshot says, by label. */
  const answerOf = async ({ weights }, drawing) => {
    const vit = await Vit.load(weights);
    const { classes } = await vit.classify(drawing);
    vit.dispose();
    return classes;
  };

  test("the strip has what the snapshots say up to the slider's stop, and no more before the question is answered", async () => {
    const strip = page.locator("#learning .learning-strip canvas[role=application]"), words = page.locator("#learning .learning-strip .grid-words");
    await strip.focus();
    const drawing = await drawingOn(page);
    for (let at = 0; at < 6; at++) {
      await page.keyboard.press("ArrowRight");
      const p = (await answerOf(learning[at], drawing)).find(({ label }) => label === "0").p, { step } = learning[at];
      const want = `digit 0, step ${step}: ${at > 4 ? "not reached yet" : `${(100 * p).toFixed(1)} %`}`;
      await words.filter({ hasText: want }).waitFor();
    }
    await strip.blur();
    assert.equal(await page.locator(".learning-settled").textContent(), "");
  });

  test("the question is checked by the snapshots, and uncovers what all of them say", async () => {
    const drawing = await drawingOn(page), labels = [];
    for (const snapshot of learning) labels.push((await answerOf(snapshot, drawing))[0].label);
    const first = labels.findLastIndex((label) => label !== "3") + 1, { step } = learning[first];
    assert.ok(step > 50 && step <= 500, `${step}: an untrained model does not say 3`);
    await page.locator("#learning .guess").getByRole("button", { name: "later" }).click();
    await page.locator("#learning .truth[data-right=false]", { hasText: `From step ${step} on every snapshot reads 3` }).waitFor();
    assert.match(await page.locator("#learning .truth").textContent(), new RegExp(`At step ${learning[first - 1].step} it still read ${labels[first - 1]}\\.$`));
    assert.equal(Number((await dataOf(page, ".learning-settled")).step), step);
    assert.equal(await page.locator(".learning-settled").textContent(), `From step ${step} on it says 3.`);
    await page.locator("#learning .guess").getByRole("button", { name: "51 to 500" }).click();
    await page.locator("#learning .truth[data-right=true]").waitFor();
  });

  test("at each stop of the slider the answer is what that snapshot says", async () => {
    const drawing = await drawingOn(page);
    await page.locator("#learning-step").focus();
    await page.keyboard.press("Home");
    await atStep(0);
    const values = new Set();
    for (const at of [0, 1, 2]) {
      const { step, label, p } = await says(), [best] = await answerOf(learning[at], drawing);
      assert.equal(Number(step), learning[at].step);
      assert.equal(label, best.label);
      assert.ok(Math.abs(Number(p) - best.p) < 1e-5, `${p}, not ${best.p}`);
      values.add(await page.locator("#learning-step").getAttribute("aria-valuetext"));
      await page.keyboard.press("ArrowRight");
      await atStep(learning[at + 1].step);
    }
    assert.equal(values.size, 3, "the slider says each stop");
    assert.match([...values][0], /^At step 0 it says \d, \d+\.\d %$/);
    await page.keyboard.press("End");
    await atStep(learning.at(-1).step);
    assert.equal((await says()).label, "3");
  });

  test("positions of patches that share a side grow alike", async () => {
    const near = async (at) => {
      const { tensors } = readSafetensors(learning[at].weights);
      const { data, shape: [, tokens, width] } = tensors.get("pos_embed");
      const row = (patch) => data.subarray((tokens - 49 + patch) * width, (tokens - 48 + patch) * width);
      const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
      const all = [];
      for (let patch = 0; patch < 49; patch++) {
        for (const next of [patch % 7 < 6 && patch + 1, patch < 42 && patch + 7].filter(Boolean)) {
          const [a, b] = [row(patch), row(next)];
          all.push(dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)));
        }
      }
      assert.equal(all.length, 84);
      return all.reduce((sum, value) => sum + value, 0) / all.length;
    };
    await page.locator("#learning-step").focus();
    const values = [];
    for (const [key, at] of [["Home", 0], ["End", learning.length - 1]]) {
      await page.keyboard.press(key);
      await atStep(learning[at].step);
      const { near: got } = await dataOf(page, "#learning-near");
      assert.ok(Math.abs(Number(got) - (await near(at))) < 1e-4, `${got}, not ${await near(at)}`);
      values.push(Number(got));
    }
    assert.ok(Math.abs(values[0]) < 0.1 && values[1] > 0.3, `from ${values[0]} to ${values[1]}`);
  });

  test("the share of right answers on test images stands beside each stop", async () => {
    const { images, right } = accuracy().learning;
    await page.locator("#learning-step").focus();
    for (const [key, count] of [["Home", right[0]], ["End", right.at(-1)]]) {
      await page.keyboard.press(key);
      const text = `Over 1,000 test digits: ${((100 * count) / images).toFixed(1)} % right`;
      await page.locator(".learning-test", { hasText: text }).waitFor();
    }
  });

  test("folded, the curves have the measured share of each stop, and the filters keep most of their start", async () => {
    await page.locator("#learning summary", { hasText: "curves and filters" }).click();
    const { images, right } = accuracy().learning, end = learning.length - 1;
    await page.locator("#learning-step").focus();
    await page.keyboard.press("End");
    await atStep(learning[end].step);
    const dots = () => page.locator("#learning .more svg circle").evaluateAll((all) => all.map((dot) => Number(dot.getAttribute("cy"))));
    await page.waitForFunction(() => document.querySelectorAll("#learning .more svg circle").length === 2);
    const [share, digit] = (await dots()).map((y) => (160 - y) / 150); // 100 % is 150 pixels above 0 %
    assert.ok(Math.abs(share - right[end] / images) < 1e-3, `${share}`);
    assert.ok(Math.abs(digit - (await says()).p) < 1e-3, `${digit}`);
    const filters = (at) => readSafetensors(learning[at].weights).tensors.get("patch_embed.proj.weight").data;
    const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0), [a, b] = [filters(0), filters(end)];
    const cosine = (dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))).toFixed(2);
    await page.locator("#learning .more figcaption", { hasText: `those of step 0 is ${cosine}.` }).waitFor();
  });

  test("Enter on the strip chooses a stop, and the screen reader hears what it says", async () => {
    await page.locator("#learning .learning-strip canvas").first().focus();
    await page.keyboard.press("ArrowRight"); // the first cell
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await atStep(learning[2].step);
    await page.waitForFunction((step) => document.getElementById("announce").textContent.startsWith(`At step ${step} it says`), learning[2].step);
  });

  test("Play goes to the last stop and says what it reads", async () => {
    await page.locator("#learning-step").focus();
    await page.keyboard.press("Home");
    await atStep(0);
    await page.evaluate(() => { // each frame is half a second later, because Play takes 9 s
      const ask = globalThis.requestAnimationFrame;
      let late = 0;
      globalThis.requestAnimationFrame = (step) => ask((now) => step(now + (late += 500)));
      globalThis.inTime = () => (globalThis.requestAnimationFrame = ask);
    });
    await page.getByRole("button", { name: "Play" }).filter({ visible: true }).first().click();
    await atStep(learning.at(-1).step);
    await page.evaluate(() => void globalThis.inTime());
    await page.waitForFunction(() => document.getElementById("announce").textContent.startsWith("At step 5,652 it says 3"));
  });

  test("another drawing is read at the same stop", async () => {
    await ink(page, DIGITS[1]); // more ink on the pad
    await toChapter(page, "learning");
    const drawing = await drawingOn(page);
    const want = (await answerOf(learning.at(-1), drawing))[0];
    await page.waitForFunction(
      ([label, p]) => {
        const { dataset } = document.getElementById("learning-says");
        return dataset.label === label && Math.abs(Number(dataset.p) - p) < 1e-5;
      }, [want.label, want.p]);
  });

  test("if the small models do not load, the chapter says so and Retry loads them", async () => {
    let refuse = true;
    const other = await visitChapter(browser, "learning", DIGITS[3], {
      excused: /503/,
      before: (page) => page.route("**/explain*.gz*", (route) => (refuse ? route.fulfill({ status: 503 }) : route.continue())),
    });
    await other.page.locator("#learning [role=alert]").waitFor();
    refuse = false;
    await other.page.locator("#learning").getByRole("button", { name: "Retry" }).click();
    await other.page.locator("#learning-says[data-label]").waitFor();
  });
});
