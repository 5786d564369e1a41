// A slow line: the int8 model reads until the real one has come, whichever of them fails.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { DIGITS, draw, openBrowser, prediction, settled, skip } from "./harness.mjs";
import { DOWN, openHost, stored } from "./host.mjs";

const SLOW = 60_000; // bytes a second
const isInt8 = (path) => path.includes("digits-int8");
const isReal = (path) => /digits-(?!int8|large)[^/]*\.safetensors$/.test(path);
const weights = ({ asked }) => asked.filter((path) => path.endsWith(".safetensors"));
const kB = (name) => {
  const { size } = statSync(new URL(`../../weights/${name}.safetensors`, import.meta.url));
  return `${Math.round(size / 1000)} kB of weights`;
};
const saysSlow = (page) =>
  page.addInitScript(() => Object.defineProperty(navigator, "connection", { value: { effectiveType: "3g" } }));

/** A promise, and what keeps it. */
function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}

describe("on a slow line", { skip }, () => {
  let browser;
  let host;
  before(async () => (browser = await openBrowser()));
  after(() => browser?.close());
  beforeEach(async () => (host = await openHost()));
  afterEach(() => host?.close());

  const visit = (options) => browser.visit({ address: host.address, ready: false, ...options });
  const ready = (page, name) => page.locator("#status.ready", { hasText: kB(name) }).waitFor();

  for (const [what, before, code] of [
    ["the browser says to be slow", saysSlow, undefined],
    ["the page's own files were slow on", undefined, SLOW],
  ]) {
    test(`that ${what}, the int8 model comes first and reads until the real one has come`, async () => {
      const real = gate();
      host.rule = (path) => (isReal(path) ? real.opened : path.endsWith(".safetensors") ? undefined : code);
      const { page, trouble, close } = await visit({ before });
      await page.locator("#bars [data-label]").first().waitFor({ state: "attached" });
      await page.waitForFunction(() => document.getElementById("layer").options.length > 0);
      await draw(page, DIGITS[7]);
      const light = await prediction(page);
      assert.equal(light.label, "7");
      assert.match(await page.locator("#status.loading").textContent(), /Fetching the model/);
      assert.deepEqual(weights(host).map(isInt8), [true, false]);
      assert.equal(await page.inputValue("#model"), "digits");
      real.open();
      await ready(page, "digits");
      await settled(page);
      const whole = await prediction(page);
      assert.equal(whole.label, "7");
      assert.notEqual(whole.p, light.p);
      assert.equal(new URL(page.url()).search, "");
      assert.equal(weights(host).length, 2);
      assert.deepEqual(trouble, []);
      await close();
    });
  }

  test("the int8 model stays when the real one fails, and the status says so with the remedy", async () => {
    host.rule = (path) => (isReal(path) ? DOWN : undefined);
    const { page, close } = await visit({ before: saysSlow });
    await page.locator("#retry").waitFor();
    const text = await page.locator("#status span").textContent();
    assert.match(text, /^digits did not load, its light form stays: .*check the connection, then Retry$/);
    assert.equal(await page.inputValue("#model"), "digits");
    await draw(page, DIGITS[7]);
    assert.equal((await prediction(page)).label, "7");
    await ready(page, "digits-int8");
    await close();
  });

  test("Retry after the real model failed fetches that alone", async () => {
    host.rule = (path) => (isReal(path) ? 503 : undefined);
    const { page, close } = await visit({ before: saysSlow });
    await page.locator("#retry").waitFor();
    assert.match(await page.locator("#status").textContent(), /the server answered 503/);
    host.rule = () => undefined;
    host.asked = [];
    await page.click("#retry");
    await ready(page, "digits");
    assert.deepEqual(weights(host).map(isReal), [true]);
    await close();
  });

  for (const [what, rule] of [
    ["does not come", DOWN],
    ["is answered with 404", 404],
  ]) {
    test(`the real model comes all the same when the int8 one ${what}`, async () => {
      host.rule = (path) => (isInt8(path) ? rule : undefined);
      const { page, close } = await visit({ before: saysSlow });
      await ready(page, "digits");
      assert.ok(weights(host).some(isInt8));
      await draw(page, DIGITS[7]);
      assert.equal((await prediction(page)).label, "7");
      await close();
    });
  }

  test("another choice made meanwhile is the one that stays", async () => {
    const int8 = gate();
    host.rule = (path) => (isInt8(path) ? int8.opened : undefined);
    const { page, close } = await visit({ before: saysSlow });
    await page.locator("#status.loading").waitFor();
    await page.selectOption("#model", "myvit");
    await ready(page, "myvit");
    int8.open();
    await draw(page, DIGITS[1]);
    await ready(page, "myvit");
    assert.equal(await page.inputValue("#model"), "myvit");
    assert.ok(!weights(host).some(isReal));
    await close();
  });

  test("a model that was stored is not preceded by its int8 form", async () => {
    const { page, close } = await visit({ before: saysSlow, stores: true });
    await ready(page, "digits");
    await stored(page);
    host.asked = [];
    await page.reload();
    await ready(page, "digits");
    assert.deepEqual(weights(host), []);
    await close();
  });

  test("a fast line fetches the real model alone", async () => {
    const { page, close } = await visit();
    await ready(page, "digits");
    assert.deepEqual(weights(host).map(isReal), [true]);
    await close();
  });

  test("the page never waits for ink while there is some, and says what it waits for", async () => {
    const model = gate();
    host.rule = (path) => (isReal(path) ? model.opened : undefined);
    const { page, close } = await visit();
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
    await draw(page, DIGITS[1]);
    model.open();
    await ready(page, "digits");
    await settled(page);
    await draw(page, [[[20, 20], [30, 30]]]);
    assert.match(await caption.textContent(), /Reads as|The model is/);
    const captions = await page.evaluate(() => globalThis.captions);
    assert.ok(captions.length > 0);
    assert.ok(!captions.includes("Waiting for ink"), captions.join(", "));
    await page.click("#clear");
    await caption.filter({ hasText: "Waiting for ink" }).waitFor();
    await close();
  });

  test("without a model the page does not ask for ink either", async () => {
    host.rule = (path) => (isReal(path) ? DOWN : undefined);
    const { page, close } = await visit();
    await page.locator("#retry").waitFor();
    await page.locator("#examples button").first().click();
    await page.locator("#caption", { hasText: "No model" }).waitFor();
    await close();
  });
});
