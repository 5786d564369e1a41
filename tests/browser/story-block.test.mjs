// One token through one block: what the chapter shows is what the weights and the API give.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { DIGITS, settled, skip, withBrowser } from "./harness.mjs";
import { chooseModel, dataOf, drawingOn, visitChapter, weightsOf } from "./story.mjs";

const numbers = (text) => text.split(" ").map(Number);
const near = (got, want, what, tolerance = 1e-4) => {
  assert.equal(got.length, want.length, what);
  got.forEach((value, i) => assert.ok(Math.abs(value - want[i]) <= tolerance, `${what} ${i}: ${value}, ${want[i]}`));
};
const lengthOf = (list) => Math.sqrt(list.reduce((sum, value) => sum + value * value, 0));

/** The integral of the normal distribution from 0, as a series: Abramowitz and Stegun, 26.2.11. */
function normal(x) {
  let term = x, sum = x;
  for (let n = 1; n < 200; n++) sum += term *= (x * x) / (2 * n + 1);
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
const gelu = (x) => (x < -8 ? 0 : x > 8 ? x : x * normal(x));

/** A norm, the hidden units and what the MLP adds, in double precision, apart from the page's code. */
function byHand({ tensors }, layer, token, attention, epsilon) {
  const of = (name) => [...tensors.get(`blocks.${layer}.${name}`).data];
  const product = (matrix, bias, x) => bias.map((start, row) => x.reduce((sum, value, i) => sum + value * matrix[row * x.length + i], start));
  const norm = (x, which) => {
    const mean = x.reduce((a, b) => a + b) / x.length, variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
    const [gain, bias] = [of(`norm${which}.weight`), of(`norm${which}.bias`)];
    return { mean, spread: Math.sqrt(variance), values: x.map((value, i) => (gain[i] * (value - mean)) / Math.sqrt(variance + epsilon) + bias[i]) };
  };
  const first = norm(token, 1), second = norm(token.map((value, i) => value + attention[i]), 2);
  const hidden = product(of("mlp.fc1.weight"), of("mlp.fc1.bias"), second.values);
  return { first, second, hidden, mlp: product(of("mlp.fc2.weight"), of("mlp.fc2.bias"), hidden.map(gelu)) };
}

describe("one token through one block", { skip }, () => {
  const browser = withBrowser();
  let page, chapter;
  before(async () => {
    ({ page } = await visitChapter(browser, "block", DIGITS[3]));
    chapter = page.locator("#block");
    await chapter.locator(".dots circle").first().waitFor();
    await chapter.locator("details.more").first().evaluate((details) => (details.open = true));
  });
  const open = (part) => page.locator(`#block-${part}`).click();
  const ask = async (whose) => {
    await chapter.locator(`input[value=${whose}]`).check({ force: true });
    await settled(page);
  };
  const patchOf = async () => {
    const [, row, column] = /row (\d), column (\d)/.exec(await page.locator(".rail-patch").textContent());
    return 1 + (row - 1) * 7 + (column - 1);
  };
  const run = async (name, options) => {
    const vit = await Vit.load(weightsOf(name)), result = await vit.classify(await drawingOn(page), options), { config } = vit;
    vit.dispose();
    return { ...result, config };
  };

  test("it opens on a token that moves the answer: in the last block that is the class token, before it a patch", async () => {
    const says = (part, hasText) => chapter.locator(part, { hasText }).waitFor();
    await says(".where", /^Block 5 of 5: class token$/);
    await page.selectOption("#rail-layer", "2");
    await says(".where", /^Block 2 of 5: row \d, column \d$/);
    assert.equal(await chapter.locator(".notes").isVisible(), false);
    await page.selectOption("#rail-layer", "5");
    await ask("patch");
    await says(".notes", /changes nothing in the answer/);
  });

  for (const [name, layer] of [["digits", 1], ["digits", 3], ["digits-stem", 0], ["digits-large", 2], ["myvit", 1]]) {
    test(`${name}, block ${layer + 1}: norms, hidden units, MLP and sums are the model's`, async () => {
      if (name !== "digits") await chooseModel(page, name);
      await page.selectOption("#rail-layer", String(layer + 1));
      const { trace, config } = await run(name, { trace: true }), { width } = config, file = readSafetensors(weightsOf(name));
      for (const whose of ["class", "patch"]) {
        await ask(whose);
        const token = whose === "class" ? 0 : await patchOf();
        const at = (list) => [...list.slice(token * width, (token + 1) * width)];
        const [before, after, attention, mlp] = [at(trace.tokens(layer)), at(trace.tokens(layer + 1)), at(trace.added(layer, "attention")), at(trace.added(layer, "mlp"))];
        const want = byHand(file, layer, before, attention, config.norm_eps);
        for (const [part, norm] of [["norm1", want.first], ["norm2", want.second]]) {
          await open(part);
          const { values, mean, spread } = await dataOf(page, "#block .dots");
          near(numbers(values), norm.values, part);
          near([Number(mean), Number(spread)], [norm.mean, norm.spread], `${part}'s mean and spread`);
        }
        await open("mlp");
        const units = await dataOf(page, "#block .units");
        near(numbers(units.hidden), want.hidden, "hidden");
        near(numbers(units.active), want.hidden.map(gelu), "after GELU");
        near(numbers(units.mlp), want.mlp, "MLP");
        near(numbers(units.mlp), mlp, "what the model adds", 1e-4 * Math.max(1, ...mlp.map(Math.abs)));
        const words = await chapter.locator(".road-map").textContent(), fire = want.hidden.filter((value) => value > 0).length;
        assert.match(words, new RegExp(`${fire} of ${config.mlp_width} units fire`));
        const middle = before.map((value, i) => value + attention[i]);
        for (const [list, wording] of [[before, "long"], [middle, "long"], [after, "long"], [attention, "a vector"], [mlp, "a vector"]])
          assert.ok(words.includes(`${lengthOf(list).toFixed(1)} long`), `${wording}: ${lengthOf(list)} in ${words}`);
        for (const list of ["q", "k", "v"]) {
          await chapter.locator(`details input[value=${list}]`).check({ force: true });
          const { sum, model } = await dataOf(page, "#block-sum");
          assert.ok(Math.abs(sum - model) < 1e-4, `${list}: ${sum} by hand, ${model} by the model`);
        }
      }
    });
  }

  test("keys go from box to box and from unit to unit, and each opens to its numbers", async () => {
    await page.locator("#rail-reader input[value=plain]").evaluate((input) => input.click());
    await settled(page);
    await open("norm1");
    await page.locator("#block-norm1").focus();
    const steps = [];
    for (let press = 0; press < 6; press++) {
      await page.keyboard.press("ArrowRight");
      steps.push(await page.evaluate(() => document.activeElement.id), await chapter.locator("#block-open").getAttribute("data-part"));
    }
    const parts = ["attention", "plus1", "norm2", "mlp", "plus2", "norm1"];
    assert.deepEqual(steps, parts.flatMap((part) => [`block-${part}`, part]));
    assert.equal(await chapter.locator("[role=tab][tabindex='0']").count(), 1);
    await open("mlp");
    const units = chapter.locator(".units"), unit = Number(await units.getAttribute("aria-valuenow"));
    await units.press("ArrowLeft");
    assert.equal(Number(await units.getAttribute("aria-valuenow")), unit - 1);
    assert.match(await units.getAttribute("aria-valuetext"), new RegExp(`^Unit ${unit - 1}: `));
  });

  test("who says that nothing happens without the MLPs is shown what does", async () => {
    const mlps = [0, 1, 2, 3, 4], [whole, withoutMlps] = [await run("digits"), await run("digits", { ablate: { mlps } })];
    assert.ok(withoutMlps.classes[0].label !== whole.classes[0].label || withoutMlps.classes[0].p < 0.5, "the answer is lost");
    await chapter.locator(".guess button", { hasText: "nothing" }).click();
    const share = (100 * withoutMlps.classes[0].p).toFixed(1);
    await chapter.locator(".truth[data-right=false]", { hasText: `Without the MLPs it reads ${withoutMlps.classes[0].label}, ${share} %` }).waitFor();
    await chapter.locator(".guess button", { hasText: "lost" }).click();
    await chapter.locator(".truth[data-right=true]").waitFor();
  });
});
