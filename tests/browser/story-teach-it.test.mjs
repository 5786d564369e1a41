// The chapter "Teach it your own signs": what is taught is read, and the file says the same in Node.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { Vit } from "../../dist/vit.js";
import { DIGITS, ink, saved, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { drawingOn, heart, star } from "./story.mjs";

const GROWN = [0.75, 0.85, 0.95, 1.05];

describe("teach it", { skip }, () => {
  const browser = withBrowser();
  let page, close;
  before(async () => {
    await visit();
  });

  async function visit(address = `${browser.address}?model=digits-plain`, options = {}) {
    ({ page, close } = await browser.visit({ address, ...options }));
    await toChapter(page, "teach-it");
    await page.locator("#teach-it-keep").waitFor();
  }
  const status = () => page.locator("#teach-it-status").textContent();
  const press = (id) => page.locator(`#teach-it-${id}`).click();
  /** [sign, examples] of each row. */
  const shelf = () => page.locator("#teach-it-shelf [role=listitem]").evaluateAll((rows) =>
    rows.map(({ dataset }) => [dataset.label, Number(dataset.count)]));
  const cleared = () => page.waitForFunction(() => document.querySelector("#teach-it-keep").ariaDisabled === "true");

  /** Draws, and waits until the chapter has the drawing. */
  async function draw(strokes) {
    await ink(page, strokes);
    await has("#teach-it");
    await page.waitForFunction(() => document.querySelector("#teach-it-keep").ariaDisabled === "false");
  }
  /** Waits until an element is about the drawing that is on the pad. */
  const has = (selector) => page.waitForFunction((selector) =>
    document.querySelector(selector).dataset.drawing === sessionStorage.getItem("vitrine-drawing"), selector);
  async function keep(strokes, name) {
    await draw(strokes);
    await page.locator("#teach-it-name").fill(name);
    await press("keep");
    await cleared();
  }
  /** Presses Teach and waits for its end. */
  async function teach() {
    await press("teach");
    await page.waitForFunction(() => /^(It learnt|It could not|Stopped)/.test(document.querySelector("#teach-it-status").textContent));
    return status();
  }
  async function reads(strokes) {
    await page.locator("#rail button").first().evaluate((clear) => clear.click()); // Firefox would scroll to it
    await draw(strokes);
    const shown = page.locator("#teach-it-reads");
    await has("#teach-it-reads");
    await shown.waitFor();
    return shown.evaluate(({ dataset }) => ({ label: dataset.label, p: Number(dataset.p) }));
  }
  const download = async () => (await saved(page, () => press("download"))).bytes;

  test("says what is missing, and a thumbnail's click removes its example", async () => {
    await press("teach");
    assert.equal(await status(), "Keep some examples first.");
    for (const grow of GROWN.slice(0, 2)) await keep(star(grow), " ★ ");
    await press("teach");
    assert.equal(await status(), "★ needs one more example.");
    assert.deepEqual(await shelf(), [["★", 2]]);
    await page.getByRole("button", { name: "Remove example 1 of ★" }).click();
    assert.deepEqual(await shelf(), [["★", 1]]);
    await press("undo");
    assert.deepEqual(await shelf(), [["★", 2]]);
  });

  test("after one lesson it reads new drawings of both signs beside the digits", async () => {
    await keep(star(GROWN[2], 4), "★");
    await keep(star(GROWN[3], -4), "★");
    for (const grow of GROWN) await keep(heart(grow), "♥");
    assert.deepEqual(await shelf(), [["★", 4], ["♥", 4]]);
    assert.match(await teach(), /^It learnt that in [\d.]+ s, and of your 8 examples it now reads 8\.$/);
    await Promise.all(page.workers().map((worker) => worker.waitForEvent("close"))); // the trainer is disposed of
    assert.equal((await reads(star(0.9, 2))).label, "★");
    assert.equal((await reads(heart(0.9, -2))).label, "♥");
    for (const digit of [0, 1, 3, 4, 7]) assert.equal((await reads(DIGITS[digit])).label, String(digit));
  });

  test("its file reads the same in Node, and names its classes and tensors as others do", async () => {
    const shown = await reads(star(0.8));
    const bytes = await download(), vit = await Vit.load(bytes);
    const { classes } = await vit.classify(await drawingOn(page));
    assert.equal(classes[0].label, shown.label);
    assert.ok(Math.abs(classes[0].p - shown.p) < 1e-5, `${classes[0].p} and ${shown.p}`);
    assert.deepEqual([...vit.config.labels], [..."0123456789", "★", "♥"]);
    vit.dispose();
    const { tensors, config } = readSafetensors(bytes);
    assert.deepEqual(tensors.get("head.weight").shape, [12, 64]);
    assert.equal(config.examples.split("~").length, 8);
  });

  test("what it gets wrong is an example by one click, and Teach learns that too", async () => {
    await draw(star(0.7));
    await page.getByRole("button", { name: "Keep the drawing as an example of 7" }).click();
    await cleared();
    assert.match(await status(), /^Press “Teach” again/);
    assert.deepEqual(await shelf(), [["★", 4], ["♥", 4], ["7", 1]]);
    await press("undo");
    assert.deepEqual(await shelf(), [["★", 4], ["♥", 4]]);
  });

  test("another theme redraws the thumbnails, and a drawing that was added is not offered again", async () => {
    /** The first opaque colour of the first thumbnail. */
    const ink = () => page.evaluate(() => {
      const { data } = document.querySelector(".thumbnail canvas").getContext("2d").getImageData(0, 0, 96, 96);
      const inked = data.findIndex((value, index) => index % 4 === 3 && value === 255);
      return String(data.subarray(inked - 3, inked));
    });
    await keep(star(0.6), "★");
    await press("undo");
    const before = await ink();
    await page.locator("#theme").evaluate((button) => button.click()); // without a scroll to it
    while ((await ink()) === before) await settled(page);
    assert.equal(await page.locator("#teach-it-keep").getAttribute("aria-disabled"), "true");
    await page.locator("#theme").evaluate((button) => button.click());
  });

  test("Stop leaves the model as it was", async () => {
    const before = await download();
    await press("teach");
    await press("stop");
    await page.waitForFunction(() => document.querySelector("#teach-it-stop").hidden);
    assert.equal(await status(), "Stopped. The model is as it was before.");
    assert.deepEqual(await download(), before);
    assert.equal((await reads(heart(0.8))).label, "♥");
  });

  test("a reload finds examples and model, and Delete all deletes both", async () => {
    const before = await download();
    await page.getByText("Kept in this browser until you delete it.").waitFor();
    await page.reload();
    await page.locator("#status.ready").waitFor();
    await toChapter(page, "teach-it");
    await page.locator("#teach-it-shelf [data-label=♥]").waitFor();
    assert.deepEqual(await shelf(), [["★", 4], ["♥", 4]]);
    assert.deepEqual(await download(), before);
    assert.equal((await reads(star(0.8))).label, "★");
    await press("forget");
    assert.deepEqual(await shelf(), []);
    await page.locator("#teach-it-reads").waitFor({ state: "hidden" });
    await press("undo");
    assert.deepEqual(await shelf(), [["★", 4], ["♥", 4]]);
  });

  test("a file that is no model is refused, and one that was taught here brings its examples back", async () => {
    const taught = await download();
    const load = async (name, buffer) => {
      await page.locator("#teach-it-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(buffer) });
      await page.waitForFunction((name) => document.querySelector("#teach-it-status").textContent.startsWith(name), name);
    };
    for (const bad of [taught.subarray(0, 900), new Uint8Array(64), Buffer.from("PNG")]) {
      await load("bad.safetensors", bad);
      assert.match(await status(), /^bad\.safetensors was not taken: ./);
      assert.deepEqual(await shelf(), [["★", 4], ["♥", 4]]);
    }
    await press("forget");
    assert.deepEqual(await shelf(), []);
    await load("taught.safetensors", taught);
    assert.deepEqual(await shelf(), [["★", 4], ["♥", 4]]);
    assert.equal((await reads(heart(0.8))).label, "♥");
  });

  test("a link holds the examples, whatever their names; a damaged link is reported", async () => {
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new Error("no")) } }));
    await keep(star(0.8), "a.b~c% é");
    await press("link");
    await page.waitForFunction(() => location.hash.includes("signs="));
    const link = page.url();
    assert.ok(link.length < 4000, `${link.length} characters`);
    await close();
    await visit(link);
    await page.locator("#teach-it-shelf [role=listitem]").first().waitFor();
    assert.deepEqual(await shelf(), [["★", 4], ["♥", 4], ["a.b~c% é", 1]]);
    assert.match(await status(), /came with the link/);
    await close();
    await visit(link.replace(/signs=.{9}/, "signs=!"));
    await page.waitForFunction(() => /damaged/.test(document.querySelector("#teach-it-status").textContent));
    assert.deepEqual(await shelf(), []);
  });
});
