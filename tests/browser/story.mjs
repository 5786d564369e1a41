/** For tests of the story's chapters: opens a chapter, and gives what its models say, by the package. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { unpack } from "../../web/demo/explain/pack.mjs";
import { draw, toChapter } from "./harness.mjs";

const file = (path) => readFileSync(new URL(`../../${path}`, import.meta.url));

/** The small models and snapshots: { name: [{ step, weights }] }. */
export const packed = () => unpack(gunzipSync(file("weights/explain.safetensors.gz")));
export const accuracy = () => JSON.parse(file("web/demo/explain/accuracy.json"));

/** Draws, and scrolls to a chapter. */
export async function openChapter(browser, id, strokes, options) {
  const visit = await browser.visit(options);
  await draw(visit.page, strokes);
  await toChapter(visit.page, id);
  return visit;
}

export const dataOf = (page, selector) => page.locator(selector).evaluate((element) => ({ ...element.dataset }));

const SIDE = 280, GRAIN = 8; // the pad's side, and the units in which a drawing is kept

/** The drawing on the pad, as the page keeps it for the next load (web/demo/pack.ts). */
export async function drawingOf(page) {
  const text = await page.evaluate(() => sessionStorage.getItem("vitrine-drawing"));
  const bytes = [...Buffer.from(text, "base64url")].slice(1, -4);
  const numbers = [];
  for (let at = 0, value = 0, unit = 1; at < bytes.length; at++) {
    value += (bytes[at] % 128) * unit;
    unit *= 128;
    if (bytes[at] > 127) continue;
    numbers.push(value);
    [value, unit] = [0, 1];
  }
  const signed = () => {
    const value = numbers.shift();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  };
  const strokes = [];
  while (numbers.length > 0) {
    const head = numbers.shift(), now = [0, 0, 0];
    strokes.push(Array.from({ length: head >> 1 }, (_, point) => {
      for (let i = 0; i < (head & 1 || point === 0 ? 3 : 2); i++) now[i] += signed();
      const [x, y, width] = now.map((value) => value / GRAIN);
      return { x, y, width };
    }));
  }
  return { strokes, width: SIDE, height: SIDE };
}
