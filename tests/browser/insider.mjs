/** Reads the page's own drawing with the package, in the same browser and with the same weights. */
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { toChapter } from "./harness.mjs";

const root = new URL("../../", import.meta.url);
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm" };

/** Serves the package to a page, and `weights` in place of the page's first model. */
export async function lend(page, weights) {
  await page.route("**/package/**", async (route) => {
    const path = new URL(route.request().url()).pathname.replace("/package/", "dist/");
    const body = await readFile(new URL(path, root));
    await route.fulfill({ body, contentType: TYPES[extname(path)] ?? "application/octet-stream" });
  });
  if (weights) await page.route("**/digits-*.safetensors", (route) => route.fulfill({ body: Buffer.from(weights) }));
}

/** The strokes on the pad, as the page's code for Node has them. */
async function strokesOf(page) {
  await page.locator("#code").evaluate((button) => button.click());
  const text = await page.locator("#code-dialog code").textContent();
  await page.keyboard.press("Escape");
  await page.locator("#code-dialog").waitFor({ state: "hidden" });
  const [, list, pen] = /strokes = (\[[\s\S]*?\n\])\.map.*?width = ([\d.]+)\]/.exec(text);
  return JSON.parse(list.replace(/,(\s*\])/g, "$1")).map((stroke) =>
    stroke.map(([x, y, width = Number(pen)]) => ({ x, y, width })));
}

/** Everything that a run computes in one layer, as plain arrays: one entry a head. */
export async function insideOf(page, weights, layer) {
  const strokes = await strokesOf(page);
  return page.evaluate(async ({ strokes, bytes, layer }) => {
    const { Vit } = await import("/package/vit.js");
    const vit = await Vit.load(Uint8Array.from(bytes));
    const image = { strokes, width: 280, height: 280 };
    const { trace, attention, classes } = await vit.classify(image, { trace: true, attention: true });
    const all = Array.from({ length: vit.config.heads }, (_, head) => ({
      queries: [...trace.queries(layer, head)], keys: [...trace.keys(layer, head)], values: [...trace.values(layer, head)],
      scores: [...trace.scores(layer, head)], shares: [...attention.at(layer, head)],
    }));
    const { config } = vit;
    vit.dispose();
    return { heads: all, added: [...trace.added(layer, "attention")], config, tokens: attention.tokens, best: classes[0] };
  }, { strokes, bytes: [...weights], layer });
}

/** Goes to a chapter and waits for what its code builds. */
export async function openChapter(page, id, selector) {
  const chapter = page.locator(`#${id}`);
  await toChapter(page, id);
  await chapter.locator(selector).first().waitFor();
  return chapter;
}
