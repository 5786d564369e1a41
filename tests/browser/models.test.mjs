import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import {
  DIGITS,
  gate,
  ink,
  modelWith,
  openCloser,
  painted,
  picture,
  prediction,
  settled,
  skip,
  withBrowser,
} from "./harness.mjs";
import { drawingOn, weightsOf } from "./story.mjs";

const DIGIT_WEIGHTS = "**/digits*.safetensors";
/** The shape of a shipped model, from its recipe. */
const configOf = (name) => {
  const recipe = new URL(`../../weights/${name}.recipe.json`, import.meta.url);
  return JSON.parse(readFileSync(recipe, "utf8")).model;
};
const { depth: DEPTH, heads: HEADS } = configOf("digits");
const MYVIT_WEIGHTS = "**/myvit*.safetensors";

const dataset = (page) =>
  page.locator("#prediction").evaluate((output) => ({ ...output.dataset }));

describe("a model that is not sure", { skip }, () => {
  const browser = withBrowser();

  const visitWith = async (config, options) => {
    const body = await modelWith("digits", config);
    return browser.visit({
      before: (page) => page.route(DIGIT_WEIGHTS, (route) => route.fulfill({ body })),
      ...options,
    });
  };
  /** The same drawing read by a model that is never sure, and by one of a lower temperature that often is. */
  let unsure, sure;
  before(async () => {
    ({ page: unsure } = await visitWith({ uncertain_below: 1, temperature: 1 }));
    ({ page: sure } = await visitWith({ uncertain_below: 0.4, temperature: 0.6 }));
    for (const page of [unsure, sure]) await ink(page, DIGITS[7]);
  });

  for (const [colorScheme, width] of [
    ["light", 320],
    ["dark", 1200],
  ]) {
    test(`an unsure model shows its guess pale, "unsure" and the runner-up beside it, ${colorScheme}, ${width} pixels wide`, async () => {
      const page = unsure;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 740 });
      await settled(page);
      const colour = () => page.locator("#prediction strong").evaluate((strong) => getComputedStyle(strong).color);
      const { label, p, uncertain } = await dataset(page);
      assert.match(label, /^[0-9]$/);
      assert.ok(Number(p) > 0 && Number(p) < 1, `p is ${p}`);
      assert.equal(uncertain, "true");
      assert.equal(await page.locator("#prediction strong").textContent(), label);
      assert.notEqual(await colour(), await page.evaluate(() => getComputedStyle(document.body).color), "it is pale");
      assert.equal(await page.locator("#caption").textContent(), "unsure");
      assert.match(await page.locator(".sure > span").textContent(), /^\S.* %; next \d, /);
      assert.match(
        await page.locator("#announce").textContent(),
        new RegExp(`^Not sure, perhaps ${label}, `),
      );
      const best = page.locator("#bars .best");
      assert.equal(await best.getAttribute("data-label"), label);
      assert.equal(Number(await best.getAttribute("data-p")), Number(p));
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${over}`);
    });
  }

  for (const [name, config] of [
    ["uncertain", { temperature: 60, uncertain_below: 1 }],
    ["certain", { temperature: 60 }],
  ]) {
    test(`where all classes are nearly alike the page shows no digit and offers to learn the sign, ${name} or not`, async () => {
      const { page } = await visitWith(config, { viewport: { width: 320, height: 740 } });
      await ink(page, DIGITS[7]);
      const { label, p } = await dataset(page);
      assert.equal(label, "7", "the attributes still name the largest class");
      assert.ok(Number(p) > 0.1 && Number(p) < 0.2, `p is ${p}`);
      assert.equal(await page.locator("#prediction strong").textContent(), "?");
      assert.equal(await page.locator("#caption").textContent(), "no digit it knows");
      assert.match(await page.locator(".sure > span").textContent(), /^nearest: 7, 1\d\.\d %$/);
      assert.equal(await page.locator("#teach-this").textContent(), "Teach it this sign");
      assert.equal(await page.locator("#bars .best").count(), 0);
      assert.match(await page.locator("#announce").textContent(), /^Sees no digit\. /);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${over} pixels too wide`);
    });
  }

  test("only an uncertain answer is unsure, and it takes the same room as a certain one", async () => {
    const boxes = [];
    for (const page of [unsure, sure]) {
      await page.setViewportSize({ width: 1200, height: 900 });
      await settled(page);
      const { label, uncertain } = await dataset(page);
      assert.equal(label, "7");
      assert.equal(uncertain, page === unsure ? "true" : undefined);
      assert.equal(await page.locator("#caption").textContent(), page === unsure ? "unsure" : "certain");
      boxes.push(await page.locator("#prediction").boundingBox());
      await page.click("#clear");
      await settled(page);
      assert.deepEqual(await dataset(page), { label: "", p: "" });
      assert.equal(await page.locator("#prediction strong").textContent(), "");
      boxes.push(await page.locator("#prediction").boundingBox());
      await page.click("#undo");
      await settled(page);
    }
    for (const box of boxes) for (const side of Object.keys(box)) assert.ok(Math.abs(box[side] - boxes[0][side]) < 1, JSON.stringify(boxes));
  });

  test("a lower temperature gives a larger probability, and the page shows temperature and limit", async () => {
    const shares = [];
    for (const page of [unsure, sure]) {
      await openCloser(page);
      shares.push(Number((await prediction(page)).p));
      const words = await page.locator("[data-fact=calibration]").textContent();
      assert.equal(words.includes("divided by 0.60"), page === sure, words);
      assert.match(words, page === sure ? /below 40\.0 % counts as not sure/ : /below > 99\.9 % counts as not sure/);
    }
    assert.ok(shares[1] > shares[0], `${shares}`);
  });
});

