// The service worker: a page that was loaded once works offline, a page on a static host is
// isolated, and a newer build replaces an older one.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pageFolder } from "../../web/scripts/build.mjs";
import { DIGITS, ink, painted, prediction, settled, skip, withBrowser } from "./harness.mjs";
import { DOWN, openHost, stored, until } from "./host.mjs";

const AT = "/some/where/";
const isModel = (path) => /digits-(?!plain|large)/.test(path);
const ready = (page) => page.locator("#status.ready").waitFor();
/** Loads the random model, as soon as the tab's code has loaded. */
async function random(page) {
  await page.locator("#own-pixels option").first().waitFor({ state: "attached" });
  await page.click("#own-random");
}
const waitForPhoto = (page) => page.locator("#own-facts", { hasText: "ms a photo" }).waitFor();

describe("a page that was loaded once", { skip }, () => {
  const here = withBrowser({ at: AT });

  test("a page that was loaded once opens, reads a drawing and opens the own tab while its host fails", async () => {
    const { page } = await here.visit({ stores: true });
    await stored(page);
    const reads = async (digit) => {
      await ready(page);
      await ink(page, DIGITS[digit]);
      assert.equal((await prediction(page)).label, digit);
    };
    const opensOwn = async () => {
      await page.click("#tab-own");
      await random(page);
      await waitForPhoto(page);
    };
    here.host.rule = () => DOWN;
    await reads("1"); // in the page's first load
    await opensOwn();
    await page.click("#tab-draw");
    await ready(page);
    await settled(page);
    assert.equal((await prediction(page)).label, "1");
    for (const rule of [DOWN, 503]) {
      here.host.rule = () => rule;
      await page.goto(`${here.host.address}?model=digits`);
      await ready(page);
      await page.click("#clear");
      await reads("7");
      assert.equal(await page.locator(".failed").count(), 0);
    }
    await opensOwn();
    assert.equal(await page.locator(".failed").count(), 0);
  });

  test("a stored page opens when its host does not answer for long, and stays when it answers late", async () => {
    const { page } = await here.visit({ stores: true });
    await stored(page);
    let answer;
    here.host.rule = (path) => path === "index.html" && new Promise((later) => (answer = later));
    await page.goto(here.host.address);
    await ready(page);
    assert.ok(answer, "the host was asked");
    answer(503);
    await ink(page, DIGITS[7]);
    assert.equal((await prediction(page)).label, "7");
  });
});

describe("a page on a static host", { skip }, () => {
  const here = withBrowser({ at: AT });

  /** Visits the page and counts its loads. */
  async function counted(options) {
    let loads = 0;
    const visited = await here.visit({
      stores: true,
      ...options,
      before: async (page) => {
        page.on("load", () => loads++);
        await options?.before?.(page);
      },
    });
    return { ...visited, loads: () => loads };
  }

  test("a page on a static host reloads once when the own tab opens; it is then isolated, has threads and keeps the drawing", async () => {
    const { page, loads } = await counted();
    await stored(page);
    assert.equal(await page.evaluate(() => crossOriginIsolated), false);
    await ink(page, DIGITS[7]);
    const before = await prediction(page);
    assert.equal(before.label, "7");
    await page.click("#tab-own");
    await page.waitForFunction(() => crossOriginIsolated);
    assert.ok(await page.locator("#own").isVisible());
    await random(page);
    await waitForPhoto(page);
    const cores = await page.evaluate(() => navigator.hardwareConcurrency);
    if (cores > 1) assert.match(await page.locator("#own-facts").textContent(), /\d threads\)/);
    await page.click("#tab-draw");
    await ready(page);
    await settled(page);
    assert.deepEqual(await prediction(page), before);
    await page.click("#tab-own");
    await page.locator("#own-pixels option").first().waitFor({ state: "attached" });
    assert.equal(loads(), 2);
  });

  test("in an engine that does not isolate it, a page reloads only once and still opens the own tab", async () => {
    const { page, loads } = await counted({
      before: (page) =>
        page.addInitScript(() => Object.defineProperty(globalThis, "crossOriginIsolated", { value: false })),
    });
    await stored(page);
    const opened = () => page.locator("#own-pixels option").first().waitFor({ state: "attached" });
    await page.click("#tab-own");
    await opened();
    assert.equal(loads(), 2);
    await page.click("#tab-draw");
    await page.click("#tab-own");
    await page.reload();
    await opened();
    assert.equal(loads(), 3);
  });

  test("a page on a static host is isolated from its second load on and does not reload itself", async () => {
    const { page, loads } = await counted();
    await stored(page);
    await page.reload();
    await ready(page);
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await page.click("#tab-own");
    await page.locator("#own-pixels option").first().waitFor({ state: "attached" });
    assert.equal(loads(), 2);
  });

  test("the page's manifest has no errors, relative addresses, and icons of the sizes that it names", async () => {
    const { page } = await here.visit({ ready: false });
    const session = await page.context().newCDPSession(page);
    const { url, errors, data } = await session.send("Page.getAppManifest");
    assert.deepEqual(errors, []);
    const manifest = JSON.parse(data);
    assert.equal(new URL(manifest.start_url, url).href, here.host.address);
    assert.equal(new URL(manifest.scope, url).href, here.host.address);
    assert.ok(manifest.icons.some(({ sizes }) => sizes === "512x512"));
    for (const { src, sizes } of manifest.icons) {
      assert.doesNotMatch(src, /^(\/|\w+:)/);
      const picture = await page.evaluate(async (src) => {
        const image = await createImageBitmap(await (await fetch(src)).blob());
        return `${image.width}x${image.height}`;
      }, new URL(src, url).href);
      assert.equal(picture, sizes, src);
    }
  });
});

