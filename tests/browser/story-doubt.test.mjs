// How sure is it?: the probabilities by hand, the temperature, the diagram's numbers and the worst digits.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { DIGITS, ink, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { chooseModel, drawingOn, weightsOf } from "./story.mjs";

const figures = JSON.parse(readFileSync(new URL("../../web/demo/story/chapters/doubt/reliability.json", import.meta.url), "utf8"));
const assets = new URL("../../build/page/assets/", import.meta.url);
const NEAR = 1e-3; // the page may run another build, which rounds differently
const EXACT = 1e-9; // double precision, in another order

const softmax = (logits, temperature) => {
  const powers = logits.map((logit) => 2 ** ((logit / temperature) * Math.LOG2E));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
};
const near = (got, want, limit) => {
  assert.equal(got.length, want.length);
  want.forEach((value, index) => assert.ok(Math.abs(got[index] - value) <= limit, `class ${index}: ${got[index]}, not ${value}`));
};

describe("how sure is it", { skip }, () => {
  const browser = withBrowser();
  let page, vit;
  const worst = skip ? undefined : readdirSync(assets).find((name) => name.startsWith("worst-digits"));
  before(async () => {
    ({ page } = await browser.visit());
    vit = await Vit.load(weightsOf("digits"));
    await ink(page, DIGITS[3]);
    await toChapter(page, "doubt");
    await page.locator("#doubt .softmax").first().waitFor();
    await settled(page);
  });
  after(() => vit?.dispose());

  const numbers = (row, key) => page.locator(`#doubt tr[data-row=${row}] td`)
    .evaluateAll((cells, name) => cells.map(({ dataset }) => Number(dataset[name])), key);
  const logits = () => numbers("logit", "logit");
  const shares = () => numbers("share", "p");
  /** The columns' softmax, of what the doubt about the drawing leaves. */
  const shared = async (temperature) => {
    const { doubt } = await vit.classify(await drawingOn(page)), rest = (await shares()).reduce((sum, p) => sum + p, 0);
    assert.ok(Math.abs(rest - (1 - doubt)) < NEAR);
    return softmax(await logits(), temperature).map((p) => rest * p);
  };
  const slider = (label) => page.getByRole("slider", { name: `Logit of class ${label}` });
  /** Raises a class's logit to the largest and by so many keys more. */
  async function raise(label, keys) {
    await slider(label).fill(String(Number(Math.max(...(await logits())).toFixed(1))));
    await slider(label).focus();
    for (let i = 0; i < keys; i++) await page.keyboard.press("ArrowUp");
  }
  const temperature = () => page.locator("#doubt .temperature input");
  const atTemperature = async () => Number(await temperature().getAttribute("data-temperature"));
  const here = () => page.locator("#doubt .here-says").evaluate(({ dataset, textContent }) => ({ ...dataset, words: textContent }));
  const reset = () => page.getByRole("button", { name: "The model’s logits" }).click();

  test("it begins with the drawing's own logits and the answer's own probabilities", async () => {
    const { logits: own, classes } = await vit.classify(await drawingOn(page));
    near(await logits(), [...own].slice(0, 10), NEAR * 10);
    assert.equal(await atTemperature(), vit.config.temperature);
    near(await shares(), [...classes].sort((a, b) => a.index - b.index).map(({ p }) => p), NEAR);
    near(await shares(), await shared(vit.config.temperature), EXACT);
  });

  test("keys move a logit; the probabilities follow softmax and are announced", async () => {
    const before = await logits();
    await raise("8", 2);
    const now = await logits(), most = Math.max(...before);
    assert.ok(most - before[8] >= 2 && Math.abs(now[8] - most - 0.2) < 0.06, `2 steps of 0.1: ${most} to ${now[8]}`);
    near(now.toSpliced(8, 1), before.toSpliced(8, 1), 0);
    near(await shares(), await shared(vit.config.temperature), EXACT);
    assert.equal((await shares()).indexOf(Math.max(...(await shares()))), 8);
    assert.match(await slider("8").getAttribute("aria-valuetext"), new RegExp(`^${now[8].toFixed(1)}; probability \\d+\\.\\d %$`));
    assert.equal(await page.locator("#announce, #status", { hasText: "8 now has" }).count() > 0, true);
    for (const [key, label] of [["ArrowRight", 9], ["ArrowRight", 0], ["ArrowLeft", 9]]) {
      await page.keyboard.press(key);
      assert.equal(await page.locator(":focus").getAttribute("aria-label"), `Logit of class ${label}`);
    }
    assert.equal(await page.locator("#doubt .upright[tabindex='0']").count(), 1, "the columns are one stop of the Tab key");
    await reset();
    near(await logits(), before, 0);
  });

  test("the temperature divides the logits, keeps the order, and its mark leads back", async () => {
    const own = await shares();
    await temperature().focus();
    await page.keyboard.press("End");
    assert.equal(await atTemperature(), 4);
    const flat = await shares();
    near(flat, await shared(4), EXACT);
    assert.equal(flat.indexOf(Math.max(...flat)), own.indexOf(Math.max(...own)));
    assert.ok(Math.max(...flat) < Math.max(...own));
    const mark = Number(await page.locator("#doubt-temperatures option").getAttribute("value"));
    await page.getByRole("button", { name: "The model’s own" }).click();
    assert.equal(await atTemperature(), vit.config.temperature);
    assert.equal(Number(await temperature().inputValue()), mark);
    near(await shares(), own, 0);
  });

  test("the slider stops at each measured temperature", async () => {
    const stops = [];
    for (let at = 0; at <= Number(await temperature().getAttribute("max")); at++) {
      await temperature().fill(String(at));
      stops.push(await atTemperature());
    }
    near(stops, figures.at.map((each) => each.temperature), EXACT);
    await page.getByRole("button", { name: "The model’s own" }).click();
  });

  test("the diagram shows the measured bins, and the answer's own bin in words", async () => {
    const bins = figures.at.find((each) => each.temperature === figures.temperature).bins;
    const points = await page.locator("#doubt .point").evaluateAll((all) => all.map(({ dataset: { count, right, sure } }) =>
      [count, right, sure].map(Number)));
    assert.deepEqual(points, bins.filter(([count]) => count > 0));
    const p = Math.max(...(await shares())), { words, bin, ...mine } = await here();
    assert.equal(Number(mine.p), p);
    assert.ok(p > Number(bin) / 15 && p <= (Number(bin) + 1) / 15);
    assert.deepEqual([mine.count, mine.right].map(Number), bins[bin].slice(0, 2));
    assert.ok(words.includes(bins[bin][1].toLocaleString("en")), words);
    const gap = (temperature) => {
      const at = figures.at.find((each) => each.temperature === temperature).bins;
      return (100 * at.reduce((sum, [count, right, sure]) => sum + Math.abs(right - count * sure), 0) / figures.images).toFixed(2);
    };
    const text = await page.locator("#doubt .diagram-words").textContent();
    assert.ok(text.includes(gap(1)) && text.includes(gap(figures.temperature)), text);
  });

  test("the question's truth is the measured bin of the drawing's answer", async () => {
    const [{ p }] = (await vit.classify(await drawingOn(page))).classes;
    const [count, right, sure] = figures.at.find((each) => each.temperature === figures.temperature).bins[Math.ceil(p * 15) - 1];
    /** The chance of so many right answers, if each is right as often as it says: another test than the page's interval. */
    const chance = (from, to) => {
      let sum = 0, logs = count * Math.log(1 - sure); // of none
      for (let k = 0; k <= to; k++) {
        if (k >= from) sum += Math.exp(logs);
        logs += Math.log(((count - k) / (k + 1)) * (sure / (1 - sure)));
      }
      return sum;
    };
    const option = chance(right, count) < 0.025 ? "more often than it said" : chance(0, right) < 0.025 ? "less often" : "about as often";
    for (const press of ["less often", option]) {
      await page.getByRole("button", { name: press, exact: true }).click();
      await page.locator(`#doubt .truth[data-right=${press === option}]`).waitFor();
    }
    const text = await page.locator("#doubt .truth").textContent();
    for (const number of [count, right]) assert.ok(text.includes(number.toLocaleString("en")), text);
    assert.equal(await page.locator("#doubt .guess a").getAttribute("href"), await page.locator("#doubt + .chapter").evaluate(({ id }) => `#${id}`));
  });

  test("“you are here” follows a logit to another bin", async () => {
    const from = (await here()).bin;
    await raise("8", 0);
    const { bin, p } = await here();
    assert.notEqual(bin, from);
    assert.equal(Number(bin), Math.ceil(Number(p) * 15) - 1);
    await reset();
  });

  test("a worst digit shows its image, the model's answer and its label", { skip: worst ? false : "this build has no MNIST" }, async () => {
    const bytes = readFileSync(new URL(worst, assets)), at = 5, size = 28 * 28;
    const image = Float32Array.from(bytes.subarray(20 + at * size, 20 + (at + 1) * size), (level) => level / 255);
    const { classes, logits: own } = await vit.classify(image);
    await page.locator("#doubt .more", { has: page.locator(".worst") }).evaluate((fold) => (fold.open = true));
    const choice = page.locator("#doubt .worst button").nth(at);
    assert.equal(await page.locator("#doubt .worst button").count(), 20);
    await choice.focus();
    await page.keyboard.press("Enter");
    await page.locator("#doubt .worst [aria-pressed=true]").waitFor();
    assert.equal(await choice.getAttribute("aria-pressed"), "true");
    near(await logits(), [...own].slice(0, 10), NEAR * 10);
    assert.ok(Math.abs(Number((await here()).p) - classes[0].p) < NEAR);
    const words = await page.locator("#doubt .subject").textContent();
    assert.match(words, new RegExp(`^MNIST’s test image ${figures.worst[at]}: labelled ${bytes[at]}; the model reads ${classes[0].label}, `));
    const pixels = await page.locator("#doubt .digit").evaluate((canvas) => canvas.width * canvas.height);
    assert.equal(pixels, size);
    await page.getByRole("button", { name: "Back to my drawing" }).click();
    near(await logits(), [...(await vit.classify(await drawingOn(page))).logits.subarray(0, 10)], NEAR * 10);
  });

  test("without the images the page says how to get them", { skip: worst ? "this build has MNIST" : false }, async () => {
    assert.match(await page.locator("#doubt .without").textContent(), /\$VITRINE_DATA.*npm run build/);
  });

  test("without the measured answers the question and the diagram say so, and Retry brings them", async () => {
    const file = /\/reliability-[^/]*\.json$/;
    const { page } = await browser.visit({ excused: /ERR_FAILED/, before: (page) => page.route(file, (route) => route.abort()) });
    await ink(page, DIGITS[3]);
    await toChapter(page, "doubt");
    await page.locator("#doubt .temperature input").waitFor();
    await page.getByRole("button", { name: "about as often", exact: true }).click();
    await page.locator("#story-status.failed", { hasText: "check the connection" }).waitFor();
    await page.locator("#doubt .more", { hasText: "This part did not load" }).evaluate((fold) => (fold.open = true));
    await page.unroute(file);
    await page.locator("#doubt .failed button").click();
    await page.locator("#doubt .point").first().waitFor();
    await page.getByRole("button", { name: "about as often", exact: true }).click();
    await page.locator("#doubt .truth[data-right]").waitFor();
  });

  test("another drawing brings its own logits; another model its temperature and a word about the figures", async () => {
    await page.locator("#clear").click();
    await ink(page, DIGITS[7]);
    await toChapter(page, "doubt");
    await page.waitForFunction(() => document.querySelector("#doubt tr[data-row=logit] td.best")?.cellIndex === 8);
    near(await logits(), [...(await vit.classify(await drawingOn(page))).logits.subarray(0, 10)], NEAR * 10);
    await chooseModel(page, "myvit");
    await toChapter(page, "doubt");
    await page.waitForFunction(() => document.querySelector("#doubt .temperature input").dataset.temperature === "1");
    assert.match(await page.locator("#doubt .diagram-words").textContent(), /Another model reads now/);
    near(await shares(), softmax(await logits(), 1), EXACT); // which has no doubt
  });
});
