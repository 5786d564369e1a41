// Layer by layer: what the head reads at each stop, and what parts do, beside the API's own numbers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { DIGITS, ink, openCloser, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { drawingOn } from "./story.mjs";

/** The page may run another build, which rounds differently. */
const NEAR = 1e-3;
const near = (got, want, what) => assert.ok(Math.abs(got - want) <= NEAR * Math.max(1, Math.abs(want)), `${what}: ${got}, not ${want}`);

const length = (vector) => Math.hypot(...vector);
const inOrder = (classes) => [...classes].sort((a, b) => a.index - b.index).map(({ p }) => p);

describe("layer by layer", { skip }, () => {
  const browser = withBrowser();
  let page, vit, drawing;
  before(async () => {
    ({ page } = await browser.visit());
    vit = await Vit.load(new URL("../../weights/digits.safetensors", import.meta.url));
    await ink(page, DIGITS[3]);
    drawing = await drawingOn(page);
    await toChapter(page, "layers");
    await ready();
  });
  after(() => vit?.dispose());

  const ready = () => page.locator("#layers .layers[aria-busy=false]").waitFor();
  const stops = () => page.locator("#layers .stop").evaluateAll((all) => all.map((stop) => ({
    ...stop.dataset, shares: [...stop.querySelectorAll(".bar")].map((bar) => Number(bar.dataset.p)), text: stop.textContent,
  })));
  const part = (key) => page.locator(`#layers button[data-part="${key}"]`);
  const press = async (key) => {
    await part(key).click();
    await ready();
  };
  const answer = () => page.locator("#layers .layers-answer").evaluate((root) => ({
    ...root.dataset, shares: [...root.querySelectorAll(".bar")].map((bar) => Number(bar.dataset.p)),
    words: root.querySelector(".effect").textContent,
  }));
  const putBack = async () => {
    await page.locator("#layers .put-back button").click();
    await ready();
  };
  const same = (got, classes, what) => {
    assert.equal(got.length, classes.length);
    inOrder(classes).forEach((p, index) => near(got[index], p, `${what}, class ${index}`));
  };

  test("each stop shows what the trace's lens reads, and the last lens is the answer", async () => {
    const { trace, classes } = await vit.classify(drawing, { trace: true });
    const shown = (await stops()).filter(({ stage }) => stage !== undefined);
    assert.equal(shown.length, vit.config.depth + 1);
    shown.forEach(({ shares, label }, stage) => {
      same(shares, trace.lens(stage), `stage ${stage}`);
      assert.equal(label, trace.lens(stage)[0].label);
    });
    same(shown.at(-1).shares, classes, "the answer");
    same((await answer()).shares, classes, "the answer below");
    assert.match(shown.at(-1).text, new RegExp(`says ${classes[0].label}, `));
  });

  test("inside a block the head reads the stream without that block's MLP", async () => {
    const half = (await stops()).filter(({ stage }) => stage === undefined);
    assert.equal(half.length, vit.config.depth);
    for (const [layer, { shares }] of half.entries()) {
      const { trace } = await vit.classify(drawing, { trace: true, ablate: { mlps: [layer] } });
      same(shares, trace.lens(layer + 1), `block ${layer + 1}`);
    }
  });

  test("lengths of stream and additions are those of the trace's tokens", async () => {
    const { trace } = await vit.classify(drawing, { trace: true });
    const { width, prefix } = vit.config, patch = prefix.length + 3 * 7 + 3; // row 4, column 4
    const at = (tokens, token) => length(tokens.slice(token * width, (token + 1) * width));
    const shown = (await stops()).filter(({ stage }) => stage !== undefined);
    shown.forEach((stop, stage) => {
      near(Number(stop.length), at(trace.tokens(stage), 0), `class token at ${stage}`);
      near(Number(stop.patchLength), at(trace.tokens(stage), patch), `patch at ${stage}`);
    });
    for (let layer = 0; layer < vit.config.depth; layer++) {
      for (const branch of ["attention", "mlp"]) {
        const ratios = await page.locator(`#layers [data-branch="${layer} ${branch}"] .adds`)
          .evaluateAll((all) => all.map(({ dataset }) => Number(dataset.ratio)));
        [0, patch].forEach((token, i) => near(ratios[i],
          at(trace.added(layer, branch), token) / at(trace.tokens(layer), token), `${branch} ${layer} adds to ${token}`));
      }
    }
  });

  test("a press leaves a part out, several can be out together, and all come back", async () => {
    await press("head 1 2");
    assert.equal(await part("head 1 2").getAttribute("aria-pressed"), "true");
    same((await answer()).shares, (await vit.classify(drawing, { ablate: { heads: [[1, 2]] } })).classes, "without a head");
    await press("mlp 0 0");
    await press("norms 2 0");
    const ablate = { heads: [[1, 2]], mlps: [0], norms: [2] };
    const without = await vit.classify(drawing, { trace: true, ablate });
    const now = await answer(), whole = (await vit.classify(drawing)).classes[0];
    same(now.shares, without.classes, "without three parts");
    (await stops()).filter(({ stage }) => stage !== undefined)
      .forEach(({ shares }, stage) => same(shares, without.trace.lens(stage), `stage ${stage} without three parts`));
    assert.match(now.words, /^Without block 2’s head 3, block 1’s MLP, and block 3’s norms it /);
    assert.match(now.words, without.classes[0].index === whole.index ? /still reads/ : /instead of/);
    assert.equal(await page.locator("#announce, #status", { hasText: now.words }).count() > 0, true, "it is announced");
    await putBack();
    assert.equal(await page.locator("#layers .part[aria-pressed=true]").count(), 0);
    same((await answer()).shares, (await vit.classify(drawing)).classes, "with everything back");
  });

  test("the text says whether the answer changed", async () => {
    for (let layer = 0; layer < 4; layer++) await press(`norms ${layer} 0`);
    const { classes } = await vit.classify(drawing, { ablate: { norms: [0, 1, 2, 3] } });
    const now = await answer(), whole = (await vit.classify(drawing)).classes[0];
    same(now.shares, classes, "without norms");
    const mark = classes[0].index === whole.index ? "still reads" : "instead of";
    assert.ok(now.words.includes(mark), now.words);
    await putBack();
  });

  test("the keyboard leaves a part out and puts it back", async () => {
    await part("mlp 3 0").focus();
    await page.keyboard.press("Space");
    await ready();
    assert.equal(await part("mlp 3 0").getAttribute("aria-pressed"), "true");
    same((await answer()).shares, (await vit.classify(drawing, { ablate: { mlps: [3] } })).classes, "by Space");
    await page.keyboard.press("Enter");
    await ready();
    assert.equal(await part("mlp 3 0").getAttribute("aria-pressed"), "false");
  });

  test("the table leaves out each part in turn", async () => {
    await page.locator("#layers .sweep[aria-busy=false]").waitFor();
    const cells = await page.locator("#layers .sweep td[data-part]").evaluateAll((all) =>
      all.map(({ dataset, textContent }) => ({ ...dataset, text: textContent })));
    const { depth, heads } = vit.config;
    assert.equal(cells.length, depth * (heads + 2));
    const whole = (await vit.classify(drawing)).classes[0];
    for (const cell of cells) {
      const [kind, layer, head] = cell.part.split(" ");
      const ablate = kind === "head" ? { heads: [[Number(layer), Number(head)]] } : { [kind === "mlp" ? "mlps" : kind]: [Number(layer)] };
      const { classes } = await vit.classify(drawing, { ablate });
      const p = classes.find(({ index }) => index === whole.index).p;
      near(Number(cell.points), p - whole.p, cell.part);
      // Logits that differ by 1e-3 change log-odds by 2e-3 at most; the rest is p's own rounding near 1.
      const odds = (share) => Math.log(share / (1 - share));
      assert.ok(Math.abs(Number(cell.odds) - (odds(p) - odds(whole.p))) < 0.02, `${cell.part}: ${cell.odds}`);
      assert.match(cell.text, /^[+−]?\d+\.\d/);
    }
  });

  test("another drawing is read at once; its stage 0 is the same, because the class token has seen nothing", async () => {
    const first = (await stops())[0].shares;
    await page.locator("#clear").click();
    await ink(page, DIGITS[7]);
    await toChapter(page, "layers");
    await page.locator("#layers .layers-answer[data-label='7']").waitFor();
    const shown = await stops();
    shown[0].shares.forEach((p, index) => assert.ok(Math.abs(p - first[index]) < 1e-6));
    same(shown.at(-1).shares, (await vit.classify(await drawingOn(page))).classes, "the other drawing");
  });

  test("another model gets its own stops, and nothing stays left out", async () => {
    await press("mlp 0 0");
    await openCloser(page);
    await page.selectOption("#model", "myvit");
    await page.waitForFunction(() => document.querySelectorAll("#layers .stop").length === 5);
    await ready();
    await settled(page);
    assert.equal(await page.locator("#layers .part[aria-pressed=true]").count(), 0);
    const other = await Vit.load(new URL("../../weights/myvit.safetensors", import.meta.url));
    const { trace } = await other.classify(await drawingOn(page), { trace: true });
    (await stops()).filter(({ stage }) => stage !== undefined)
      .forEach(({ shares }, stage) => same(shares, trace.lens(stage), `myvit, stage ${stage}`));
    other.dispose();
  });
});
