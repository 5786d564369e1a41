// The page in other languages: chosen by the browser, by hand or by the address.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DIGITS, gate, ink, openCloser, painted, picture, prediction, settled, skip, withBrowser } from "./harness.mjs";

const LEAD = {
  en: /^A small Vision Transformer reads it/,
  de: /^Ein kleiner Vision Transformer liest sie/,
  fr: /^Un petit Vision Transformer le lit/,
  sr: /^Mali Vision Transformer je čita/,
  es: /^Un pequeño Vision Transformer lo lee/,
  zh: /^一个小型 Vision Transformer/,
};
const TAGS = { en: "en", de: "de", fr: "fr", sr: "sr-Latn", es: "es", zh: "zh-Hans" };

describe("the page in other languages", { skip }, () => {
  const browser = withBrowser();

  const inTag = (page, tag) => page.locator(`html[lang=${tag}]`).waitFor({ state: "attached" });
  const choose = async (page, code) => {
    await page.selectOption("#language", code);
    await inTag(page, TAGS[code]);
    await settled(page);
  };
  const lead = (page) => page.locator("#draw .lead").textContent().then((text) => text.trim());
  const announcement = (page) => page.locator("#announce").textContent();

  test("a German browser gets German: texts, numbers, the answer's announcement, no trouble", async () => {
    const { page } = await browser.visit({ locale: "de-DE" });
    await inTag(page, "de");
    assert.match(await lead(page), LEAD.de);
    assert.equal(await page.title(), "Vitrine: ein Vision Transformer hinter Glas");
    assert.equal(await page.inputValue("#language"), "de");
    assert.match(await page.locator("#status").textContent(), /^(Bereit|\d+(,\d)? ms je Zeichnung)$/);
    await ink(page, DIGITS[7]);
    const { label, p } = await prediction(page);
    assert.equal(label, "7");
    assert.ok(Number(p) > 0.5, "data-p is a plain number");
    const text = await page.locator("#bars .best span").textContent();
    const percent = Number(p) > 0.9995 ? "> 99,9" : (100 * Number(p)).toFixed(1).replace(".", ",");
    assert.equal(text, `${percent}\u00a0%`);
    assert.match(await announcement(page), /^Gelesen als 7, (> )?\d+,\d\u00a0%\. Am meisten auf Zeile [1-7], Spalte [1-7]: \d+(,\d)?\u00a0%\.$/);
    assert.match(await page.locator("#explanation").textContent(), /^Aufmerksamkeit des Klassentokens/);
    assert.equal(await page.locator("#pad").getAttribute("aria-roledescription"), "Zeichenblatt");
  });

  test("a choice by hand changes everything, keeps the drawing, and stays after a reload", async () => {
    const { page } = await browser.visit();
    await openCloser(page);
    await ink(page, DIGITS[7]);
    const [padPicture, answer] = [await picture(page, "#pad"), await prediction(page)];
    await page.locator("#maps button").nth(1).click();
    for (const code of ["de", "fr", "sr", "es", "zh", "en", "fr"]) {
      await choose(page, code);
      assert.match(await lead(page), LEAD[code]);
      assert.equal(await picture(page, "#pad"), padPicture);
      assert.deepEqual(await prediction(page), answer);
      assert.equal(await page.inputValue("#head"), "1", "the chosen head stays");
    }
    assert.equal(await page.locator("#maps button").nth(1).getAttribute("aria-label"), "Couche 2, tête 1");
    assert.match(await page.locator("#head option").first().textContent(), /^moyenne$/);
    assert.match(await page.locator("#model option").nth(1).textContent(), /avec des convolutions avant/);
    assert.equal(await page.locator("#examples button").first().getAttribute("title"), "Un exemple\u202f: 0");
    assert.equal(await page.locator("#theme").getAttribute("aria-label"), "Utiliser des couleurs sombres");
    assert.match(await page.locator("#looks").textContent(), /^Il regarde /);
    await page.reload();
    await inTag(page, "fr");
    assert.match(await lead(page), LEAD.fr);
  });

  test("the paragraphs keep what stands inside them, in each language's order", async () => {
    const { page } = await browser.visit();
    await choose(page, "zh");
    const text = (selector) => page.locator(selector).first().evaluate((element) => element.textContent);
    assert.equal(await text("[data-text='page.patchesText']"), "切成 4\u00a0×\u00a04 像素的方块，每块逐行读取。");
    assert.equal(await page.locator("body > footer a[href*='2010.11929']").count(), 1);
    assert.match(await text(".keys"), /空格 落笔。Ctrl Z 撤销/);
    await choose(page, "en");
    assert.equal(await text("[data-text='page.patchesText']"), "Cut into squares of 4\u00a0×\u00a04 pixels, each read line by line.");
  });

  test("the address chooses before the browser, and a choice by hand takes it out of the address", async () => {
    const { page } = await browser.visit({ locale: "de-DE", address: `${browser.address}?lang=es` });
    await inTag(page, "es");
    await choose(page, "sr");
    assert.equal(new URL(page.url()).search, "");
    await page.reload();
    await inTag(page, "sr-Latn");
  });

  test("a browser without any of the languages gets English, and storage may be forbidden", async () => {
    const { page } = await browser.visit({
      locale: "hr-HR",
      before: (page) => page.addInitScript(() =>
        Object.defineProperty(globalThis, "localStorage", { get() { throw new DOMException("no", "SecurityError"); } })),
    });
    assert.match(await lead(page), LEAD.en);
    assert.equal(await page.locator("html").getAttribute("lang"), "en");
    await choose(page, "de");
    assert.match(await lead(page), LEAD.de);
  });

  test("the first prediction does not wait for the language", async () => {
    const { open, opened } = gate();
    const { page } = await browser.visit({
      locale: "de-DE",
      before: (page) => page.route(/\/de-[^/]*\.json$/, async (route) => (await opened, route.continue())),
    });
    await ink(page, DIGITS[7]);
    assert.equal((await prediction(page)).label, "7");
    assert.match(await lead(page), LEAD.en);
    open();
    await inTag(page, "de");
    assert.match(await page.locator("#caption").textContent(), /^sicher$/);
  });

  test("if a language does not load, English stays and the status line says so", async () => {
    let refused = false;
    const { page } = await browser.visit({
      locale: "de-DE",
      excused: /ERR_FAILED|503/,
      before: (page) => page.route(/\/de-[^/]*\.json$/, (route) => (refused ? route.fulfill({ status: 503, body: "{}" }) : route.abort())),
    });
    await page.locator("#status", { hasText: "Deutsch did not load, English stays" }).waitFor();
    assert.equal(await page.inputValue("#language"), "en");
    assert.match(await lead(page), LEAD.en);
    await choose(page, "es");
    refused = true;
    await page.selectOption("#language", "de");
    await page.locator("#status", { hasText: "Deutsch no se ha cargado, sigue Español" }).waitFor();
    assert.equal(await page.inputValue("#language"), "es");
  });

  test("the message about a model that does not load is in the chosen language, also after another choice", async () => {
    const { page } = await browser.visit({
      locale: "fr-FR",
      excused: /503/,
      before: (page) => page.route(/digits-large[^/]*\.safetensors$/, (route) => route.fulfill({ status: 503 })),
    });
    await inTag(page, "fr");
    await openCloser(page);
    await page.selectOption("#model", "digits-large");
    await page.locator("#status.failed", { hasText: "digits-large n’a pas été chargé, digits reste\u202f: le serveur a répondu 503" }).waitFor();
    await choose(page, "de");
    assert.match(await page.locator("#status").textContent(), /wurde nicht geladen, digits bleibt: der Server antwortete mit 503/);
    assert.equal(await page.locator("#retry").textContent(), "Noch einmal");
  });

  test("the story below is in the chosen language, and follows a change of language", async () => {
    const { page } = await browser.visit({ locale: "de-DE" });
    await inTag(page, "de");
    await ink(page, DIGITS[3]);
    await page.locator("#story").evaluate((story) => story.scrollIntoView());
    await page.locator("#rail-pad[aria-label='Zeichne auch hier']").waitFor();
    assert.equal(await page.locator("#score-title").textContent(), "Ein Score von Hand");
    await page.locator(".rail-patch", { hasText: /^Patch: Zeile \d, Spalte \d$/ }).waitFor();
    await choose(page, "es");
    await page.locator("#rail-pad[aria-label='Dibuja también aquí']").waitFor();
    assert.equal(await page.locator("#rail-pad").count(), 1);
    assert.ok((await painted(page, "#rail-pad")) > 0, "the drawing is on the new rail");
  });

  test("the second tab speaks the language too", async () => {
    const { page } = await browser.visit({ locale: "de-DE" });
    await inTag(page, "de");
    await page.locator("#tab-own").click();
    await page.locator("#own-random").click();
    await page.locator("#own-classes li").first().waitFor();
    assert.match(await page.locator("#own-caption").textContent(), /untrainiert/);
    await page.locator("#own-facts dt", { hasText: "Tempo" }).waitFor();
    await page.selectOption("#language", "zh");
    await inTag(page, "zh-Hans");
    await page.locator("#own-facts dt", { hasText: "速度" }).waitFor();
    assert.match(await page.locator("#own-photo").getAttribute("aria-label"), /^模型看到的：我们的示例$/);
    assert.equal(await page.locator("#own-pixels option").first().textContent(), "按文件，否则按 ImageNet");
  });

  test("on a screen 320 pixels wide everything fits in each language", async () => {
    const { page } = await browser.visit({ viewport: { width: 320, height: 560 } });
    const inside = (selector) => page.locator(selector).evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      const [text, box] = [range, element.parentElement].map((each) => each.getBoundingClientRect());
      return text.left >= box.left - 1 && text.right <= box.right + 1;
    });
    const scrolls = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    for (const code of Object.keys(LEAD)) {
      await choose(page, code);
      assert.ok(await inside("#hint"), `the example's hint, ${code}`);
    }
    await openCloser(page);
    for (const code of Object.keys(LEAD)) {
      await choose(page, code);
      await ink(page, DIGITS[3]);
      const rows = () => page.locator(".answer, .looks, .reading > .scale, #bars, .acts").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top + scrollY));
      const places = await rows();
      await page.locator("#clear").click();
      await ink(page, [[[20, 20], [80, 80]], [[80, 20], [20, 80]], [[10, 50], [90, 50]], [[50, 10], [50, 90]]]);
      assert.equal(await page.locator("#prediction.unsure").count(), 1);
      assert.ok(await inside("#caption") && await inside("#teach-this"), `a doubtful answer, ${code}`);
      assert.deepEqual(await rows(), places, `another answer moves nothing, ${code}`);
      const tops = await page.locator("header > *, #tabs button").evaluateAll((parts) =>
        parts.map((part) => {
          const { left, right, height } = part.getBoundingClientRect();
          return { left, right, height };
        }));
      for (const { left, right, height } of tops) assert.ok(left >= 0 && right <= 320 && height <= 46, `${code}: ${JSON.stringify(tops)}`);
      await page.locator("#clear").click();
      await settled(page);
      assert.ok(await inside("#hint"), `the hint of a blank pad, ${code}`);
      assert.deepEqual(await rows(), places, `nor does a blank pad, ${code}`);
      await page.locator("#code").scrollIntoViewIfNeeded();
      assert.ok((await scrolls()) <= 0, `the first tab does not scroll sideways, ${code}`);
      await page.locator("#tab-own").click();
      await page.locator("#own-pixels option").first().waitFor({ state: "attached" });
      assert.ok((await scrolls()) <= 0, `nor does the second, ${code}`);
      await page.locator("#tab-draw").click();
    }
  });
});
