import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import {
  DIGITS,
  gate,
  ink,
  modelWith,
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

  for (const [colorScheme, width] of [
    ["light", 320],
    ["dark", 1200],
  ]) {
    test(`an unsure model shows its guess pale, "unsure" and the runner-up beside it, ${colorScheme}, ${width} pixels wide`, async () => {
      const { page } = await visitWith(
        { uncertain_below: 1 },
        { colorScheme, viewport: { width, height: 740 } },
      );
      const colour = () => page.locator("#prediction strong").evaluate((strong) => getComputedStyle(strong).color);
      await ink(page, DIGITS[7]);
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
    for (const uncertain_below of [1, 0.5]) {
      const { page } = await visitWith({ uncertain_below });
      await ink(page, DIGITS[7]);
      const { label, uncertain } = await dataset(page);
      assert.equal(label, "7");
      assert.equal(uncertain, uncertain_below === 1 ? "true" : undefined);
      assert.equal(await page.locator("#caption").textContent(), uncertain_below === 1 ? "unsure" : "certain");
      boxes.push(await page.locator("#prediction").boundingBox());
      await page.click("#clear");
      await settled(page);
      assert.deepEqual(await dataset(page), { label: "", p: "" });
      assert.equal(await page.locator("#prediction strong").textContent(), "");
      boxes.push(await page.locator("#prediction").boundingBox());
    }
    for (const box of boxes) for (const side of Object.keys(box)) assert.ok(Math.abs(box[side] - boxes[0][side]) < 1, JSON.stringify(boxes));
  });

  test("a lower temperature gives a larger probability, and the page shows temperature and limit", async () => {
    const shares = [];
    for (const temperature of [1, 0.6]) {
      const { page } = await visitWith({ temperature, uncertain_below: 0.4 });
      await ink(page, DIGITS[7]);
      shares.push(Number((await prediction(page)).p));
      const words = await page.locator("[data-fact=calibration]").textContent();
      assert.equal(words.includes("divided by 0.60"), temperature === 0.6, words);
      assert.match(words, /below 40\.0 % counts as not sure/);
    }
    assert.ok(shares[1] > shares[0], `${shares}`);
  });
});

/** Waits until the example has written itself: a few frames leave it as it is. */
const writtenOut = (page) => page.waitForFunction(() => {
  const { now, seen = "", count = 0 } = { now: document.getElementById("pad").toDataURL(), ...globalThis.example };
  globalThis.example = { seen: now, count: now === seen ? count + 1 : 0 };
  return count > 5;
});

describe("the choice of a model", { skip }, () => {
  const browser = withBrowser();

  const options = (page, id) => page.locator(`#${id} option`).count();
  const weights = async (page) => (await page.locator("#running").textContent()).match(/\d+ kB/)?.[0];
  const ready = (page) => page.locator("#status.ready").waitFor();

  test("the journey of a model with a stem draws the stem, and says how many pixels a patch sees through it", async () => {
    const { page } = await browser.visit({ closer: true });
    await ink(page, DIGITS[7]);
    // By hand: each convolution adds two places, each stride doubles what a place is.
    for (const [model, many, field] of [["digits-stem", "6", "29"], ["digits-large", "6", "23"]]) {
      await page.selectOption("#model", model);
      await page.waitForURL(`**/?model=${model}`);
      await settled(page);
      assert.equal(await page.locator("[data-fact=stem]").textContent(), many);
      assert.equal(await page.locator("[data-fact=field]").textContent(), `${field}\u00a0×\u00a0${field}`);
      const before = await picture(page, "#stem");
      await page.locator("#pixels").focus();
      await page.keyboard.press("ArrowLeft");
      await settled(page);
      assert.notEqual(await picture(page, "#stem"), before, "another patch has another field");
    }
    await page.selectOption("#model", "digits");
    await page.waitForURL((url) => url.search === "");
    await ready(page);
    assert.equal(await page.locator("#stem").isVisible(), false, "a plain model has no stem");
    assert.doesNotMatch(await page.locator(".journey").innerText(), /convolution/i);
  });

  test("the journey shows the shape after each step, and its own tokens' numbers before the blocks and after", async () => {
    const { page } = await browser.visit({ closer: true });
    await ink(page, DIGITS[3]);
    for (const [model, shapes] of [
      ["digits", ["28 × 28", "49 × 16", "50 × 80", "50 × 80", "10"]],
      ["digits-stem", ["28 × 28", "7 × 7 × 64", "50 × 64", "50 × 64", "10"]],
      ["digits-large", ["28 × 28", "7 × 7 × 128", "50 × 96", "50 × 96", "10"]],
    ]) {
      if (model !== "digits") {
        await page.selectOption("#model", model);
        await page.waitForURL(`**/?model=${model}`);
        await settled(page);
      }
      const shown = await page.locator(".journey .shape:visible").evaluateAll((all) => all.map(({ textContent }) => textContent));
      assert.deepEqual(shown.map((text) => text.replaceAll("\u00a0", " ")), shapes);
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
    for (const [asked, want] of [
      ["myvit", "myvit"],
      ["digits-stem", "digits-stem"],
      ["digits-large", "digits-large"],
      ["x", "digits"],
    ]) {
      const { page } = await browser.visit({ closer: true, address: `${browser.address}?model=${asked}` });
      assert.equal(await page.inputValue("#model"), want);
      assert.equal(await options(page, "layer"), configOf(want).depth);
      await ink(page, DIGITS[1]);
      assert.equal((await prediction(page)).label, "1");
    }
  });

  for (const [what, answer, words] of [
    ["that is missing", { status: 404, body: "not found" }, /404/],
    ["that is no model", { body: '\x10\0\0\0\0\0\0\0{"a":' }, /./],
  ]) {
    test(`a model ${what} leaves the old model in use, the page says so, and Retry loads it`, async () => {
      const { page } = await browser.visit({ excused: /404/, closer: true,
        before: (page) => page.route(MYVIT_WEIGHTS, (route) => route.fulfill(answer)),
      });
      await ink(page, DIGITS[7]);
      const before = await prediction(page);
      await page.selectOption("#model", "myvit");
      const alert = page.locator("#status[role=alert] span");
      await alert.waitFor();
      const text = await alert.textContent();
      assert.match(text, /myvit did not load, digits stays: .{10,}/);
      assert.match(text, words);
      assert.equal(await page.inputValue("#model"), "digits");
      assert.equal(new URL(page.url()).search, "");
      assert.deepEqual(await prediction(page), before);
      await page.unroute(MYVIT_WEIGHTS);
      await page.click("#retry");
      await page.waitForURL(/model=myvit/);
      await ready(page);
      assert.equal(await page.inputValue("#model"), "myvit");
    });
  }

  test("after a model did not load, the old model reads the next stroke and the notice goes", async () => {
    const { page } = await browser.visit({ excused: /ERR_FAILED/, closer: true, reducedMotion: "no-preference",
      before: (page) => page.route(MYVIT_WEIGHTS, (route) => route.abort()),
    });
    await page.selectOption("#model", "myvit");
    await page.locator("#retry").waitFor();
    await writtenOut(page);
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
