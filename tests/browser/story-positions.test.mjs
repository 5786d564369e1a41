// The story's chapter on positions. Its numbers are compared with formulas, with the tensors of the
// file, and with Node's runs of the same models on the same strokes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { DIGITS, ink, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { drawingOn, packed, scrambledBy } from "./story.mjs";

const shipped = packed();
const KINDS = ["none", "sincos1d", "sincos2d", "learned", "relative", "rotary"];
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
  await page.locator(`#positions-kind input[value=${kind}]`).check({ force: true });
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

  test("with positions a scramble changes the logits, and all logits shown are those of Node's runs", async () => {
    await choose(page, "sincos2d");
    await page.click("#scramble");
    await orderBecomes(page, () => !/^0 1 2 3 4 5 6 7 /.test(document.getElementById("scramble-change").dataset.order));
    const { change, order, on } = await result(page);
    assert.equal(on, "true");
    assert.deepEqual(order.toSorted((a, b) => a - b), Array.from({ length: 49 }, (_, i) => i));
    const [inOrder, scrambled] = [await scores(page, "before"), await scores(page, "after")];
    assert.equal(inOrder.length, 10);
    assert.ok(change > 0.5, `${change}`);
    near([change], [farthest(inOrder, scrambled)], 1e-6, "the largest change");
    const vit = await Vit.load(shipped.sincos2d[0].weights);
    const there = await vit.classify(await drawingOn(page));
    near(inOrder, there.logits, ROUNDING, "before");
    near(scrambled, (await vit.classify(scrambledBy(there.input, order))).logits, ROUNDING, "after");
    vit.dispose();
    assert.match(await page.locator("#announce").textContent(), /All patches scrambled\. Largest change of a logit: \d/);
  });

  test("without positions the same scramble changes no logit by more than rounding, in all six models", async () => {
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
    const announcement = () => page.locator("#announce").textContent();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "Enter"]) await page.keyboard.press(key);
    assert.match(await announcement(), /^Picked up row 2, column 2/);
    await page.keyboard.press("Escape");
    assert.equal(await announcement(), "Let go");
    assert.notEqual(await page.locator("#rail-answer").getAttribute("data-label"), "", "the pad is not cleared");
    await page.keyboard.press("Enter");
    for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await orderBecomes(page, () => document.getElementById("scramble-change").dataset.order.split(" ")[8] === "17");
    const { order } = await result(page);
    assert.deepEqual([order[8], order[17]], [17, 8]);
    order.forEach((patch, place) => assert.ok([8, 17].includes(place) || patch === place));
    assert.match(await announcement(), /^Swapped row 2, column 2 and row 3, column 4\. Largest change/);
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

  test("swapping two patches swaps their rows and columns of A and nothing else, unless positions tell them apart", async () => {
    const matrixChange = () => page.locator("#positions-equivariance").evaluate(({ dataset }) => Number(dataset.change));
    await choose(page, "none");
    assert.match(await page.locator("#positions-equivariance").textContent(), /a row for each token/);
    await page.click("#scramble-swap");
    await page.locator("#positions-equivariance", { hasText: "nothing else" }).waitFor();
    const { order } = await result(page), moved = order.flatMap((patch, place) => (patch === place ? [] : [place]));
    const [layer, head] = /block (\d), head (\d)/.exec(await page.locator("#positions .boards").textContent()).slice(1).map((n) => n - 1);
    /** The largest difference of A's rows and columns, each under its own patch. */
    const apart = async (kind) => {
      const vit = await Vit.load(shipped[kind][0].weights), options = { attention: true };
      const { input, attention } = await vit.classify(await drawingOn(page), options);
      const a = attention.at(layer, head), b = (await vit.classify(scrambledBy(input, order), options)).attention.at(layer, head);
      vit.dispose();
      const at = (token) => (token === 0 ? 0 : 1 + order[token - 1]);
      return farthest(b, b.map((_, i) => a[50 * at(Math.floor(i / 50)) + at(i % 50)]));
    };
    assert.equal(moved.length, 2);
    assert.ok(moved.includes(0), "the first blank patch");
    assert.ok((await apart("none")) < 1e-5 && (await matrixChange()) < 1e-5);
    await choose(page, "sincos2d");
    const change = await matrixChange();
    assert.ok(change > 0.01, `${change}`);
    near([change], [await apart("sincos2d")], 1e-4, "with positions");
    await page.click("#scramble-swap");
    await orderBecomes(page, () => /^0 1 2 3 4 5 6 7 8 /.test(document.getElementById("scramble-change").dataset.order));
  });

  test("the question's truth is that the model without positions reads the scrambled drawing as before", async () => {
    const guess = page.locator("#positions .guess");
    await guess.locator("button", { hasText: "something else" }).click();
    await guess.locator(".truth[data-right=false]").waitFor();
    const [before, after] = /In order it reads (.+?); scrambled, (.+?)\. /.exec(await guess.locator(".truth").textContent()).slice(1);
    assert.equal(after, before);
    const vit = await Vit.load(shipped.none[0].weights);
    const [best] = (await vit.classify(await drawingOn(page))).classes;
    vit.dispose();
    assert.equal(before, `${best.label}, ${(100 * best.p).toFixed(1)} %`);
    await guess.locator("button", { hasText: "as surely" }).click();
    await guess.locator(".truth[data-right=true]").waitFor();
  });

  const open = (title) => page.locator("#positions .more summary", { hasText: title }).click();
  const valuesOf = async (id) => numbers(await page.locator(`#positions-${id}`).getAttribute("data-values"));
  const chosenToken = async () => {
    const [row, col] = /row (\d), column (\d)/.exec(await page.locator(".rail-patch").textContent()).slice(1).map(Number);
    return 1 + 7 * (row - 1) + col - 1;
  };

  test("the positions shown are the formulas' and the file's, and so is their likeness", async () => {
    await open("what a position is");
    const { data } = readSafetensors(shipped.learned[0].weights).tensors.get("pos_embed");
    const learned = () => Array.from({ length: 50 }, (_, token) => [...data.slice(32 * token, 32 * token + 32)]);
    for (const [kind, formula] of Object.entries({ ...FORMULAS, learned })) {
      await choose(page, kind);
      await page.waitForFunction(() => document.getElementById("positions-alike").dataset.values);
      const want = formula(50, 32, 7), own = want[await chosenToken()];
      near(await valuesOf("matrix"), want.flat(), 1e-6, kind);
      near(await valuesOf("alike"), want.slice(1).map((other) => cosine(own, other)), 1e-5, `${kind}: likeness`);
    }
    const patches = learned().slice(1), beside = [], others = [];
    patches.forEach((a, i) => patches.slice(i + 1).forEach((b, at) => {
      const isBeside = at + 1 === 7 || (at === 0 && i % 7 < 6);
      (isBeside ? beside : others).push(cosine(a, b));
    }));
    const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
    assert.ok(mean(beside) > mean(others) + 0.2, `neighbours ${mean(beside)}, others ${mean(others)}`);
  });

  test("the relative biases shown are the file's, of the chosen layer and head", async () => {
    await choose(page, "relative");
    const table = (layer) => readSafetensors(shipped.relative[0].weights).tensors.get(`blocks.${layer}.attn.rel_pos.relative_position_bias_table`).data;
    for (const [layer, head] of [[0, 0], [1, 3]]) {
      await page.locator("#rail-layer").evaluate((select, at) => ((select.selectedIndex = at), select.dispatchEvent(new Event("input"))), layer);
      await page.locator("#rail-head").evaluate((select, at) => ((select.selectedIndex = at), select.dispatchEvent(new Event("input"))), head);
      await page.locator("#positions .boards", { hasText: `block ${layer + 1}, head ${head + 1}` }).waitFor();
      const values = await valuesOf("bias");
      // The file counts from the key to the query, the picture from the query to the key.
      near(values, values.map((_, at) => table(layer)[(168 - at) * 4 + head]), 1e-5, `layer ${layer}, head ${head}`);
    }
  });

  test("what turning changes of a score is computed from the trace of the chosen layer and head", async () => {
    const { turnedBy } = await importTypescript("web/demo/story/vectors.ts");
    await choose(page, "rotary");
    const vit = await Vit.load(shipped.rotary[0].weights);
    const { trace } = await vit.classify(await drawingOn(page), { trace: true });
    const [layer, head] = /block (\d), head (\d)/.exec(await page.locator("#positions .boards").textContent()).slice(1).map((n) => n - 1);
    const want = turnedBy(trace, layer, head, await chosenToken(), vit.config.rotary_base, { gridRows: 7, gridCols: 7 });
    vit.dispose();
    near(await valuesOf("turned"), want, 1e-4, `layer ${layer}, head ${head}`);
    assert.ok(Math.max(...want) - Math.min(...want) > 0.1, "it changes something");
  });

  test("a click on the grid of likeness chooses another patch for the whole page", async () => {
    await choose(page, "learned");
    await page.locator("#positions-alike").click({ position: { x: 36 * 5 + 18, y: 36 + 18 } });
    await page.locator(".rail-patch", { hasText: "row 2, column 6" }).waitFor();
  });

  test("class token and mean are told by the figures of weights/experiments.md", async () => {
    const table = readFileSync(new URL("../../weights/experiments.md", import.meta.url), "utf8");
    const text = await page.locator("#positions .more", { hasText: "mean in place" }).textContent();
    for (const pool of ["class, the base", "mean"])
      assert.ok(text.includes(`${new RegExp(`\\| pool \\| ${pool} \\| ([\\d.]+ ± [\\d.]+)`).exec(table)[1]} %`), text);
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