describe("a newer build of the page", { skip }, () => {
  const browser = withBrowser();
  let host;
  const older = mkdtempSync(join(tmpdir(), "vitrine-older-"));
  before(async () => {
    makeOlder(older);
    host = await openHost({ folder: older });
  });
  after(() => {
    host?.close();
    rmSync(older, { recursive: true });
  });

  const builds = (page) => page.evaluate(() => caches.keys());
  /** Waits until no other service worker installs or waits. */
  const active = (page) =>
    until(page, async () => {
      const { installing, waiting, active } = await navigator.serviceWorker.getRegistration();
      return !installing && !waiting && active?.state === "activated";
    });
  const waitForCaches = (page, count) => until(page, async (count) => (await caches.keys()).length === count, count);

  test("a newer build replaces the older one in the store, but not while a page of the older one is open", async () => {
    const { page: old } = await browser.visit({ address: host.address, stores: true });
    await stored(old);
    const [before] = await builds(old);
    host.folder = pageFolder;
    const now = await old.context().newPage();
    await now.emulateMedia({ reducedMotion: "reduce" });
    await now.goto(host.address);
    await ready(now);
    await waitForCaches(now, 2);
    await active(now);
    await now.reload();
    await ready(now);
    assert.ok((await builds(now)).includes(before), "the older files are still there");
    await old.evaluate(() => sessionStorage.setItem("vitrine-isolating", "yes")); // no reload
    await old.click("#tab-own");
    await random(old);
    await waitForPhoto(old);
    await old.close();
    await now.reload();
    await ready(now);
    await waitForCaches(now, 1);
    assert.ok(!(await builds(now)).includes(before));
    host.rule = () => DOWN;
    await now.reload();
    await ready(now);
    await settled(now);
    assert.ok((await painted(now, "#pad")) > 0);
  });
});

/** Copies the built page as another build: with another number and another name of own code. */
function makeOlder(folder) {
  cpSync(pageFolder, folder, { recursive: true });
  const names = readdirSync(join(folder, "assets")).filter((name) => /\.js$/.test(name));
  const own = names.find((name) => /^main-/.test(name));
  const build = /vitrine-build" content="(\w+)"/.exec(readFileSync(join(folder, "index.html"), "utf8"))[1];
  for (const name of ["index.html", "sw.js", ...names.map((name) => `assets/${name}`)]) {
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replaceAll(build, "0".repeat(16)).replaceAll(own, "older.js"));
  }
  renameSync(join(folder, "assets", own), join(folder, "assets", "older.js"));
}

describe("a failure of the line", { skip }, () => {
  const here = withBrowser({});
  const visit = (options) => here.visit({ excused: /Failed to load/, ...options });

  const lineError = async (status) => {
    await status.locator("button", { hasText: "Retry" }).waitFor();
    const text = await status.textContent();
    assert.match(text, /check the connection, then Retry/);
    assert.doesNotMatch(text, /https?:|127\.0|\/assets|\.js|undefined/);
    return text;
  };

  test("if the own tab's code does not load, the page says how to mend it, and reopening or Retry loads it", async () => {
    for (const again of ["#tab-own", "#own-retry"]) {
      here.host.rule = () => undefined;
      const { page, close } = await visit();
      let requests = 0;
      here.host.rule = () => (requests++, DOWN);
      await page.click("#tab-own");
      const status = page.locator("#own-status");
      await lineError(status);
      const before = requests;
      const retry = await page.$("#own-retry");
      await retry.click(); // still down
      await page.waitForFunction((button) => !button.isConnected, retry); // the failure is told anew
      assert.ok(requests > before, "Retry asked for nothing");
      await lineError(status);
      here.host.rule = () => undefined;
      if (again === "#tab-own") await page.click("#tab-draw");
      await page.click(again);
      await page.locator("#own-pixels option").first().waitFor({ state: "attached" });
      assert.equal(await page.locator("#own-retry").count(), 0);
      await random(page);
      await waitForPhoto(page);
      await close();
    }
  });

  test("if the model does not load because the host is down or answers 503, the page says how to mend it, and Retry loads it", async () => {
    let rule = DOWN;
    here.host.rule = (path) => (isModel(path) ? rule : undefined);
    const { page } = await visit({ ready: false });
    assert.match(await lineError(page.locator("#status")), /broke off/);
    rule = 503;
    await page.click("#retry");
    await page.locator("#status", { hasText: "503" }).waitFor();
    assert.match(await lineError(page.locator("#status")), /503/);
    rule = undefined;
    await page.click("#retry");
    await ready(page);
    await ink(page, DIGITS[7]);
    assert.equal((await prediction(page)).label, "7");
  });

  test("if a checkpoint's reader does not load in the own tab, the page says how to mend it, and Retry loads it", async () => {
    const { page } = await visit();
    await page.click("#tab-own");
    await page.locator("#own-pixels option").first().waitFor({ state: "attached" });
    here.host.rule = () => DOWN;
    const files = [{ name: "model.pt", mimeType: "", buffer: Buffer.from([80, 75, 3, 4, ...Array(60).fill(0)]) }];
    await page.setInputFiles("#own-files-input", files);
    await lineError(page.locator("#own-status"));
    here.host.rule = () => undefined;
    await page.click("#own-retry");
    await page.locator("#own-status", { hasText: "cannot be read" }).filter({ hasNotText: "connection" }).waitFor();
  });
});
