// The story's chapter on positions. Its numbers are compared with formulas, with the tensors of the
// file, and with Node's runs of the same models on the same strokes.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { DIGITS, ink, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { drawingOn, packed, scrambledBy } from "./story.mjs";

const shipped = packed();
const KINDS = ["none", "sincos1d", "sincos2d", "learned", "relative"];
const ROUNDING = 1e-4; // of scores up to about 10, in another order or another build
const farthest = (a, b) => {
  assert.equal(a.length, b.length);
  return Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]))); // NaN stays NaN
};
const near = (a, b, most, what) => {
  const apart = farthest(a, b);
  assert.ok(apart <= most, `${what}: ${apart} apart`);
};

/** The formulas, written from the papers: token 0 is the class token. */
const FORMULAS = {
  sincos1d: (tokens, width) => Array.from({ length: tokens }, (_, token) => Array.from({ length: width }, (_, i) => {
    const angle = token / 10000 ** (2 * Math.floor(i / 2) / width);
    return i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  })),
  sincos2d: (tokens, width, columns) => Array.from({ length: tokens }, (_, token) => {
    if (token === 0) return Array(width).fill(0);
    const [row, column] = [Math.floor((token - 1) / columns), (token - 1) % columns];
    const waves = Array.from({ length: width / 4 }, (_, i) => 10000 ** (-i / (width / 4)));
    return [column, row].flatMap((place) => [Math.sin, Math.cos].flatMap((wave) => waves.map((w) => wave(place * w))));
  }),
};

const cosine = (a, b) => {
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
};

async function goTo(page) {
  await toChapter(page, "positions");
  await page.locator("#positions[data-kind]").waitFor();
}

async function choose(page, kind) {
  await page.locator(`#positions .kind-bar input[value=${kind}]`).check({ force: true });
  await page.locator(`#positions[data-kind=${kind}]`).waitFor();
}

const result = async (page) => {
  const { change, order, ...rest } = await page.locator("#scramble-change").evaluate((output) => ({ ...output.dataset }));
  return { ...rest, change: Number(change), order: order.split(" ").map(Number) };
};
const column = (page, selector, key) =>
  page.locator(selector).evaluateAll((rows, name) => rows.map((row) => Number(row.dataset[name])), key);
const scores = (page, key) => column(page, "#positions .verdict-and-scores tbody tr", key);
const numbers = (text) => text.split(" ").map(Number);
const orderBecomes = (page, test) => page.waitForFunction(test, undefined, { polling: 50 });
const switchTo = async (page, on) => {
  await page.locator("#scramble-positions").setChecked(on);
  await page.locator(`#scramble-change[data-on=${on}]`).waitFor();
};

