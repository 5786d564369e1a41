// Positions and attention of a run on the page, beside the package in Node on the file that the page saves.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { saved, withBrowser } from "./harness.mjs";
import { choose, inPhase, needsMnist, press, visitLive } from "./live.mjs";
import { drawingOn } from "./story.mjs";

const POSITIONS = "#learning-live-positions", ATTENTION = "#learning-live-attention";

describe("a run from inside", needsMnist, () => {
  const browser = withBrowser();
  let page;
  before(async () => {
    ({ page } = await visitLive(browser));
  });

  /** A run with these positions, or the preset's own. Returns the file that the page saves. */
  const run = async (position, preset = "MyViT") => {
    await choose(page, preset, 2);
    if (position) await page.selectOption("#live-position", position);
    await page.locator("#learning-live-train").click();
    await inPhase(page, "finished");
    return (await saved(page, () => press(page, "Download the model"))).bytes;
  };
  /** Waits until a figure shows these values. */
  const shows = (figure, want) => page.waitForFunction(([figure, want]) => {
    const got = document.querySelector(`${figure} .grid canvas`)?.dataset.values?.split(" ").map(Number);
    return got?.length === want.length && got.every((value, at) => Math.abs(value - want[at]) < 1e-4);
  }, [figure, [...want]]);
  /** Chooses the patch in the corner of a grid by the keyboard, from wherever it is. */
  const chooseCorner = async (figure) => {
    await page.locator(`${figure} .grid canvas`).focus();
    for (const key of ["ArrowUp", "ArrowLeft"]) for (let at = 0; at < 7; at++) await page.keyboard.press(key);
    await page.keyboard.press("Enter");
  };

  test("learned positions: the chosen patch's cosines are those in the saved file", async () => {
    const { data } = readSafetensors(await run("learned")).tensors.get("pos_embed");
    const row = (patch) => data.subarray((1 + patch) * 8, (2 + patch) * 8), dot = (a, b) => a.reduce((sum, value, at) => sum + value * b[at], 0);
    const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
    const from = (patch) => Array.from({ length: 49 }, (_, other) => cosine(row(patch), row(other)));
    await chooseCorner(POSITIONS);
    await shows(POSITIONS, from(0));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await shows(POSITIONS, from(7));
    assert.match(await page.locator(`${POSITIONS} figcaption`).textContent(), /share a side: −?0\.\d\d; of all others: −?0\.\d\d\.$/);
  });

  test("each layer's and head's map is the one that the saved file gives", async () => {
    const vit = await Vit.load(await run("sincos1d"));
    const { attention } = await vit.classify(await drawingOn(page), { attention: true });
    await shows(ATTENTION, attention.fromClass(1, 0));
    for (const [layer, head] of [[0, 0], [0, 1], [1, 1]]) {
      await page.locator(ATTENTION).getByRole("button", { name: `Layer ${layer + 1}, head ${head + 1}` }).click();
      await shows(ATTENTION, attention.fromClass(layer, head));
      assert.equal(await page.locator(`${ATTENTION} figcaption`).textContent(), `Layer ${layer + 1}, head ${head + 1}`);
    }
    assert.equal(await page.locator(`${ATTENTION} .maps button`).count(), 4);
    vit.dispose();
  });

  test("computed positions, and none, are said to have nothing to learn", async () => {
    const says = page.locator(POSITIONS, { hasText: "Nothing to learn" });
    await says.waitFor();
    await run("none");
    await says.waitFor();
    assert.equal(await page.locator(`${POSITIONS} canvas`).count(), 0);
  });

  test("relative positions: each head's bias is the saved table's, seen from the middle", async () => {
    const { tensors } = readSafetensors(await run("relative"));
    for (const [layer, head] of [[0, 0], [1, 1]]) {
      const { data } = tensors.get(`blocks.${layer}.attn.rel_pos.relative_position_bias_table`);
      await page.locator(ATTENTION).getByRole("button", { name: `Layer ${layer + 1}, head ${head + 1}` }).click();
      await shows(POSITIONS, Array.from({ length: 169 }, (_, at) => data[(168 - at) * 2 + head]));
    }
  });

  test("a run of another shape gets figures of its own", async () => {
    const vit = await Vit.load(await run(undefined, "Ours, small"));
    const { attention } = await vit.classify(await drawingOn(page), { attention: true });
    await shows(ATTENTION, attention.fromClass(2, 0));
    assert.equal(await page.locator(`${ATTENTION} .maps button`).count(), 12);
    vit.dispose();
  });
});
