// One score by hand: what the chapter shows is what the model computes, and numbers can be changed.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { skipMedia } from "./browsers.mjs";
import { DIGITS, ink, picture, settled, skip, withBrowser } from "./harness.mjs";
import { chooseModel, drawingOn, readBy, insideOf, lend, lendWeights, openChapter, packed, weightsOf } from "./story.mjs";

const numbers = (text) => text.split(" ").map(Number);
const most = (list) => Math.max(...list.map(Math.abs));
const part = (list, index, size) => list.slice(index * size, (index + 1) * size);

/** All numbers are finite and within 1e-5 of the largest, because sums may cancel. */
function close(got, want, what, tolerance = 1e-5) {
  assert.equal(got.length, want.length, what);
  const top = most(want);
  got.forEach((number, i) =>
    assert.ok(Math.abs(number - want[i]) <= tolerance * top, `${what} ${i}: ${number}, but the API has ${want[i]}`));
}

/** Dot products, softmax and the weighted sum once more, apart from the page's code. */
function byHand(query, keys, values, bias = () => 0) {
  const d = query.length;
  const tokens = keys.length / d;
  const scores = Array.from({ length: tokens }, (_, j) => {
    let dot = 0;
    for (let i = 0; i < d; i++) dot += query[i] * keys[j * d + i];
    return dot / d ** 0.5 + bias(j);
  });
  const powers = scores.map(Math.exp);
  const all = powers.reduce((a, b) => a + b);
  const shares = powers.map((power) => power / all);
  const output = Array.from({ length: d }, (_, i) => shares.reduce((sum, share, j) => sum + share * values[j * d + i], 0));
  return { scores, shares, output };
}

