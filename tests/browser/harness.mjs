/** A browser that visits build/page, and a hand that draws. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import { withKeys } from "../../web/base/safetensors.mjs";
import { pageFolder } from "../../web/scripts/build.mjs";
import { launch, skip } from "./browsers.mjs";
import { openHost } from "./host.mjs";

export { skip };

/** One browser and one server of the page for all `describe`s of a process. They close when none has used them for a moment. */
let common, users = 0;
async function open() {
  if (!existsSync(join(pageFolder, "index.html"))) throw new Error("build/page is missing: run npm run build");
  const launched = await launch();
  return { launched, server: await openHost({ lasting: true }) };
}
async function shutUnused() {
  if (users > 0 || !common) return;
  const opened = common;
  common = undefined;
  const { server, launched } = (await opened.catch(() => {})) ?? {};
  await launched?.close();
  server?.close();
}

/**
 * Gives the tests of a `describe` a browser and a server of the page. A visit of a test ends with the test, one of `before`
 * with the `describe`. Its page may then have logged no error except what the visit's `excused` matches. With `each`, its
 * options, every test has a `host` of its own, and visits that.
 */
export function withBrowser(each) {
  const browser = { address: undefined, host: undefined, visit: visitPage }, ofAll = [], ofTest = [];
  let launched, visits = ofAll;
  async function visitPage({ excused, ...options } = {}) {
    const { address } = browser.host ?? browser, visited = await visit(launched, { address, ...options });
    visits.push({ ...visited, excused });
    return visited;
  }
  async function leave(list) {
    const all = list.splice(0);
    for (const { close } of all) await close();
    for (const { trouble, excused } of all) assert.deepEqual(trouble.filter((text) => !excused?.test(text)), []);
  }
  before(async () => {
    users++;
    const { server, launched: started } = await (common ??= open());
    browser.address = server.address;
    launched = started;
  });
  beforeEach(async () => {
    visits = ofTest;
    if (each) browser.host = await openHost(each);
  });
  afterEach(() => {
    visits = ofAll;
    return leave(ofTest).finally(() => browser.host?.close());
  });
  after(() => leave(ofAll).finally(() => --users === 0 && void setTimeout(shutUnused, 100)));
  return browser;
}

/** Chromium's advice to who reads a canvas more than once, as tests do. */
const ADVICE = /willReadFrequently/;

/** A browser's contexts by their options. Visits with equal options share a context and, in turn, its page. */
const contexts = new WeakMap();

/**
 * Opens the page as a new visitor sees it. `trouble` collects its errors. `before` may prepare the
 * page. `closer` opens *Look closer*. Unless `reducedMotion` is given, nothing moves, because frames
 * cost more than most of what is tested. Only with `stores` has it a service worker, whose requests
 * `page.route` does not see, and a context of its own. A visit beside another one has the same storage.
 */
export async function visit(browser, { address, before, ready = true, stores = false, closer = false, ...more }) {
  const { viewport = { width: 1200, height: 900 }, colorScheme = "light", reducedMotion = "reduce",
    forcedColors = "none", ...options } = more;
  const place = stores ? await opened(browser, options, stores) : await shared(browser, options);
  const page = place.page ?? (await place.context.newPage());
  place.page = undefined;
  const scripts = [], { addInitScript } = page;
  page.addInitScript = async (...script) => void scripts.push(await addInitScript.apply(page, script));
  const trouble = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !ADVICE.test(message.text())) trouble.push(message.text());
  });
  page.on("pageerror", (error) => trouble.push(error.message));
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion, forcedColors });
  const cleaning = await addInitScript.call(page, forget, place.visits++ === 0);
  await before?.(page);
  await page.goto(address);
  await cleaning.dispose();
  if (ready) await page.locator("#status.ready").waitFor();
  if (closer) await openCloser(page);
  let closed;
  return { page, trouble, close: () => (closed ??= leave()) };

  /** Makes the page new for the next visit. */
  async function leave() {
    place.visits--;
    if (stores) return place.context.close();
    if (place.page || page.isClosed()) return page.close();
    for (const event of page.eventNames())
      if (event !== "close") for (const listener of page.listeners(event)) page.off(event, listener); // Playwright listens to "close"
    page.addInitScript = addInitScript;
    for (const script of scripts) await script.dispose();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.goto("about:blank");
    await page.mouse.up();
    await page.mouse.move(0, 0);
    place.page = page;
  }
}

