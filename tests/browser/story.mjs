/** For tests of the story's chapters: opens a chapter, reads the drawing, and gives what the package says of it. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { unpack as unpackModels } from "../../web/base/pack.mjs";
import { typeOf } from "../../web/scripts/serve.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { ink, openCloser, settled, toChapter } from "./harness.mjs";

const root = new URL("../../", import.meta.url);
const file = (path) => readFileSync(new URL(path, root));

/** The bytes of a shipped model. */
export const weightsOf = (name) => file(`weights/${name}.safetensors`);
/** The small models and snapshots: { name: [{ step, weights }] }. */
export const packed = () => unpackModels(gunzipSync(file("weights/explain.safetensors.gz")));
export const accuracy = () => JSON.parse(file("web/demo/explain/accuracy.json"));

/** Draws on a new page, and goes to a chapter. */
export async function visitChapter(browser, id, strokes, options) {
  const visit = await browser.visit(options);
  await ink(visit.page, strokes);
  await toChapter(visit.page, id);
  return visit;
}

/** Goes to a chapter and waits for what its code builds. */
export async function openChapter(page, id, selector) {
  const chapter = page.locator(`#${id}`);
  await toChapter(page, id);
  await chapter.locator(selector).first().waitFor();
  return chapter;
}

/** Lets one of the page's models tell the story. */
export async function chooseModel(page, name) {
  await openCloser(page);
  await page.selectOption("#model", name);
  await page.locator("#status.ready").waitFor();
  await readBy(page, name === "digits" ? "plain" : "page");
}

/** Lets the plain model or the rail's other one read the drawing, and waits for its answer. */
export async function readBy(page, reader) {
  await page.locator(`#rail-reader input[value=${reader}]`).evaluate((input) => input.click());
  await settled(page);
}

export const dataOf = (page, selector) => page.locator(selector).evaluate((element) => ({ ...element.dataset }));

// ---- The visitor's drawing, as the page keeps it in the tab

const { drawingOf } = await importTypescript("web/demo/ink.ts");
const { unpack } = await importTypescript("web/demo/pack.ts");

/** What is on the pad, for classify in Node. Call it after a finished stroke. */
export const drawingOn = async (page) =>
  drawingOf(unpack(await page.evaluate(() => sessionStorage.getItem("vitrine-drawing"))));

/** The image with patch order[i] of 4 × 4 in place i of 7 × 7. */
export const scrambledBy = (image, order) => Float32Array.from(image, (_, i) => {
  const [y, x] = [Math.floor(i / 28), i % 28];
  const patch = order[7 * Math.floor(y / 4) + Math.floor(x / 4)];
  return image[28 * (4 * Math.floor(patch / 7) + (y % 4)) + 4 * (patch % 7) + (x % 4)];
});

// ---- Signs to teach, in several sizes

const around = (points, grow, across = 0) =>
  [points.map(([x, y]) => [50 + (x - 50) * grow + across, 50 + (y - 50) * grow])];
export const star = (grow, across) => around([[50, 14], [68, 82], [18, 39], [82, 39], [32, 82], [50, 14]], grow, across);
export const heart = (grow, across) =>
  around([[50, 82], [18, 50], [21, 25], [39, 21], [50, 36], [61, 21], [79, 25], [82, 50], [50, 82]], grow, across);

// ---- The package in the same browser, with the same weights

/** Serves the package to a page, and `weights` in place of the page's first model. */
export async function lend(page, weights) {
  await page.route("**/package/**", async (route) => {
    const path = new URL(route.request().url()).pathname.replace("/package/", "dist/");
    const body = await readFile(new URL(path, root));
    await route.fulfill({ body, contentType: typeOf(path) });
  });
  if (weights) await page.route("**/digits-*.safetensors", (route) => route.fulfill({ body: Buffer.from(weights) }));
}

const LENT = "/package/lent.safetensors";

/** Serves weights to a page that has the package, at the address that is returned. */
export async function lendWeights(page, weights) {
  const answer = (route) => route.fulfill({ body: Buffer.from(weights), contentType: "application/octet-stream" });
  await page.route(`**${LENT}`, answer); // the last route that fits is taken
  return LENT;
}

/** Everything that a run computes in one layer, as plain arrays: one entry a head. */
export async function insideOf(page, weights, layer) {
  const drawing = await drawingOn(page), address = await lendWeights(page, weights);
  return page.evaluate(async ({ drawing, address, layer }) => {
    const { Vit } = await import("/package/vit.js");
    const vit = await Vit.load(address);
    const { trace, attention, classes } = await vit.classify(drawing, { trace: true, attention: true });
    const all = Array.from({ length: vit.config.heads }, (_, head) => ({
      queries: [...trace.queries(layer, head)], keys: [...trace.keys(layer, head)], values: [...trace.values(layer, head)],
      scores: [...trace.scores(layer, head)], shares: [...attention.at(layer, head)],
    }));
    const { config } = vit;
    vit.dispose();
    return { heads: all, added: [...trace.added(layer, "attention")], config, tokens: attention.tokens, best: classes[0] };
  }, { drawing, address, layer });
}
