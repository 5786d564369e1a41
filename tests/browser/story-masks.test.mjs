// Encoder, decoder: the model's own scores under three masks.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { DIGITS, ink, settled, skip, withBrowser } from "./harness.mjs";
import { chooseModel, insideOf, lend, openChapter, readBy, weightsOf } from "./story.mjs";

const T = 50; // of all models of the page: the class token and 7 × 7 patches

describe("encoder, decoder", { skip }, () => {
  const browser = withBrowser();
  let page, chapter;
  before(async () => {
    ({ page } = await browser.visit({ before: (page) => lend(page) }));
    await ink(page, DIGITS[4]);
    chapter = await openChapter(page, "masks", ".grid canvas");
  });

  const row = async () => (await chapter.locator(".grid[data-mask]").getAttribute("data-row")).split(" ").map(Number);
  const choose = async (mask) => {
    await chapter.locator(`input[value=${mask}] + span`).click();
    await chapter.locator(`.grid[data-mask=${mask}]`).waitFor();
  };

  /** The softmax of those scores that `sees` leaves. */
  function masked(scores, sees) {
    const powers = scores.map((score, j) => (sees(j) ? Math.exp(score) : 0));
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / sum);
  }

  function close(got, want, what) {
    assert.equal(got.length, want.length, what);
    got.forEach((share, j) => {
      assert.ok(Math.abs(share - want[j]) <= 1e-5 * want[j], `${what} ${j}: ${share}, not ${want[j]}`);
    });
    assert.ok(Math.abs(got.reduce((a, b) => a + b) - 1) < 1e-12, `${what}: the row sums to 1`);
  }

  for (const model of ["digits", "digits-stem"]) {
    test(`${model}: each mask gives the softmax of the scores that it leaves`, async () => {
      await chooseModel(page, model);
      await page.selectOption("#rail-layer", "2");
      await page.selectOption("#rail-head", "2");
      await settled(page);
      const { heads } = await insideOf(page, weightsOf(model), 1);
      const { scores, shares } = heads[1];
      const [, down, across] = (await page.locator(".rail-patch").textContent()).match(/row (\d), column (\d)/);
      const query = 1 + 7 * (down - 1) + (across - 1);
      const own = scores.slice(query * T, (query + 1) * T);
      await choose("full");
      close(await row(), masked(own, () => true), "full");
      const real = shares.slice(query * T, (query + 1) * T);
      (await row()).forEach((share, j) => assert.ok(Math.abs(share - real[j]) <= 1e-5 * Math.max(...real), `share ${j}`));
      await choose("causal");
      close(await row(), masked(own, (j) => j <= query), "causal");
      await choose("cross");
      close(await row(), masked(scores.slice(1, T), () => true), "cross: the class token asks the patches");
    });
  }

  test("arrow keys choose a mask, and another drawing gives another matrix", async () => {
    await chapter.locator("input[value=full]").check({ force: true });
    for (const mask of ["causal", "cross"]) {
      await page.keyboard.press("ArrowRight");
      await chapter.locator(`.grid[data-mask=${mask}]`).waitFor();
    }
    assert.match(await chapter.locator(".masked").textContent(), /^0 of 49 cells are masked\.$/);
    const before = await row();
    await ink(page, DIGITS[1]);
    await openChapter(page, "masks", ".grid canvas");
    await page.waitForFunction((before) => document.querySelector("#masks .grid[data-mask]").dataset.row !== before, before.join(" "));
  });

  test("masked cells are hatched and named, and a causal class token sees only itself", async () => {
    const canvas = chapter.locator(".grid[data-mask] .grid-scroll canvas");
    const words = () => chapter.locator(".grid[data-mask] .grid-words").textContent();
    const colours = () => canvas.evaluate((canvas) => {
      const cell = canvas.width / 50;
      const { data } = canvas.getContext("2d").getImageData(40 * cell, 10 * cell, cell - 1, cell - 1); // row 10, column 40
      return new Set(new Uint32Array(data.buffer)).size;
    });
    await choose("full");
    assert.equal(await colours(), 1, "a share is one colour");
    await choose("causal");
    assert.ok((await colours()) > 1, "a hatched cell has lines");
    assert.match(await chapter.locator(".masked").textContent(), /^1,225 of 2,500 cells are masked\.$/);
    assert.match(await page.locator("#announce").textContent(), /1,225 of 2,500 cells are masked/);
    assert.match(await chapter.locator(".sees").textContent(), /^The query of row 4, column 4 sees 26 of 50 tokens; its shares sum to 1\.000000\.$/);

    await canvas.focus();
    await page.keyboard.press("ArrowDown"); // the first key shows the cursor at the first cell
    assert.match(await words(), /^query of class token, key of class token: > 99\.9 %$/);
    await page.keyboard.press("ArrowRight");
    assert.match(await words(), /^query of class token, key of row 1, column 1: masked$/);
    await page.keyboard.press("Enter");
    assert.deepEqual(await row(), [1, ...Array(T - 1).fill(0)]);
    assert.match(await chapter.locator(".sees").textContent(), /class token sees 1 of 50 tokens/);
    for (let i = 0; i < 2; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.match(await page.locator(".rail-patch").textContent(), /row 1, column 2/);
    assert.match(await chapter.locator(".sees").textContent(), /row 1, column 2 sees 3 of 50 tokens/);
  });

  test("the question's truth is the first token's row under the causal mask, which the check shows", async () => {
    await choose("full");
    for (const [name, right] of [["all of it", false], ["nothing", true]]) {
      await chapter.getByRole("button", { name, exact: true }).click();
      await chapter.locator(`.truth[data-right=${right}]`).waitFor();
    }
    assert.match(await chapter.locator(".truth").textContent(), /It sees 0 of 49 patches: > 99\.9 %/);
    assert.equal(await chapter.locator(".grid[data-mask]").getAttribute("data-mask"), "causal");
    assert.deepEqual(await row(), [1, ...Array(T - 1).fill(0)]);
  });

  test("what a block costs follows the shapes in the model's file, and attention costs more than the MLP from T = M on", async () => {
    await readBy(page, "plain");
    const bytes = weightsOf("digits"), length = Number(bytes.readBigUInt64LE(0));
    const { "blocks.0.mlp.fc1.weight": { shape: [M, D] } } = JSON.parse(bytes.subarray(8, 8 + length));
    const costs = chapter.locator(".cost-at"), slider = chapter.locator("#masks-side");
    for (const side of [7, 14, 15, 32]) {
      await slider.fill(String(side));
      const { tokens, between, mlp, windows } = await costs.evaluate(({ dataset }) => ({ ...dataset }));
      const all = side * side + 1;
      let [dots, hidden] = [0, 0];
      for (let query = 0; query < all; query++) dots += all * D + all * D; // q·k with every key, and a weight times every value
      for (let token = 0; token < all; token++) hidden += D * M + M * D;
      assert.deepEqual([tokens, between, mlp, windows].map(Number), [all, dots, hidden, all * 49 * 2 * D]);
      assert.equal(Number(between) > Number(mlp), all > M);
      assert.match(await costs.textContent(), new RegExp(`^${4 * side} × ${4 * side} pixels: ${all.toLocaleString("en")} tokens\\.`));
    }
    assert.equal(await chapter.locator(".cost .chart text", { hasText: "T = M" }).textContent(), `T = M = ${M}`);
    assert.equal(await slider.getAttribute("aria-valuetext"), await costs.textContent());
  });

  test("what came before: each drawing has its sentence, and each paper its link", async () => {
    const fold = chapter.locator(".more", { has: page.locator(".before") });
    assert.equal(await fold.locator("svg").first().isVisible(), false);
    await fold.locator("summary").click();
    const links = await fold.locator("figure:has(svg) figcaption a").evaluateAll((all) => all.map(({ href }) => href.replace("https://arxiv.org/abs/", "")));
    assert.deepEqual(links, ["1409.0473", "1502.03044", "2101.11986", "2103.14030", "2104.11227", "2005.12872"]);
    const empty = await fold.locator("svg").evaluateAll((all) => all.filter((svg) => {
      const { x, y, width, height } = svg.getBBox(), { viewBox: { baseVal: box } } = svg;
      return !(width > 100 && height > 40 && x >= 0 && y >= 0 && x + width <= box.width && y + height <= box.height);
    }).length);
    assert.equal(empty, 0, "a drawing fills its place and stays in it");
  });
});