function shared(browser, options) {
  if (!contexts.has(browser)) contexts.set(browser, new Map());
  const places = contexts.get(browser), key = JSON.stringify(options);
  if (!places.has(key)) places.set(key, opened(browser, options));
  return places.get(key);
}

async function opened(browser, options, stores = false) {
  const context = await browser.newContext(options);
  await context.addInitScript(() =>
    addEventListener("securitypolicyviolation", (event) =>
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`),
    ),
  );
  if (!stores) await context.addInitScript(() => delete Navigator.prototype.serviceWorker);
  return { context, page: undefined, visits: 0 };
}

/** Deletes what earlier visits have stored, but leaves other open pages their part. Runs before the page's code. */
function forget(alone) {
  if (origin === "null") return; // in Firefox it runs in the blank page too
  sessionStorage.clear();
  if (!alone) return;
  localStorage.clear();
  void indexedDB.databases().then((all) => all.forEach(({ name }) => indexedDB.deleteDatabase(name)));
}

/** Opens *Look closer* and waits for what is in it. */
export const openCloser = (page) =>
  page.locator("#closer").evaluate(async (closer) => {
    if (!closer.open) await new Promise((opened) => {
      closer.addEventListener("toggle", opened, { once: true });
      closer.open = true;
    });
    while (closer.ariaBusy === "true") await new Promise(requestAnimationFrame);
  });

/** Strokes of digits as polylines, in a square of 100. */
export const DIGITS = {
  0: [
    [[50, 14], [36, 20], [27, 38], [27, 62], [36, 80], [50, 86], [64, 80], [73, 62], [73, 38],
     [64, 20], [50, 14]],
  ],
  1: [[[52, 14], [50, 50], [48, 86]]],
  3: [
    [[30, 24], [42, 14], [60, 15], [68, 28], [62, 42], [46, 48], [62, 54], [72, 68], [64, 82],
     [46, 87], [28, 78]],
  ],
  4: [[[42, 14], [28, 56], [74, 56]], [[62, 34], [58, 86]]],
  7: [[[26, 18], [74, 18], [46, 86]]],
};

/** A function from the pad's spots (x, y in 0..100) to page coordinates. */
export async function padSpots(page) {
  await page.locator("#pad").scrollIntoViewIfNeeded();
  const box = await page.locator("#pad").boundingBox();
  return ([x, y]) => [box.x + (x / 100) * box.width, box.y + (y / 100) * box.height];
}

/** Draws with the mouse, by `moves` from corner to corner. `during` is called after each line, with the button still down. */
export async function draw(page, strokes, { during, moves = 4 } = {}) {
  const spot = await padSpots(page);
  for (const stroke of strokes) {
    await page.mouse.move(...spot(stroke[0]));
    await page.mouse.down();
    for (const corner of stroke.slice(1)) {
      await page.mouse.move(...spot(corner), { steps: moves });
      await during?.();
    }
    await page.mouse.up();
  }
  await settled(page);
}

/** Draws at once, by a script's pointer: for tests of something else than drawing. A corner may have a pressure. */
export async function ink(page, strokes, { moves = 4, pointerType = "mouse", on = "#pad" } = {}) {
  await page.locator(on).evaluate((pad, { strokes, moves, pointerType }) => {
    const box = pad.getBoundingClientRect();
    const send = (type, x, y, pressure = 0.5) => pad.dispatchEvent(new PointerEvent(type, {
      pointerId: 5, pointerType, pressure, bubbles: true, button: 0, buttons: 1,
      clientX: box.x + (x / 100) * box.width, clientY: box.y + (y / 100) * box.height,
    }));
    for (const [first, ...corners] of strokes) {
      send("pointerdown", ...first);
      let [fromX, fromY] = first;
      for (const [x, y, pressure] of corners) {
        for (let move = 1; move <= moves; move++)
          send("pointermove", fromX + ((x - fromX) * move) / moves, fromY + ((y - fromY) * move) / moves, pressure);
        [fromX, fromY] = [x, y];
      }
      send("pointerup", fromX, fromY);
    }
  }, { strokes, moves, pointerType });
  await settled(page);
}

/**
 * Goes to a chapter of the story as a link does: it stays in place while the chapters above it load
 * and grow, which they do after a mere scroll too.
 */
export const toChapter = (page, id) =>
  page.evaluate((id) => {
    history.replaceState(null, "", location.pathname + location.search); // else the same link does nothing
    location.hash = id;
  }, id);

/** Waits until the page shows the answer for the drawing on the pad, and has what is in *Look closer*. */
export const settled = (page) =>
  page.evaluate(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const frames = async () => (await frame(), await frame());
    const end = performance.now() + 30_000;
    await frames();
    while (!document.querySelector("#prediction[aria-busy=false]") || document.querySelector(":is(#closer, #rail-answer)[aria-busy=true]")) {
      if (performance.now() > end) throw new Error("the answer never came");
      await frame();
    }
    await frames();
  });

/** The file that the page saves after `press`: its name and its bytes. Firefox tells a test of no download. */
export async function saved(page, press) {
  await page.evaluate(() => {
    const { createObjectURL } = URL, { click } = HTMLAnchorElement.prototype;
    globalThis.saved = new Promise((resolve) => {
      let blob;
      URL.createObjectURL = (source) => createObjectURL.call(URL, (blob = source));
      HTMLAnchorElement.prototype.click = function () {
        URL.createObjectURL = createObjectURL;
        HTMLAnchorElement.prototype.click = click;
        resolve({ name: this.download, blob });
      };
    });
  });
  await press();
  const { name, text } = await page.evaluate(async () => {
    const { name, blob } = await globalThis.saved, bytes = new Uint8Array(await blob.arrayBuffer());
    return { name, text: bytes.reduce((all, byte) => all + String.fromCharCode(byte), "") };
  });
  return { name, bytes: Buffer.from(text, "latin1") };
}

/** The text that the page copies after `press`. It is not read from the clipboard, which is one for all test files. */
export async function copied(page, press) {
  await page.evaluate(() => {
    const { clipboard } = navigator;
    globalThis.copied = new Promise((resolve, reject) => {
      clipboard.writeText = async (text) => {
        delete clipboard.writeText;
        await clipboard.writeText(text).then(() => resolve(text), reject);
      };
    });
  });
  await press();
  return page.evaluate(() => globalThis.copied);
}

/** A promise `opened` that resolves when `open` is called. */
export function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}

/** The bytes of a shipped model with changes in its config. */
export async function modelWith(name, more) {
  const bytes = await readFile(new URL(`../../weights/${name}.safetensors`, import.meta.url));
  return Buffer.from(withKeys(bytes, more).buffer);
}

/** The values of #prediction for programs. */
export async function prediction(page) {
  const { label, p } = await page
    .locator("#prediction")
    .evaluate((output) => ({ ...output.dataset }));
  return { label, p };
}

/** A canvas's pixels as a short string. Equal strings mean equal pictures. */
export function picture(page, selector) {
  return page.locator(selector).evaluate((canvas) => canvas.toDataURL());
}

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];

/** axe's violations of WCAG 2.1 A and AA, or of some rules, in an element, as "rule: the elements". */
export async function violations(page, within, runOnly = WCAG) {
  const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  // A script tag would need another policy, so the text runs as the driver's own.
  if (await page.evaluate(() => !globalThis.axe)) await page.evaluate(await readFile(axe, "utf8"));
  return page.evaluate(async ({ within, runOnly }) => {
    const { violations, passes } = await globalThis.axe.run(within, { runOnly, resultTypes: ["violations"] });
    if (passes.length === 0) return ["no rule was applied"];
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 4).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
  }, { within, runOnly });
}

/** Counts the pixels of a canvas that are not transparent. */
export function painted(page, selector) {
  return page.locator(selector).evaluate((canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d"); // Chromium warns of canvases that are read often
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
    return count;
  });
}