/** Waits until the example has written itself: a few frames leave it as it is. */
const waitForExample = (page) => page.waitForFunction(() => {
  const { now, last = "", count = 0 } = { now: document.getElementById("pad").toDataURL(), ...globalThis.example };
  globalThis.example = { last: now, count: now === last ? count + 1 : 0 };
  return count > 5;
});

describe("the choice of a model", { skip }, () => {
  const browser = withBrowser();

  const options = (page, id) => page.locator(`#${id} option`).count();
  const weights = async (page) => (await page.locator("#running").textContent()).match(/\d+ kB/)?.[0];
  const ready = (page) => page.locator("#status.ready").waitFor();

  const JOURNEY = ["Pixels", "Patches", "Tokens", "Blocks", "Logits", "Overlay"];
  const STEM = ["Pixels", "Convolutions", ...JOURNEY.slice(2)]; // convolutions leave no patch to cut
  describe("the journey", () => {
    let page;
    before(async () => {
      ({ page } = await browser.visit({ viewport: { width: 1280, height: 900 }, closer: true }));
      await ink(page, DIGITS[3]);
    });

    // A patch's field by hand: each convolution adds two places, each stride doubles what a place is.
    for (const [model, names, shapes, field] of [
      ["digits-stem", STEM, ["28 × 28", "7 × 7 × 64", "50 × 64", "50 × 64", "10"], 29],
      ["digits-large", STEM, ["28 × 28", "7 × 7 × 128", "50 × 96", "50 × 96", "10"], 23],
      ["myvit", JOURNEY, ["28 × 28", "49 × 16", "50 × 8", "50 × 8", "10"]],
      ["digits", JOURNEY, ["28 × 28", "49 × 16", "50 × 80", "50 × 80", "10"]],
    ]) {
      test(`of ${model}: figures of one size, the shape after each step, its own tokens' numbers before the blocks and after${field ? ", and how many pixels a patch sees through the stem" : ""}`, async () => {
        await page.selectOption("#model", model);
        await page.waitForURL((url) => url.search === (model === "digits" ? "" : `?model=${model}`));
        await settled(page);
        const steps = await page.locator(".journey li:not([hidden])").evaluateAll((all) =>
          all.map((step) => {
            const { width, height } = step.firstElementChild.getBoundingClientRect();
            return { name: step.querySelector("h3").textContent, size: `${Math.round(width)}×${Math.round(height)}` };
          }));
        assert.deepEqual(steps.map(({ name }) => name), names);
        assert.equal(new Set(steps.map(({ size }) => size)).size, 1, JSON.stringify(steps));
        const texts = await page.locator(".journey .shape:visible").evaluateAll((all) => all.map(({ textContent }) => textContent));
        assert.deepEqual(texts.map((text) => text.replaceAll("\u00a0", " ")), shapes);
        const vit = await Vit.load(weightsOf(model)), { width, depth } = vit.config;
        const { trace } = await vit.classify(await drawingOn(page), { trace: true });
        vit.dispose();
        for (const [id, fact, stage] of [["tokens", "begin", 0], ["blocks", "end", depth]]) {
          const values = trace.tokens(stage), top = Math.max(...values.map(Math.abs));
          await page.locator(`[data-fact=${fact}]`, { hasText: String(Number(top.toPrecision(2))) }).waitFor();
          const pixels = await page.locator(`#${id}`).evaluate((canvas) => {
            const { data } = canvas.getContext("2d", { willReadFrequently: true }).getImageData(2, 0, canvas.width - 2, canvas.height);
            return Array.from({ length: data.length / 4 }, (_, i) => data[4 * i] - data[4 * i + 2]); // red less blue
          });
          assert.equal(pixels.length, 50 * width);
          values.forEach((value, i) => {
            if (Math.abs(value) > 0.02 * top) assert.equal(Math.sign(pixels[i] - 2), Math.sign(value), `${model}, ${id}, number ${i}`);
          });
        }
        if (!field) {
          assert.equal(await page.locator("#stem").isVisible(), false, "a plain model has no stem");
          return assert.doesNotMatch(await page.locator(".journey").innerText(), /convolution/i);
        }
        assert.equal(await page.locator("[data-fact=stem]").textContent(), "6");
        assert.equal(await page.locator("[data-fact=field]").textContent(), `${field}\u00a0×\u00a0${field}`);
        const before = await picture(page, "#stem");
        await page.locator("#pixels").focus();
        await page.keyboard.press("ArrowLeft");
        await settled(page);
        assert.notEqual(await picture(page, "#stem"), before, "another patch has another field");
      });
    }
  });

  test("choosing a model keeps the drawing, reads it again, and fits layers, heads and maps", async () => {
    const { page } = await browser.visit({ closer: true });
    assert.equal(await page.inputValue("#model"), "digits");
    await ink(page, DIGITS[1]);
    await page.selectOption("#head", "4");
    await settled(page);
    const before = {
      pad: await picture(page, "#pad"),
      overlay: await picture(page, "#overlay"),
      weights: await weights(page),
      p: (await prediction(page)).p,
    };
    await page.selectOption("#model", "myvit");
    await page.waitForURL(/\?model=myvit$/);
    await ready(page);
    await settled(page);
    assert.equal(await picture(page, "#pad"), before.pad);
    assert.notEqual(await picture(page, "#overlay"), before.overlay);
    assert.ok((await painted(page, "#overlay")) > 1000);
    const after = await prediction(page);
    assert.equal(after.label, "1");
    assert.notEqual(after.p, before.p);
    assert.deepEqual([await options(page, "layer"), await options(page, "head")], [2, 3]);
    assert.equal(await page.inputValue("#head"), "mean", "there is no fourth head");
    assert.equal(await page.locator("#maps button").count(), 4);
    assert.equal(await page.locator("[data-fact=width]").first().textContent(), "8");
    assert.notEqual(await weights(page), before.weights);
    await page.selectOption("#model", "digits");
    await page.waitForURL((url) => url.search === "");
    await ready(page);
    await settled(page);
    assert.deepEqual([await options(page, "layer"), await options(page, "head")], [DEPTH, HEADS + 1]);
    assert.equal((await prediction(page)).p, before.p);
    assert.equal(await weights(page), before.weights);
  });

  test("the page begins with the model of ?model=…, or with digits if there is no such model", async () => {
    for (const [parameter, want] of [["digits-large", "digits-large"], ["x", "digits"]]) { // story.test.mjs begins with others
      const { page } = await browser.visit({ closer: true, address: `${browser.address}?model=${parameter}` });
      assert.equal(await page.inputValue("#model"), want);
      assert.equal(await options(page, "layer"), configOf(want).depth);
      await ink(page, DIGITS[1]);
      assert.equal((await prediction(page)).label, "1");
    }
  });

  test("a model that is missing, or no model, leaves the old model in use, the page says so, and Retry loads it", async () => {
    let answer;
    const { page } = await browser.visit({ excused: /404/, closer: true,
      before: (page) => page.route(MYVIT_WEIGHTS, (route) => route.fulfill(answer)),
    });
    await ink(page, DIGITS[7]);
    const before = await prediction(page), alert = page.locator("#status[role=alert] span");
    for (const [response, words] of [
      [{ body: '\x10\0\0\0\0\0\0\0{"a":' }, /myvit did not load, digits stays: (?!.*404).{10,}/],
      [{ status: 404, body: "not found" }, /myvit did not load, digits stays: (?=.*404).{10,}/],
    ]) {
      answer = response;
      await page.selectOption("#model", "myvit");
      await alert.filter({ hasText: words }).waitFor();
      assert.equal(await page.inputValue("#model"), "digits");
      assert.equal(new URL(page.url()).search, "");
      assert.deepEqual(await prediction(page), before);
    }
    await page.unroute(MYVIT_WEIGHTS);
    await page.click("#retry");
    await page.waitForURL(/model=myvit/);
    await ready(page);
    assert.equal(await page.inputValue("#model"), "myvit");
  });

  test("after a model did not load, the old model reads the next stroke and the notice goes", async () => {
    const { page } = await browser.visit({ excused: /ERR_FAILED/, closer: true, reducedMotion: "no-preference",
      before: (page) => page.route(MYVIT_WEIGHTS, (route) => route.abort()),
    });
    await page.selectOption("#model", "myvit");
    await page.locator("#retry").waitFor();
    await waitForExample(page);
    assert.ok(await page.locator("#retry").isVisible());
    await ink(page, DIGITS[1]);
    await ready(page);
    assert.equal((await prediction(page)).label, "1");
  });

  test("the old model reads while a new one loads, and of several choices the last one stays", async () => {
    const weights = gate(), ended = gate();
    const { page } = await browser.visit({ closer: true,
      before: (page) =>
        page.route(MYVIT_WEIGHTS, async (route) => {
          await weights.opened;
          await route.continue().catch(() => {}); // the page no longer wants it
          ended.open();
        }),
    });
    await page.selectOption("#model", "myvit");
    await ink(page, DIGITS[7]);
    assert.equal((await prediction(page)).label, "7");
    assert.match(await page.locator("#status.loading").textContent(), /Fetching the model/);
    assert.equal(await options(page, "layer"), DEPTH);
    await page.selectOption("#model", "digits");
    await ready(page);
    weights.open();
    await ended.opened;
    await settled(page);
    assert.equal(await page.inputValue("#model"), "digits");
    assert.equal(await options(page, "layer"), DEPTH);
  });

  test("the choice of a model works by keyboard, has a label and fits a narrow screen", async () => {
    const { page } = await browser.visit({ closer: true, viewport: { width: 320, height: 740 } });
    await page.getByRole("combobox", { name: "Model", exact: true }).focus();
    await page.keyboard.press("ArrowDown");
    await page.waitForURL(/model=digits-stem/);
    await ready(page);
    assert.equal(await page.evaluate(() => document.activeElement.id), "model");
    const { height } = await page.locator("#model").boundingBox();
    assert.ok(height >= 44, `${height} pixels high`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${over} pixels stick out`);
  });
});
