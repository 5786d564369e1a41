import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { skipMedia } from "./browsers.mjs";
import { pageFolder } from "../../web/scripts/build.mjs";
import { serve } from "../../web/scripts/serve.mjs";
import { DIGITS, draw, gate, ink, openCloser, painted, prediction, settled, skip, withBrowser } from "./harness.mjs";
import { openHost } from "./host.mjs";

const WEIGHTS = "**/*.safetensors";

describe("the page", { skip }, () => {
  const browser = withBrowser();

  /** Visits the page and holds its weights back until `arrive` is called. */
  async function visitWithoutWeights(options) {
    const weights = gate();
    const before = (page) =>
      page.route(WEIGHTS, async (route) => {
        await weights.opened;
        await route.continue();
      });
    return { ...(await browser.visit({ ready: false, before, ...options })), arrive: weights.open };
  }

  test("a whole visit logs no error, breaks no security policy and sends requests only to its own server", async () => {
    const requests = [];
    const { page } = await browser.visit({
      reducedMotion: "no-preference",
      before: (page) => page.on("request", (request) => requests.push(request.url())),
    });
    await draw(page, DIGITS[4], { moves: 2 });
    await openCloser(page);
    for (const map of ["patch", "rollout", "class"]) await page.selectOption("#map", map);
    await page.click("#theme");
    await page.locator("#examples button").first().click();
    await settled(page);
    await page.click("#clear");
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(browser.address)),
      [],
    );
  });

  test("the error of wasm that does not load stays while the rest is downloaded", async () => {
    const host = await openHost(), ended = gate();
    host.rule = (path) => (path.endsWith(".wasm") ? 404 : path.endsWith(".safetensors") ? 2_000_000 : undefined);
    const { page } = await browser.visit({
      address: host.address,
      ready: false,
      excused: /404/,
      before: (page) => {
        for (const event of ["requestfinished", "requestfailed"])
          page.on(event, (request) => /\.safetensors$/.test(request.url()) && ended.open());
      },
    });
    await page.locator("#retry").waitFor();
    await ended.opened;
    await settled(page);
    assert.match(await page.locator("#status").textContent(), /did not load: .*404/);
    host.rule = () => undefined;
    await page.click("#retry");
    await page.locator("#status.ready").waitFor();
    host.close();
  });

  test("the status line says how long a warm prediction takes, and Look closer which build runs", async () => {
    const { page } = await browser.visit();
    await settled(page);
    // Where the example cannot be told to stand still, it is read several times while it is written.
    if (!skipMedia) assert.equal(await page.locator("#status").textContent(), "Ready", "the first prediction is not counted");
    await ink(page, DIGITS[1]);
    assert.match(await page.locator("#status").textContent(), /^(\d+\.\d|\d\d+) ms a drawing$/); // tenths below 10 ms
    await page.getByText("Look closer").click();
    assert.match(await page.locator("#running").innerText(), /^\d+ kB of learnt numbers, run by the \w+ build .*SIMD/);
  });

  test("an example is on the pad before the model has loaded", async () => {
    const { page, arrive } = await visitWithoutWeights();
    await page.locator("body.example").waitFor();
    await settled(page);
    assert.ok((await painted(page, "#pad")) > 1000);
    assert.match(await page.locator("#status").textContent(), /model/);
    arrive();
    await page.locator("#status.ready").waitFor();
    await settled(page);
    assert.notEqual(await page.locator("#prediction strong").textContent(), "");
  });

  test("a drawing made while the model loads is read when the model has loaded", async () => {
    const { page, arrive } = await visitWithoutWeights();
    await draw(page, DIGITS[1]);
    assert.equal((await prediction(page)).label, "");
    arrive();
    await page.locator("#status.ready").waitFor();
    await settled(page);
    assert.equal((await prediction(page)).label, "1");
  });

  const fulfil = (answer) => (route) => route.fulfill(answer);
  const broken = {
    "an HTML page instead of weights": fulfil({
      contentType: "text/html",
      body: "<!doctype html><title>Sign in</title>",
    }),
    "bytes that are no model": fulfil({ body: '\x10\0\0\0\0\0\0\0{"a":' }),
    "half a file": async (route) => {
      const response = await route.fetch();
      const body = await response.body();
      await route.fulfill({ body: body.subarray(0, body.length / 2) });
    },
  };
  for (const [what, answer] of Object.entries(broken)) {
    test(`the page reports ${what}, and Retry loads the model`, async () => {
      const { page } = await browser.visit({
        ready: false,
        before: (page) => page.route(WEIGHTS, answer),
      });
      const alert = page.locator("#status[role=alert]");
      await alert.waitFor();
      assert.match(await alert.locator("span").textContent(), /did not load: .{20,}/);
      await page.unroute(WEIGHTS);
      await page.click("#retry");
      await page.locator("#status.ready").waitFor();
      await ink(page, DIGITS[7]);
      assert.notEqual((await prediction(page)).label, "");
    });
  }

  test("in an engine without WebAssembly the page says so", async () => {
    const { page } = await browser.visit({
      ready: false,
      before: (page) => page.addInitScript(() => delete globalThis.WebAssembly),
    });
    await page.locator("#status[role=alert]").waitFor();
    assert.match(await page.locator("#status span").textContent(), /WebAssembly/);
  });

  test("the server of npm start isolates the page and sends the page's own policy", async () => {
    const server = await serve(pageFolder);
    const address = `http://localhost:${server.address().port}/`;
    const { page } = await browser.visit({ address });
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    const policy = (await fetch(address)).headers.get("content-security-policy");
    const meta = page.locator("meta[http-equiv=Content-Security-Policy]");
    assert.deepEqual(await meta.evaluateAll((all) => all.map((one) => one.content)), [policy]);
    server.closeAllConnections();
    server.close();
  });

  test("a page 320, 360 or 768 pixels wide does not scroll sideways, and its buttons are large enough for a thumb", async () => {
    const { page } = await browser.visit({ viewport: { width: 320, height: 740 }, hasTouch: true });
    await ink(page, DIGITS[7]);
    for (const width of [320, 360, 768]) {
      await page.setViewportSize({ width, height: 740 });
      await settled(page);
      const [content, view] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        innerWidth,
      ]);
      assert.ok(content <= view, `${content} pixels of content in ${view}`);
      for (const id of ["#undo", "#clear"]) {
        const { height } = await page.locator(id).boundingBox();
        assert.ok(height >= 44, `${id} is ${height} pixels high, ${width} wide`);
      }
      const { y, height } = await page.locator("#pad").boundingBox();
      if (width < 500) assert.ok(y + height <= 740, `the pad is in view, ${width} wide`);
    }
  });

  test("the theme follows the system, the button overrides it, and a reload keeps the choice", async () => {
    const { page } = await browser.visit({ colorScheme: "dark" });
    const wall = () =>
      page.evaluate(() => getComputedStyle(document.querySelector(".sheet")).backgroundColor);
    const dark = await wall();
    await page.click("#theme");
    const light = await wall();
    assert.notEqual(light, dark);
    await page.reload();
    await page.locator("#status.ready").waitFor();
    assert.equal(await wall(), light);
    await page.click("#theme");
    assert.equal(await wall(), dark);
  });
});
