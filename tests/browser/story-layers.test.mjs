// Layer by layer: what the head reads at each stage, and what parts do, beside the API's own numbers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { DIGITS, ink, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { chooseModel, drawingOn, visitChapter, weightsOf } from "./story.mjs";

/** The page may run another build, which rounds differently. */
const NEAR = 1e-3;
const near = (got, want, what) => assert.ok(Math.abs(got - want) <= NEAR * Math.max(1, Math.abs(want)), `${what}: ${got}, not ${want}`);

const oddsOf = (classes, index) => {
  const sum = (all) => all.reduce((total, { p }) => total + p, 0);
  return Math.log(sum(classes.filter((one) => one.index === index)) / sum(classes.filter((one) => one.index !== index)));
};
const inOrder = (classes) => [...classes].sort((a, b) => a.index - b.index).map(({ p }) => p);

describe("layer by layer", { skip }, () => {
  const browser = withBrowser();
  let page, vit, drawing;
  before(async () => {
    ({ page } = await visitChapter(browser, "layers", DIGITS[3]));
    vit = await Vit.load(weightsOf("digits"));
    drawing = await drawingOn(page);
    await ready();
  });
  after(() => vit?.dispose());

  const ready = () => page.locator("#layers .layers[aria-busy=false]").waitFor();
  const stages = () => page.locator("#layers .stage").evaluateAll((all) => all.map((stage) => ({
    ...stage.dataset, shares: [...stage.querySelectorAll(".bar")].map((bar) => Number(bar.dataset.p)), text: stage.textContent,
  })));
  const part = (key) => page.locator(`#layers button[data-part="${key}"]`);
  const press = async (key) => {
    await part(key).click();
    await ready();
  };
  const effect = () => page.locator("#layers .effect").textContent();
  const putBack = async () => {
    await page.locator("#layers .layers-answer button").click();
    await ready();
  };
  const same = (got, classes, what) => {
    assert.equal(got.length, classes.length);
    inOrder(classes).forEach((p, index) => near(got[index], p, `${what}, class ${index}`));
  };

  test("each stage shows what the trace's lens reads, and the last is the answer", async () => {
    const { trace, classes: [answer] } = await vit.classify(drawing, { trace: true });
    const rows = await stages();
    assert.equal(rows.length, vit.config.depth + 1);
    rows.forEach(({ shares, label, odds, text }, stage) => {
      const lens = trace.lens(stage);
      same(shares, lens, `stage ${stage}`);
      assert.equal(label, lens[0].label);
      near(Number(odds), oddsOf(lens, answer.index), `log-odds of stage ${stage}`);
      assert.match(text, new RegExp(`^Stage ${stage}`));
    });
    const first = rows.findIndex((_, at) => rows.slice(at).every(({ label }) => label === answer.label));
    assert.match(await page.locator("#layers .lead").textContent(), new RegExp(`${answer.label} leads from stage ${Math.max(1, first)} on`));
  });

  test("attention and MLP of each block add the log-odds between its stages", async () => {
    const { trace, classes: [{ index }] } = await vit.classify(drawing, { trace: true });
    const pushes = await page.locator("#layers .block b").evaluateAll((all) => all.map(({ dataset }) => Number(dataset.push)));
    assert.equal(pushes.length, 2 * vit.config.depth);
    for (let layer = 0; layer < vit.config.depth; layer++) {
      const without = await vit.classify(drawing, { trace: true, ablate: { mlps: [layer] } });
      const half = oddsOf(without.trace.lens(layer + 1), index); // without the MLP, the next stage is the stream after attention
      near(pushes[2 * layer], half - oddsOf(trace.lens(layer), index), `attention of block ${layer + 1}`);
      near(pushes[2 * layer + 1], oddsOf(trace.lens(layer + 1), index) - half, `MLP of block ${layer + 1}`);
    }
  });

  test("a press leaves a part out, several can be out together, and all come back", async () => {
    await press("head 1 2");
    assert.equal(await part("head 1 2").getAttribute("aria-pressed"), "true");
    same((await stages()).at(-1).shares, (await vit.classify(drawing, { ablate: { heads: [[1, 2]] } })).classes, "without a head");
    await press("mlp 0 0");
    const ablate = { heads: [[1, 2]], mlps: [0] };
    const without = await vit.classify(drawing, { trace: true, ablate });
    const now = await effect(), whole = (await vit.classify(drawing)).classes[0];
    (await stages()).forEach(({ shares }, stage) => same(shares, without.trace.lens(stage), `stage ${stage} without two parts`));
    assert.match(now, /^Without block 2’s head 3 and block 1’s MLP it /);
    assert.match(now, without.classes[0].index === whole.index ? /still reads/ : /instead of/);
    assert.equal(await page.locator("#announce, #status", { hasText: now }).count() > 0, true, "it is announced");
    await putBack();
    assert.equal(await page.locator("#layers .part[aria-pressed=true]").count(), 0);
    same((await stages()).at(-1).shares, (await vit.classify(drawing)).classes, "with everything back");
  });

  test("all parts are one stop of the Tab key, arrow keys go between them, and Space and Enter press", async () => {
    assert.equal(await page.locator("#layers .part").count(), 5 * (5 + 1));
    assert.equal(await page.locator("#layers .part[tabindex='0']").count(), 1);
    await part("head 0 0").focus();
    for (const [key, want] of [["ArrowUp", "head 0 0"], ["ArrowRight", "head 0 1"], ["ArrowDown", "head 1 1"], ["ArrowLeft", "head 1 0"],
      ["ArrowLeft", "mlp 0 0"], ["ArrowDown", "mlp 1 0"], ["ArrowDown", "mlp 2 0"], ["ArrowDown", "mlp 3 0"], ["ArrowDown", "mlp 4 0"], ["ArrowRight", "mlp 4 0"]]) {
      await page.keyboard.press(key);
      assert.equal(await page.evaluate(() => document.activeElement.dataset.part), want, key);
    }
    await page.keyboard.press("Space");
    await ready();
    assert.equal(await part("mlp 4 0").getAttribute("aria-pressed"), "true");
    same((await stages()).at(-1).shares, (await vit.classify(drawing, { ablate: { mlps: [4] } })).classes, "by Space");
    await page.keyboard.press("Enter");
    await ready();
    assert.equal(await part("mlp 4 0").getAttribute("aria-pressed"), "false");
  });

  /** What the answer's log-odds lose without each part alone, by its key. */
  const losses = async () => {
    const { index } = (await vit.classify(drawing)).classes[0], { depth, heads } = vit.config, byPart = {};
    const whole = oddsOf((await vit.classify(drawing)).classes, index);
    for (let layer = 0; layer < depth; layer++) {
      for (let head = 0; head <= heads; head++) {
        const [key, ablate] = head < heads ? [`head ${layer} ${head}`, { heads: [[layer, head]] }] : [`mlp ${layer} 0`, { mlps: [layer] }];
        const { classes } = await vit.classify(drawing, { ablate });
        byPart[key] = { odds: oddsOf(classes, index) - whole, label: classes[0].label };
      }
    }
    return byPart;
  };

  test("the question's truth is the worst of its three, and the table leaves out each part in turn", async () => {
    const byPart = await losses(), of = (pattern) => Object.entries(byPart).filter(([key]) => pattern.test(key)).sort(([, a], [, b]) => a.odds - b.odds)[0];
    const worsts = { head: of(/^head 0/), mlp: of(/^mlp 0/), last: of(/ 4 /) };
    const option = Object.keys(worsts).sort((a, b) => worsts[a][1].odds - worsts[b][1].odds)[0];
    const buttons = page.locator("#layers .guess .options button"), truth = page.locator("#layers .truth");
    for (const [at, name] of Object.keys(worsts).entries()) {
      await buttons.nth(at).click();
      await page.locator(`#layers .truth[data-right=${name === option}]`).waitFor();
    }
    const text = (await truth.textContent()).replaceAll("−", "-");
    for (const [, { odds }] of Object.values(worsts)) assert.ok(text.includes(odds.toFixed(1)), `${odds}: ${text}`);
    await page.locator("#layers .sweep summary").click();
    await page.locator("#layers .sweep[aria-busy=false]").waitFor();
    const cells = await page.locator("#layers .sweep td[data-part]").evaluateAll((all) =>
      all.map(({ dataset, textContent }) => ({ ...dataset, text: textContent })));
    assert.deepEqual(cells.map((cell) => cell.part).sort(), Object.keys(byPart).sort());
    const { label } = (await vit.classify(drawing)).classes[0];
    for (const cell of cells) {
      // Logits that differ by 1e-3 change log-odds by 2e-3 at most; the rest is p's own rounding near 1.
      assert.ok(Math.abs(Number(cell.odds) - byPart[cell.part].odds) < 0.02, `${cell.part}: ${cell.odds}`);
      assert.match(cell.text, byPart[cell.part].label === label ? /^[+−]?\d+\.\d$/ : new RegExp(`→ ${byPart[cell.part].label}$`));
    }
  });

  test("in the last block a patch's query changes nothing, as the page says, and the class token's does", async () => {
    assert.match(await page.locator("#layers .last-block").textContent(), /After block 5 only the class token is read/);
    const { logits, trace } = await vit.classify(drawing, { trace: true }), layer = vit.config.depth - 1;
    const replaced = async (isChanged) => {
      const queries = trace.queries(layer, 0), width = queries.length / 50;
      const changed = queries.map((value, i) => (isChanged(Math.floor(i / width)) ? value + 1 : value));
      const now = await vit.classify(drawing, { replace: [{ layer, head: 0, queries: changed }] });
      return Math.max(...now.logits.map((value, i) => Math.abs(value - logits[i])));
    };
    assert.ok((await replaced((token) => token > 0)) < 1e-5);
    assert.ok((await replaced((token) => token === 0)) > 1e-3);
  });

  test("another drawing is read at once; its stage 0 is the same, because the class token has seen nothing", async () => {
    const first = (await stages())[0].shares;
    await page.locator("#clear").click();
    await ink(page, DIGITS[7]);
    await toChapter(page, "layers");
    await page.locator("#layers .layers[data-label='7']").waitFor();
    const rows = await stages();
    rows[0].shares.forEach((p, index) => assert.ok(Math.abs(p - first[index]) < 1e-6));
    same(rows.at(-1).shares, (await vit.classify(await drawingOn(page))).classes, "the other drawing");
  });

  test("another model gets its own stages, and nothing stays left out", async () => {
    await press("mlp 0 0");
    await chooseModel(page, "myvit");
    await toChapter(page, "layers");
    await page.waitForFunction(() => document.querySelectorAll("#layers .stage").length === 3);
    await ready();
    await settled(page);
    assert.equal(await page.locator("#layers .part[aria-pressed=true]").count(), 0);
    const other = await Vit.load(weightsOf("myvit"));
    const { trace } = await other.classify(await drawingOn(page), { trace: true });
    (await stages()).forEach(({ shares }, stage) => same(shares, trace.lens(stage), `myvit, stage ${stage}`));
    other.dispose();
  });
});
