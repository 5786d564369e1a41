// A slow line: the int8 model reads until the real model has loaded. Either of them may fail.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { describe, test } from "node:test";
import { DIGITS, gate, ink, openCloser, prediction, settled, skip, withBrowser } from "./harness.mjs";
import { DOWN, stored } from "./host.mjs";

/** What Chromium says of a file that does not arrive. */
const FAILED = /Failed to load/;
const SLOW = 60_000; // bytes a second
const isInt8 = (path) => path.includes("digits-int8");
const isReal = (path) => /digits-(?!int8|plain|large)[^/]*\.safetensors$/.test(path);
const weights = ({ requests }) => requests.filter((path) => path.endsWith(".safetensors"));
const kB = (name) => {
  const { size } = statSync(new URL(`../../weights/${name}.safetensors`, import.meta.url));
  return `${Math.round(size / 1000)} kB of learnt numbers`;
};
const saysSlow = (page) =>
  page.addInitScript(() => Object.defineProperty(navigator, "connection", { value: { effectiveType: "3g" } }));

describe("a page on a slow line", { skip }, () => {
  const here = withBrowser({});

  const visit = (options) => here.visit({ ready: false, ...options });
  const ready = async (page, name) => {
    await page.locator("#running", { hasText: kB(name) }).waitFor({ state: "attached" });
    await page.locator("#status.ready").waitFor();
  };

  for (const [what, before, code] of [
    ["if the browser says that the line is slow", saysSlow, undefined],
    ["if the page's own files came slowly", undefined, SLOW],
  ]) {
    test(`${what}, the int8 model reads until the real model has loaded`, async () => {
      const real = gate();
      here.host.rule = (path) => (isReal(path) ? real.opened : path.endsWith(".safetensors") ? undefined : code);
      const { page } = await visit({ before });
      await page.locator("#bars [data-label]").first().waitFor({ state: "attached" });
      await page.waitForFunction(() => document.getElementById("layer").options.length > 0);
      await ink(page, DIGITS[7]);
      const light = await prediction(page);
      assert.equal(light.label, "7");
      assert.match(await page.locator("#status.loading").textContent(), /Fetching the model/);
      assert.deepEqual(weights(here.host).map(isInt8), [true, false]);
      assert.equal(await page.inputValue("#model"), "digits");
      real.open();
      await ready(page, "digits");
      await settled(page);
      const whole = await prediction(page);
      assert.equal(whole.label, "7");
      assert.notEqual(whole.p, light.p);
      assert.equal(new URL(page.url()).search, "");
      assert.equal(weights(here.host).length, 2);
    });
  }

  test("when the real model fails, the int8 model stays and the status says so with the remedy", async () => {
    here.host.rule = (path) => (isReal(path) ? DOWN : undefined);
    const { page } = await visit({ before: saysSlow, excused: FAILED });
    await page.locator("#retry").waitFor();
    const text = await page.locator("#status span").textContent();
    assert.match(text, /^digits did not load, its light form stays: .*check the connection, then Retry$/);
    assert.equal(await page.inputValue("#model"), "digits");
    await ink(page, DIGITS[7]);
    assert.equal((await prediction(page)).label, "7");
    await ready(page, "digits-int8");
  });

  test("after the real model failed, Retry fetches only the real model", async () => {
    here.host.rule = (path) => (isReal(path) ? 503 : undefined);
    const { page } = await visit({ before: saysSlow, excused: FAILED });
    await page.locator("#retry").waitFor();
    assert.match(await page.locator("#status").textContent(), /the server answered 503/);
    here.host.rule = () => undefined;
    here.host.requests = [];
    await page.click("#retry");
    await ready(page, "digits");
    assert.deepEqual(weights(here.host).map(isReal), [true]);
  });

  for (const [what, rule] of [
    ["does not arrive", DOWN],
    ["gets the answer 404", 404],
  ]) {
    test(`the real model still loads when the int8 model ${what}`, async () => {
      here.host.rule = (path) => (isInt8(path) ? rule : undefined);
      const { page } = await visit({ before: saysSlow, excused: FAILED });
      await ready(page, "digits");
      assert.ok(weights(here.host).some(isInt8));
      await ink(page, DIGITS[7]);
      assert.equal((await prediction(page)).label, "7");
    });
  }

  test("a model that is chosen while the int8 model loads is the model that stays", async () => {
    const int8 = gate();
    here.host.rule = (path) => (isInt8(path) ? int8.opened : undefined);
    const { page } = await visit({ before: saysSlow });
    await page.locator("#status.loading").waitFor();
    await openCloser(page);
    await page.selectOption("#model", "myvit");
    await ready(page, "myvit");
    int8.open();
    await ink(page, DIGITS[1]);
    await ready(page, "myvit");
    assert.equal(await page.inputValue("#model"), "myvit");
    assert.ok(!weights(here.host).some(isReal));
  });

  test("a stored model loads without its int8 form", async () => {
    const { page } = await visit({ before: saysSlow, stores: true });
    await ready(page, "digits");
    await stored(page);
    here.host.requests = [];
    await page.reload();
    await ready(page, "digits");
    assert.deepEqual(weights(here.host), []);
  });

  test("on a fast line the page fetches only the real model", async () => {
    const { page } = await visit();
    await ready(page, "digits");
    assert.deepEqual(weights(here.host).map(isReal), [true]);
  });

  test("with ink on the pad the caption never says that the page waits for ink", async () => {
    const model = gate();
    here.host.rule = (path) => (isReal(path) ? model.opened : undefined);
    const { page } = await visit();
    const caption = page.locator("#caption");
    await page.locator("#examples button").first().click();
    await caption.filter({ hasText: "Loading" }).waitFor();
    await page.evaluate(() => {
      globalThis.captions = [];
      const caption = document.getElementById("caption");
      new MutationObserver(() => captions.push(caption.textContent)).observe(caption, {
        childList: true, characterData: true, subtree: true,
      });
    });
    await page.locator("#examples button").nth(1).click();
    await ink(page, DIGITS[1]);
    model.open();
    await ready(page, "digits");
    await settled(page);
    await ink(page, [[[20, 20], [30, 30]]]);
    assert.match(await caption.textContent(), /sure|certain|knows/);
    const captions = await page.evaluate(() => globalThis.captions);
    assert.ok(captions.length > 0);
    assert.ok(!captions.includes("Waiting for ink"), captions.join(", "));
    await page.click("#clear");
    await caption.filter({ hasText: "Waiting for ink" }).waitFor();
  });

  test("without a model the caption says No model and does not ask for ink", async () => {
    here.host.rule = (path) => (isReal(path) ? DOWN : undefined);
    const { page } = await visit({ excused: FAILED });
    await page.locator("#retry").waitFor();
    await page.locator("#examples button").first().click();
    await page.locator("#caption", { hasText: "No model" }).waitFor();
  });
});
