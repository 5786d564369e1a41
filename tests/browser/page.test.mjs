import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pageFolder } from "../../web/scripts/build.mjs";
import { serve } from "../../web/scripts/serve.mjs";
import { DIGITS, draw, openBrowser, painted, prediction, settled, skip } from "./harness.mjs";

const WEIGHTS = "**/*.safetensors";

describe("the page", { skip }, () => {
  let browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser?.close());

  test("a whole visit logs no error, breaks no security policy and asks only its own server", async () => {
    const asked = [];
    const { page, trouble, close } = await browser.visit({
      before: (page) => page.on("request", (request) => asked.push(request.url())),
    });
    await draw(page, DIGITS[4]);
    for (const map of ["patch", "rollout", "class"]) await page.selectOption("#map", map);
    await page.click("#theme");
    await page.locator("#examples button").first().click();
    await settled(page);
    await page.click("#clear");
    assert.deepEqual(trouble, []);
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(browser.address)),
      [],
    );
    await close();
  });

  test("wasm that does not come is an error that the rest of the download does not wipe away", async () => {
    let gone = true;
    const { page, close } = await browser.visit({
      ready: false,
      before: async (page) => {
        await page.route(/\.wasm$/, (route) => (gone ? route.fulfill({ status: 404 }) : route.continue()));
        await page.route(WEIGHTS, async (route) => {
          await new Promise((later) => setTimeout(later, 700));
          await route.continue();
        });
      },
    });
    await page.locator("#retry").waitFor();
    await page.waitForTimeout(1200);
    assert.match(await page.locator("#status").textContent(), /did not load: .*404/);
    gone = false;
    await page.click("#retry");
    await page.locator("#status.ready").waitFor();
    await close();
  });

  test("a line says how long a prediction takes and which build runs", async () => {
    const { page, close } = await browser.visit();
    await draw(page, DIGITS[1]);
    assert.match(
      await page.locator("#status").textContent(),
      /\d ms a prediction · (relaxed|simd128|scalar)/,
    );
    await close();
  });

  test("an example is on the pad before the model has come", async () => {
    let arrive;
    const coming = new Promise((resolve) => (arrive = resolve));
    const { page, close } = await browser.visit({
      ready: false,
      reducedMotion: "reduce",
      before: (page) =>
        page.route(WEIGHTS, async (route) => {
          await coming;
          await route.continue();
        }),
    });
    await page.waitForTimeout(300);
    assert.ok((await painted(page, "#pad")) > 1000);
    assert.match(await page.locator("#status").textContent(), /model/);
    arrive();
    await page.locator("#status.ready").waitFor();
    await settled(page);
    assert.notEqual(await page.locator("#prediction strong").textContent(), "");
    await close();
  });

  test("what is drawn while the model loads is read once it has come", async () => {
    let arrive;
    const coming = new Promise((resolve) => (arrive = resolve));
    const { page, close } = await browser.visit({
      ready: false,
      before: (page) =>
        page.route(WEIGHTS, async (route) => {
          await coming;
          await route.continue();
        }),
    });
    await draw(page, DIGITS[1]);
    assert.equal((await prediction(page)).label, "");
    arrive();
    await page.locator("#status.ready").waitFor();
    await settled(page);
    assert.equal((await prediction(page)).label, "1");
    await close();
  });

  const fulfil = (answer) => (route) => route.fulfill(answer);
  const broken = {
    "an HTML page instead of weights": fulfil({
      contentType: "text/html",
      body: "<!doctype html><title>Sign in</title>",
    }),
    "a missing file": fulfil({ status: 404, body: "not found" }),
    "a broken connection": (route) => route.abort(),
    "bytes that are no model": fulfil({ body: '\x10\0\0\0\0\0\0\0{"a":' }),
    "half a file": async (route) => {
      const response = await route.fetch();
      const body = await response.body();
      await route.fulfill({ body: body.subarray(0, body.length / 2) });
    },
  };
  for (const [what, answer] of Object.entries(broken)) {
    test(`${what} is reported in the page, and Retry loads the model`, async () => {
      const { page, close } = await browser.visit({
        ready: false,
        before: (page) => page.route(WEIGHTS, answer),
      });
      const alert = page.locator("#status[role=alert]");
      await alert.waitFor();
      assert.match(await alert.locator("span").textContent(), /did not load: .{20,}/);
      await page.unroute(WEIGHTS);
      await page.click("#retry");
      await page.locator("#status.ready").waitFor();
      await draw(page, DIGITS[7]);
      assert.notEqual((await prediction(page)).label, "");
      await close();
    });
  }

  test("an engine without WebAssembly is told so", async () => {
    const { page, close } = await browser.visit({
      ready: false,
      before: (page) => page.addInitScript(() => delete globalThis.WebAssembly),
    });
    await page.locator("#status[role=alert]").waitFor();
    assert.match(await page.locator("#status span").textContent(), /WebAssembly/);
    await close();
  });

  test("npm start's server isolates the page from others, and tells the page's own policy", async () => {
    const server = await serve(pageFolder);
    const address = `http://localhost:${server.address().port}/`;
    const { page, trouble, close } = await browser.visit({ address });
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    const said = (await fetch(address)).headers.get("content-security-policy");
    const meta = page.locator("meta[http-equiv=Content-Security-Policy]");
    assert.deepEqual(await meta.evaluateAll((all) => all.map((one) => one.content)), [said]);
    assert.deepEqual(trouble, []);
    await close();
    server.closeAllConnections();
    server.close();
  });

  for (const width of [320, 360, 768]) {
    test(`at ${width} pixels nothing sticks out sideways and the buttons suit a thumb`, async () => {
      const { page, close } = await browser.visit({
        viewport: { width, height: 740 },
        hasTouch: true,
      });
      await draw(page, DIGITS[7]);
      const [content, view] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        innerWidth,
      ]);
      assert.ok(content <= view, `${content} pixels of content in ${view}`);
      for (const id of ["#undo", "#clear"]) {
        const { height } = await page.locator(id).boundingBox();
        assert.ok(height >= 44, `${id} is ${height} pixels high`);
      }
      const { y, height } = await page.locator("#pad").boundingBox();
      if (width < 500) assert.ok(y + height <= 740, "the pad is in view");
      await close();
    });
  }

  test("dark follows the system, the button overrides it, and a reload remembers", async () => {
    const { page, close } = await browser.visit({ colorScheme: "dark" });
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
    await close();
  });
});