describe("one score by hand", { skip }, () => {
  const browser = withBrowser();
  let page, leave, chapter;
  before(async () => {
    await open();
  });

  /** The chapter with a drawing of a 3. `weights` are those that the page reads it with. */
  async function open(weights) {
    ({ page, close: leave } = await browser.visit({ before: (page) => lend(page, weights) }));
    await ink(page, DIGITS[3]);
    chapter = await openChapter(page, "score", ".number");
    await chapter.locator("details").evaluateAll((all) => all.forEach((details) => (details.open = true)));
    await ask("patch");
    await look(0, 0);
  }
  async function ask(whose) {
    await chapter.locator(`input[value=${whose}] + span`).click();
    await settled(page);
  }
  async function look(layer, head) {
    await page.selectOption("#rail-layer", String(layer + 1));
    await page.selectOption("#rail-head", String(head + 1));
    await settled(page);
    await chapter.locator("tbody tr").first().waitFor();
  }
  const figureData = async () => ({
    ...(await chapter.locator("tbody tr").evaluateAll((rows) => ({
      scores: rows.map((row) => Number(row.dataset.score)), shares: rows.map((row) => Number(row.dataset.share)),
    }))),
    stacks: await chapter.locator(".stack-line").evaluateAll((lines) =>
      lines.map((line) => [...line.querySelectorAll(".number")].map((cell) => Number(cell.dataset.value)))),
    outputs: numbers(await chapter.locator(".concatenated .grid").getAttribute("data-values")),
    added: numbers(await chapter.locator(".projected .grid").getAttribute("data-values")),
    equation: await chapter.locator(".equation").textContent(),
  });

  /** The row of numbers that stands in row `row` (0 to 2) of the pair's or the value's stacks. */
  const rowOf = (stacks, row) =>
    chapter.locator(".stacks").nth(stacks).locator(`.stack:not([aria-hidden]) > :nth-child(${row + 1})`)
      .evaluateAll((cells) => cells.map((cell) => Number(cell.dataset.value)));

  /** What the API answers if one head gets the numbers of `change`, arrays by their names. */
  async function answerWith(weights, change) {
    const drawing = await drawingOn(page), address = await lendWeights(page, weights);
    return page.evaluate(async ({ drawing, address, change: { layer, head, ...lists } }) => {
      const { Vit } = await import("/package/vit.js");
      const vit = await Vit.load(address);
      const rows = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, Float32Array.from(list)]));
      const { classes } = await vit.classify(drawing, { replace: [{ layer, head, ...rows }] });
      vit.dispose();
      return classes;
    }, { drawing, address, change });
  }

  test("a changed number changes scores, shares, map, output and the model's answer", async () => {
    const weights = weightsOf("digits");
    const inside = await insideOf(page, weights, 0);
    const d = inside.heads[0].values.length / inside.tokens;
    const before = { ...(await figureData()), map: await picture(page, "#score .pick .grid-scroll canvas"), strip: await picture(page, "#score .strip") };
    const answer = await page.locator("#rail-answer").textContent();
    const reset = chapter.getByRole("button", { name: "Put the numbers back" });
    assert.equal(await reset.getAttribute("aria-disabled"), "true");

    const q = chapter.getByRole("spinbutton", { name: "q, number 2" });
    await q.focus();
    for (const key of ["PageUp", "PageUp", "ArrowDown"]) await page.keyboard.press(key);
    for (const [key, n] of [["ArrowRight", 3], ["ArrowLeft", 2]]) {
      await page.keyboard.press(key);
      assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), `q, number ${n}`);
    }
    assert.equal(await chapter.locator(".terms .number[tabindex='0']").count(), 2, "one of q and one of k can be reached with Tab");
    const query = part(inside.heads[0].queries, 25, d);
    query[1] += 1.9;
    const followed = chapter.locator(".followed");
    const follows = async (change, words) => {
      await settled(page);
      await chapter.locator(".followed[aria-busy=false]").waitFor();
      const classes = await answerWith(weights, { layer: 0, head: 0, ...change });
      assert.equal(await followed.getAttribute("data-label"), classes[0].label);
      assert.ok(Math.abs(Number(await followed.getAttribute("data-p")) - classes[0].p) < 1e-5);
      assert.match(await followed.locator("p").textContent(), words);
    };
    const queries = inside.heads[0].queries.with(25 * d + 1, query[1]);
    await follows({ queries }, /With your numbers in this head the model/);
    assert.match(await followed.locator("svg").getAttribute("aria-label"), /^The answer with your numbers: \S+ (> )?\d/);
    assert.equal(Number(await q.getAttribute("aria-valuenow")), Number(query[1].toFixed(2)));
    const want = byHand(query, inside.heads[0].keys, inside.heads[0].values);
    const now = await figureData();
    close(now.scores, want.scores, "score");
    close(now.shares, want.shares, "share");
    close(now.outputs.slice(0, d), want.output, "output");
    assert.deepEqual(now.outputs.slice(d), before.outputs.slice(d), "the other heads stay");
    assert.notEqual(await picture(page, "#score .pick .grid-scroll canvas"), before.map);
    assert.notEqual(await picture(page, "#score .strip"), before.strip);
    assert.equal(await page.locator("#rail-answer").textContent(), answer);
    assert.match(await chapter.locator(".changed-words").textContent(), /moved by \d/);

    const k = chapter.getByRole("spinbutton", { name: "k, number 1", exact: true });
    await k.scrollIntoViewIfNeeded();
    const box = await k.boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const own = Number(await k.getAttribute("data-value"));
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y - 50, { steps: 5 });
    await page.mouse.up();
    assert.ok(Math.abs(Number(await k.getAttribute("data-value")) - own - 1) < 1e-6, "50 pixels are 1");
    const { keys } = inside.heads[0];
    const at = keys.indexOf(Math.fround(own)), changed = keys.with(at, own + 1);
    assert.equal(at % d, 0, "it is a key's first number");
    await follows({ queries, keys: changed }, /With your numbers in this head the model/);

    const v = chapter.getByRole("spinbutton", { name: "v, number 3", exact: true });
    await v.focus();
    const value = Number(await v.getAttribute("data-value")), place = inside.heads[0].values.indexOf(Math.fround(value));
    for (let press = 0; press < 12; press++) await page.keyboard.press("PageUp");
    const raised = Number(await v.getAttribute("data-value"));
    assert.ok(raised > value + 6);
    await follows({ queries, keys: changed, values: inside.heads[0].values.with(place, raised) }, /With your numbers/);
    await reset.click();
    await follows({}, /^The model says 3, (> )?\d/);
    assert.deepEqual((await figureData()).shares, before.shares);
    assert.equal(await reset.getAttribute("aria-disabled"), "true");
  });

  test("keys choose another key and another query, and the pair's numbers follow", async () => {
    await look(0, 0);
    const name = () => chapter.locator(".terms h3").first().textContent();
    const strip = chapter.locator(".strip");
    await strip.focus();
    await page.keyboard.press("Home");
    assert.match(await name(), /key of class token$/);
    await page.keyboard.press("ArrowRight");
    assert.match(await name(), /^Query of row 4, column 4, key of row 1, column 1$/);
    assert.match(await strip.getAttribute("aria-valuetext"), /^row 1, column 1: score −?\d+\.\d\d, share \d/);
    const row = await chapter.locator("tbody tr").nth(1).evaluate(({ dataset }) => Number(dataset.score));
    assert.equal(Number(await chapter.locator(".equation").getAttribute("data-score")), row);
    await chapter.locator(".pick canvas").first().focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    assert.match(await name(), /key of row 2, column 2$/);
    await page.keyboard.press("Enter");
    await settled(page);
    assert.match(await name(), /^Query of row 2, column 2/);
    assert.equal(await chapter.locator("input[value=patch]").isChecked(), true);
    assert.match(await page.locator(".rail-patch").textContent(), /row 2, column 2/);
    await chapter.locator(".head-map").nth(1).click();
    await settled(page);
    assert.equal(await page.inputValue("#rail-head"), "2");
    assert.equal(await chapter.locator(".head-map").nth(1).getAttribute("aria-pressed"), "true");
    assert.match(await chapter.locator(".head-map").nth(1).getAttribute("aria-description"), /^Head 2\. Most on .*: \d+\.\d %$/);
  });

  test("the steps go from the query to the output, without movement where none is wanted", { skip: skipMedia }, async () => {
    await look(0, 0);
    const hidden = (selector) => chapter.locator(selector).first().evaluate((e) => getComputedStyle(e).visibility === "hidden");
    const cells = [".stacks [aria-label^='k,']", ".stack:not([aria-hidden]) > :nth-child(3)", ".equation"];
    const full = await picture(page, "#score .strip");
    const next = chapter.getByRole("button", { name: "Next step" });
    const rows = [];
    for (let step = 1; step <= 8; step++) {
      await next.click();
      assert.match(await chapter.locator(".play-step").textContent(), new RegExp(`^Step ${step} of 8\\. `));
      rows.push((await Promise.all(cells.map(hidden))).map(Number).join(""));
    }
    assert.deepEqual(rows, ["111", "011", "001", "000", "000", "000", "000", "000"]);
    assert.equal(await picture(page, "#score .strip"), full, "the last step shows everything");
    await chapter.getByRole("button", { name: "Play all steps" }).click();
    assert.match(await chapter.locator(".play-step").textContent(), /^Step 1 /);
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
    await chapter.locator(".play-step", { hasText: "Step 2 " }).waitFor();
    await chapter.getByRole("button", { name: "Pause" }).click();
  });

  test("the spread of q·k and the shares with and without √d are those of the API's queries and keys", async () => {
    await look(1, 2);
    const { tokens: T, heads } = await insideOf(page, weightsOf("digits"), 1), { queries, keys } = heads[2], d = 16;
    const rows = Array.from({ length: T }, (_, i) => Array.from({ length: T }, (_, j) =>
      queries.slice(i * d, (i + 1) * d).reduce((sum, q, n) => sum + q * keys[j * d + n], 0)));
    const all = rows.flat(), mean = all.reduce((a, b) => a + b) / all.length;
    const raw = Math.sqrt(all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / all.length);
    const peak = (by) => rows.reduce((sum, row) => {
      const top = Math.max(...row);
      return sum + 1 / row.reduce((all, value) => all + Math.exp((value - top) / by), 0);
    }, 0) / T;
    const why = await chapter.locator("details[data-raw]").evaluate(({ dataset }) => ({ ...dataset }));
    const want = { raw, scaled: raw / 4, with: peak(4), without: peak(1) };
    for (const [name, value] of Object.entries(want)) assert.ok(Math.abs(why[name] - value) < 1e-4, `${name}: ${why[name]}, ${value}`);
    assert.ok(want.without > want.with + 0.05, "the division spreads the shares");
  });

  test("a patch's query in the last block is said to change nothing, and changes nothing", async () => {
    const idle = chapter.locator(".idle", { hasText: "can change nothing" });
    assert.equal(await idle.isVisible(), false);
    await look(4, 0);
    await ask("class");
    assert.equal(await idle.isVisible(), false);
    await ask("patch");
    assert.equal(await idle.isVisible(), true);
    const followed = chapter.locator(".followed"), before = await followed.getAttribute("data-p");
    await chapter.getByRole("spinbutton", { name: "q, number 1", exact: true }).focus();
    for (let press = 0; press < 5; press++) await page.keyboard.press("PageUp");
    await settled(page);
    await chapter.locator(".followed[aria-busy=false]", { hasText: "With your numbers" }).waitFor();
    assert.equal(await followed.getAttribute("data-p"), before);
  });

  test("the question's answer is where the class token's largest share falls", async () => {
    await look(0, 0);
    const { heads: [{ shares }] } = await insideOf(page, weightsOf("digits"), 0), own = shares.slice(0, 50);
    const most = own.indexOf(Math.max(...own)) - 1;
    await chapter.locator(".guess button", { hasText: "empty paper" }).click();
    const place = `row ${Math.floor(most / 7) + 1}, column ${(most % 7) + 1}`;
    await chapter.locator(".truth[data-right=false]", { hasText: `from ${place}, where there is ink` }).waitFor();
  });

  for (const [model, layer, head] of [["digits", 1, 2], ["digits-stem", 2, 1], ["digits-large", 3, 5], ["myvit", 1, 1]]) {
    test(`${model}: scores, shares and outputs by hand equal the API's`, async () => {
      const weights = weightsOf(model);
      if (model !== "digits") await chooseModel(page, model);
      await look(layer, head);
      const inside = await insideOf(page, weights, layer);
      const { tokens: T, config: { width, prefix } } = inside;
      for (const whose of ["patch", "class"]) {
        await ask(whose);
        const [, row, column] = whose === "patch" ? /row (\d), column (\d)/.exec(await page.locator(".rail-patch").textContent()) : [];
        const token = whose === "class" ? 0 : prefix.length + (row - 1) * 7 + (column - 1);
        const now = await figureData();
        const { queries, values, scores, shares } = inside.heads[head];
        const d = values.length / T;
        close(now.scores, part(scores, token, T), "score");
        close(now.shares, part(shares, token, T), "share");
        close(await rowOf(0, 0), part(queries, token, d), "q");
        const each = inside.heads.map((one) => byHand(part(one.queries, token, d), one.keys, one.values).output);
        close(await rowOf(1, 2), each[head], "output");
        close(now.outputs, each.flat(), "outputs of all heads");
        close(now.added, part(inside.added, token, width), "added");
        const projected = project(weights, layer, now.outputs);
        close(projected, part(inside.added, token, width), "projected", 1e-5 * 10); // a sum of A products in float
      }
    });
  }

  /** The concatenated outputs through the file's own projection, if it has one. */
  function project(weights, layer, outputs) {
    const { tensors } = readSafetensors(weights);
    const matrix = tensors.get(`blocks.${layer}.attn.proj.weight`)?.data;
    if (!matrix) return outputs;
    const bias = tensors.get(`blocks.${layer}.attn.proj.bias`).data;
    return Array.from(bias, (start, row) =>
      outputs.reduce((sum, output, i) => sum + output * matrix[row * outputs.length + i], start));
  }

  test("relative positions: each score is q·k/√d and the bias of the weights' table", async () => {
    const { weights } = packed().relative[0];
    await leave();
    await open(weights);
    await readBy(page, "page");
    await look(0, 0);
    const { tokens: T, heads } = await insideOf(page, weights, 0);
    const table = readSafetensors(weights).tensors.get("blocks.0.attn.rel_pos.relative_position_bias_table").data;
    const d = heads[0].values.length / T;
    const [, row, column] = /row (\d), column (\d)/.exec(await page.locator(".rail-patch").textContent()).map((n) => n - 1);
    const token = 1 + row * 7 + column;
    // timm's order: 13 × 13 offsets, then from the class token, to it, and within the prefix.
    const at = (j) => (j === 0 ? 13 * 13 + 1 : (row - Math.floor((j - 1) / 7) + 6) * 13 + column - ((j - 1) % 7) + 6);
    const want = byHand(part(heads[0].queries, token, d), heads[0].keys, heads[0].values, (j) => table[at(j) * 4]);
    const now = await figureData();
    close(now.scores, want.scores, "score");
    close(now.shares, want.shares, "share");
    assert.match(now.equation, /plus −?\d+\.\d\d for the places’ distance: the score/);
    assert.match(await chapter.textContent(), /This model has relative positions/);
  });
});
