// The third tab: a number on a wide pad, written in words by a decoder, and where it looked for each word.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { LANGUAGES as WRITTEN } from "../../weights/tools/number-words.mjs";
import { copied, ink, painted, picture, skip, withBrowser } from "./harness.mjs";
import { weightsOf } from "./story.mjs";

const { drawingOf } = await importTypescript("web/demo/ink.ts");
const { unpack } = await importTypescript("web/demo/pack.ts");
const { ACROSS, OPENING, strokesOf } = await importTypescript("web/demo/number/examples.ts");
const { LANGUAGES, wordsOf } = await importTypescript("web/demo/number/languages.ts");

/** A number's strokes in percents of the pad, as ink() takes them. */
const inkOf = (number) => strokesOf(number).map((stroke) => stroke.map(({ x, y }) => [x / (2.8 * ACROSS), y / 2.8]));

describe("the tab that writes a number", { skip }, () => {
  const browser = withBrowser();
  let page, vit;
  before(async () => {
    vit = await Vit.load(weightsOf("numbers"), { variant: "simd128" });
    ({ page } = await browser.visit({ permissions: ["clipboard-write"] }));
    await page.locator("#tab-number").click();
    await finalText(page);
  });
  after(() => vit.dispose());

  /** Waits for what is written of the drawing and the language as they are now. */
  const finalText = (page) => page.evaluate(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    do await frame(), await frame();
    while (!document.querySelector("#number-words[aria-busy=false] .word"));
    return document.querySelector("#number-words").textContent;
  });
  const strokesOn = async (page) => unpack(await page.evaluate(() => sessionStorage.getItem("vitrine-number")));
  const read = (strokes, language) => vit.read(drawingOf(strokes, false, ACROSS), { start: language, beams: 1, attention: true });
  const draw = async (number) => {
    await ink(page, inkOf(number), { on: "#number-pad" });
    return finalText(page);
  };
  const clear = () => page.locator("#number-clear").click();
  const announcement = () => page.locator("#announce").textContent();

  test("an example is on the pad, and its words are the package's", async () => {
    assert.equal(await finalText(page), (await read(OPENING, "en")).text);
    assert.equal(await page.locator("#number-words").getAttribute("data-text"), "", "the example is no visitor's number");
    assert.ok((await painted(page, "#number-pad")) > 3000);
    const { width, height } = await page.locator("#number-pad").boundingBox();
    assert.ok(Math.abs(width / height - ACROSS) < 0.05, `${width} × ${height}`);
  });

  test("each language writes what the package writes of the visitor's strokes, and is in the address", async () => {
    await draw("365");
    const strokes = await strokesOn(page);
    assert.equal(strokes.length, strokesOf("365").length, "the first stroke took the example's place");
    assert.deepEqual(Object.keys(LANGUAGES), WRITTEN);
    for (const language of Object.keys(LANGUAGES)) {
      await page.locator(`#number input[value=${language}]`).evaluate((input) => input.click());
      const got = await finalText(page), { text, tokens } = await read(strokes, language);
      assert.equal(got, text, language);
      const { dataset, lang } = await page.locator("#number-words").evaluate(({ dataset, lang }) => ({ dataset: { ...dataset }, lang }));
      assert.equal(dataset.text, text);
      assert.ok(Math.abs(dataset.p - tokens.reduce((product, { p }) => product * p, 1)) < 1e-3, `${language}: ${dataset.p}`);
      assert.equal(await page.locator("#number .sure b").textContent(), dataset.p >= 0.99 ? "certain" : "fairly sure", `${language}: ${dataset.p}`);
      assert.ok(dataset.p > 0.97, `a neat number is ${dataset.p} sure`);
      assert.equal(lang, LANGUAGES[language].tag || "en");
      assert.equal(new URL(page.url()).hash, `#number=${language}`);
      assert.ok((await announcement()).includes(text), await announcement());
    }
  });

  test("a word under the pointer or with the focus shows where the model looked for it, and arrows go on", async () => {
    await page.locator("#number input[value=de]").evaluate((input) => input.click());
    await finalText(page);
    const result = await read(await strokesOn(page), "de"), words = wordsOf(result), columns = result.attention.grid[1];
    const most = ({ token }) => {
      const map = result.attention.fromToken(token), at = map.indexOf(Math.max(...map));
      return `Most on row ${Math.floor(at / columns) + 1}, column ${(at % columns) + 1}:`;
    };
    const waitForWord = (word) => page.waitForFunction((most) => document.querySelector("#number-overlay").ariaLabel.startsWith(most), most(word));
    const all = await picture(page, "#number-overlay"), parts = page.locator("#number-words .word");
    await parts.nth(1).hover();
    await waitForWord(words[1]);
    assert.notEqual(await picture(page, "#number-overlay"), all);
    assert.equal(await page.locator("#number-words .lit").textContent(), words[1].text.trim());
    await page.mouse.move(0, 0);
    await page.waitForFunction(() => !document.querySelector("#number-words .lit"));
    assert.equal(await picture(page, "#number-overlay"), all);
    await parts.first().focus();
    await waitForWord(words[0]);
    await page.keyboard.press("ArrowRight");
    await waitForWord(words[1]);
    assert.match(await page.locator("#number .looks").textContent(), /^(“.*” looks mostly at|It looks a little everywhere)/);
    await parts.nth(1).evaluate((part) => part.blur());
  });

  test("undo, redo and clear, by buttons and keys", async () => {
    const ink = () => painted(page, "#number-pad"), full = await ink();
    await page.keyboard.press("Control+z");
    await finalText(page);
    assert.ok((await ink()) < full);
    await page.locator("#number-redo").click();
    await finalText(page);
    assert.equal(await ink(), full);
    await clear();
    await page.waitForFunction(() => !document.querySelector("#number-words .word"));
    assert.equal(await ink(), 0);
    assert.equal(await announcement(), "Cleared");
    await page.keyboard.press("Control+z");
    await finalText(page);
    assert.equal(await ink(), full);
  });

  test("a scribble is no number", async () => {
    await clear();
    await ink(page, [[[10, 20], [20, 80], [30, 20], [40, 80], [50, 20], [60, 80], [70, 20], [80, 80], [90, 20]]], { on: "#number-pad" });
    await page.locator("#number .sure", { hasText: "no number it knows" }).waitFor();
    assert.equal((await read(await strokesOn(page), "de")).text, "?");
    assert.deepEqual([await page.locator("#number-words").textContent(), await announcement()], ["?", "Sees no number"]);
    await clear();
    await page.waitForFunction(() => document.querySelector("#number-words").textContent === "");
    for (const _ of "abc") await page.keyboard.press("Control+z");
    await finalText(page);
  });

  test("the words can be copied, and a link opens the number and its language on another's page", async () => {
    const text = await finalText(page), strokes = await strokesOn(page);
    assert.equal(await copied(page, () => page.locator("#number-copy").click()), text);
    const link = await copied(page, () => page.locator("#number-share").click());
    const other = await browser.visit({ address: link, ready: false });
    assert.equal(await finalText(other.page), text);
    assert.equal(await other.page.locator("#number input:checked").getAttribute("value"), "de");
    assert.deepEqual(await strokesOn(other.page), strokes);
    assert.equal(new URL(other.page.url()).hash, "#number=de", "the address keeps the language and not the drawing");
  });

  test("where the browser does not let the page copy, the words are selected", async () => {
    const text = await finalText(page);
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true })); // as over http
    await page.locator("#number-copy").click();
    await page.locator("#number-status", { hasText: "The text is selected" }).waitFor();
    assert.equal(await page.evaluate(() => getSelection().toString().replaceAll("\n", "")), text);
    await page.evaluate(() => delete navigator.clipboard);
  });

  test("on a narrow screen nothing scrolls sideways or covers something, in each language", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await clear();
    for (const language of await page.locator("#language option").evaluateAll((all) => all.map(({ value }) => value))) {
      await page.locator("#language").selectOption(language);
      await page.waitForFunction((language) => document.documentElement.lang.startsWith(language), language);
      const [wide, hint, tools] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        ...["#number-hint", "#number-undo"].map((part) => document.querySelector(part).getBoundingClientRect().toJSON())]);
      assert.ok(wide <= 320, `${language}: ${wide}`);
      assert.ok(hint.right <= tools.left, `${language}: the hint ends at ${hint.right}, and the buttons begin at ${tools.left}`);
    }
    await page.locator("#language").selectOption("en");
  });

  test("a tab that is left before its code comes loads no model", async () => {
    let release, models = 0;
    const released = new Promise((resolve) => (release = resolve));
    const { page: other } = await browser.visit({
      before: async (page) => {
        await page.route(/store[^/]*\.js$/, (route) => released.then(() => route.continue()));
        page.on("request", (request) => (models += /numbers[^/]*\.safetensors/.test(request.url())));
      },
    });
    await other.locator("#tab-number").click();
    await other.locator("#tab-draw").click();
    release();
    await other.locator("#number h1").waitFor({ state: "attached" });
    await other.evaluate(() => new Promise(requestAnimationFrame));
    assert.equal(models, 0);
  });

  test("a model that does not load is told, and Retry loads it", async () => {
    const other = await browser.visit({
      address: `${browser.address}#number=zh`,
      ready: false,
      excused: /503/,
      before: (page) => page.route(/numbers[^/]*\.safetensors$/, (route) => route.fulfill({ status: 503 })),
    });
    await other.page.locator("#number-status.failed", { hasText: "The model did not load: the server answered 503" }).waitFor();
    await other.page.unroute(/numbers[^/]*\.safetensors$/);
    await other.page.locator("#number-retry").click();
    assert.equal(await finalText(other.page), (await read(OPENING, "zh")).text);
  });
});