describe("the story's chapter on positions", { skip }, () => {
  const browser = withBrowser();
  let page;
  before(async () => {
    ({ page } = await browser.visit());
    await ink(page, DIGITS[3]);
    await goTo(page);
  });

  test("with positions a scramble changes the scores, and all scores shown are those of Node's runs", async () => {
    await choose(page, "sincos2d");
    await page.click("#scramble");
    await orderBecomes(page, () => !/^0 1 2 3 4 5 6 7 /.test(document.getElementById("scramble-change").dataset.order));
    const { change, order, on } = await result(page);
    assert.equal(on, "true");
    assert.deepEqual(order.toSorted((a, b) => a - b), Array.from({ length: 49 }, (_, i) => i));
    const [shown, scrambled] = [await scores(page, "before"), await scores(page, "after")];
    assert.equal(shown.length, 10);
    assert.ok(change > 0.5, `${change}`);
    near([change], [farthest(shown, scrambled)], 1e-6, "the largest change");
    const vit = await Vit.load(shipped.sincos2d[0].weights);
    const there = await vit.classify(await drawingOn(page));
    near(shown, there.logits, ROUNDING, "before");
    near(scrambled, (await vit.classify(scrambledBy(there.input, order))).logits, ROUNDING, "after");
    vit.dispose();
    assert.match(await page.locator("#announce").textContent(), /All patches scrambled\. Largest change of a score: \d/);
  });

  test("without positions the same scramble changes no score by more than rounding, in all five models", async () => {
    const { order } = await result(page);
    await goTo(page);
    for (const kind of KINDS) {
      await choose(page, kind);
      if (kind === "none") assert.ok(await page.locator("#scramble-positions").isDisabled());
      else {
        const { change } = await result(page);
        assert.ok(change > 0.1, `${kind} with positions: ${change}`);
        await switchTo(page, false);
      }
      const { change, order: now } = await result(page);
      assert.deepEqual(now, order);
      assert.ok(change <= ROUNDING, `${kind} without positions: ${change}`);
      near(await scores(page, "before"), await scores(page, "after"), ROUNDING, kind);
      assert.match(await page.locator("#positions .verdict").textContent(), /rounding/);
      if (kind !== "none") await switchTo(page, true);
    }
  });

  test("the patches are swapped by keys, Escape lets go and clears nothing, and all are put back", async () => {
    await page.click("#scramble-back");
    await orderBecomes(page, () => /^0 1 2 3 4 5 6 7 8 /.test(document.getElementById("scramble-change").dataset.order));
    assert.equal((await result(page)).change < ROUNDING, true);
    assert.ok(await page.locator("#scramble-back").isDisabled());
    await page.locator("#positions .swappable").focus();
    const said = () => page.locator("#announce").textContent();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "Enter"]) await page.keyboard.press(key);
    assert.match(await said(), /^Picked up row 2, column 2/);
    await page.keyboard.press("Escape");
    assert.equal(await said(), "Let go");
    assert.notEqual(await page.locator("#rail-answer").getAttribute("data-label"), "", "the pad is not cleared");
    await page.keyboard.press("Enter");
    for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await orderBecomes(page, () => document.getElementById("scramble-change").dataset.order.split(" ")[8] === "17");
    const { order } = await result(page);
    assert.deepEqual([order[8], order[17]], [17, 8]);
    order.forEach((patch, place) => assert.ok([8, 17].includes(place) || patch === place));
    assert.match(await said(), /^Swapped row 2, column 2 and row 3, column 4\. Largest change/);
  });

  test("a patch that is dragged onto another changes places with it", async () => {
    const board = page.locator("#positions .swappable");
    await board.scrollIntoViewIfNeeded();
    const box = await board.boundingBox();
    const at = (place) => [box.x + ((place % 7) + 0.5) * (box.width / 7), box.y + (Math.floor(place / 7) + 0.5) * (box.height / 7)];
    await page.mouse.move(...at(8));
    await page.mouse.down();
    await page.mouse.move(...at(17), { steps: 6 });
    await page.mouse.up();
    await orderBecomes(page, () => /^0 1 2 3 4 5 6 7 8 /.test(document.getElementById("scramble-change").dataset.order));
    assert.ok((await result(page)).order.every((patch, place) => patch === place), "swapped back");
  });

  test("the numbers added to a token are those of the formulas, and the token is Node's", async () => {
    const drawing = await drawingOn(page);
    await goTo(page);
    for (const kind of ["sincos1d", "sincos2d"]) {
      await choose(page, kind);
      const [row, col] = /row (\d), column (\d)/.exec(await page.locator("#positions-sum caption").textContent()).slice(1).map(Number);
      const token = 1 + 7 * (row - 1) + col - 1, want = FORMULAS[kind](50, 32, 7);
      near(await column(page, "#positions-sum tbody tr", "position"), want[token], 1e-6, kind);
      const vit = await Vit.load(shipped[kind][0].weights);
      const { trace } = await vit.classify(drawing, { trace: true });
      near(await column(page, "#positions-sum tbody tr", "token"), [...trace.tokens("embedded").slice(32 * token, 32 * token + 32)], 1e-4, kind);
      vit.dispose();
      const like = numbers(await page.locator("#positions-place").getAttribute("data-values"));
      near(like.slice(1), want.slice(1).map((other) => cosine(want[token], other)), 1e-5, `${kind}: likeness`);
    }
  });

  test("the slider fades the position in, number by number", async () => {
    await choose(page, "sincos2d");
    const full = await column(page, "#positions-sum tbody tr", "position");
    const fade = page.locator("#positions-fade");
    await fade.focus();
    await page.keyboard.press("Home");
    assert.ok((await column(page, "#positions-sum tbody tr", "position")).every((value) => value === 0));
    await fade.fill("0.25");
    near(await column(page, "#positions-sum tbody tr", "position"), full.map((value) => value / 4), 1e-6, "a quarter");
    const cells = await page.locator("#positions-sum tbody tr").evaluateAll((rows) => rows.map((row) =>
      [row.dataset.token, row.dataset.position, row.lastElementChild.textContent.replace("−", "-")].map(Number)));
    for (const [token, position, sum] of cells) assert.ok(Math.abs(token + position - sum) <= 0.0051, `${token} + ${position} = ${sum}`);
    assert.equal(await fade.getAttribute("aria-valuetext"), "25 % of the position");
  });

  test("learned positions are the file's, and a click on the grid chooses another patch", async () => {
    await choose(page, "learned");
    const { data } = readSafetensors(shipped.learned[0].weights).tensors.get("pos_embed");
    const place = page.locator("#positions-place");
    await place.click({ position: { x: 36 * 5 + 18, y: 36 + 18 } }); // row 2, column 6
    await page.locator("#positions-sum caption", { hasText: "row 2, column 6" }).waitFor();
    await page.locator("#positions-fade").fill("1");
    near(await column(page, "#positions-sum tbody tr", "position"), [...data.slice(32 * 13, 32 * 14)], 1e-6, "pos_embed");
    assert.match(await page.locator("#rail").textContent(), /row 2, column 6/);
  });

  test("the relative biases shown are the file's, and the grid shows those seen from the patch", async () => {
    await choose(page, "relative");
    const { tensors } = readSafetensors(shipped.relative[0].weights);
    const shown = (await page.locator("#positions-bias canvas[tabindex]").evaluateAll((all) =>
      all.map(({ dataset }) => dataset.values))).map(numbers);
    assert.equal(shown.length, 12);
    const table = (layer) => tensors.get(`blocks.${layer}.attn.rel_pos.relative_position_bias_table`).data;
    shown.forEach((values, i) => {
      const layer = Math.floor(i / 4), head = i % 4;
      // The file counts from the key to the query, the picture from the query to the key.
      const want = values.map((_, at) => table(layer)[(168 - at) * 4 + head]);
      near(values, want, 1e-5, `layer ${layer}, head ${head}`);
    });
    await page.locator("#positions-bias canvas[tabindex]").first().click();
    await page.locator("#positions-bias figure:first-child .chosen").waitFor();
    const seen = numbers(await page.locator("#positions-place").getAttribute("data-values")).slice(1);
    const want = seen.map((_, key) => table(0)[((1 - Math.floor(key / 7) + 6) * 13 + 5 - (key % 7) + 6) * 4]); // from row 2, column 6
    near(seen, want, 1e-5, "seen from the patch");
  });

  test("the wide image has the formulas' positions for 16 tokens in 3 rows of 5", async () => {
    for (const kind of ["sincos1d", "sincos2d"]) {
      const text = await page.locator(`#positions-wide [data-kind=${kind}]`).getAttribute("data-positions");
      near(numbers(text), FORMULAS[kind](16, 16, 5).flat(), 1e-6, kind);
    }
  });

  test("a new drawing is read in the order that the visitor left", async () => {
    await choose(page, "sincos2d");
    await page.click("#scramble");
    await orderBecomes(page, () => !/^0 1 2 3 4 5 6 7 /.test(document.getElementById("scramble-change").dataset.order));
    const [{ order }, old] = [await result(page), await scores(page, "before")];
    await ink(page, [DIGITS[1][0]]);
    await settled(page);
    await goTo(page);
    await page.waitForFunction((first) =>
      document.querySelector("#positions .verdict-and-scores tbody tr").dataset.before !== first, String(old[0]));
    assert.deepEqual((await result(page)).order, order);
  });
});
