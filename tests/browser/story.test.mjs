// The story below the opening: what stays pinned, when its code loads, what all chapters share.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { skipMedia } from "./browsers.mjs";
import { Vit } from "../../dist/vit.js";
import { DIGITS, draw, ink, openCloser, prediction, saved, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { drawingOn, readBy, weightsOf } from "./story.mjs";

const CHAPTERS = ["patches", "score", "block", "positions", "layers", "why", "learning", "doubt", "cnn", "masks", "words", "teach"];

describe("the story", { skip }, () => {
  const browser = withBrowser();
  let page;
  before(async () => {
    ({ page } = await browser.visit());
    await ink(page, DIGITS[3]);
  });

  const open = async (page, id) => {
    await toChapter(page, id);
    await page.locator("#rail-pad").waitFor();
    await settled(page);
  };

  test("its chapters stand in order, each with a heading that names it", async () => {
    const headings = await page.locator("#chapters .chapter").evaluateAll((all) =>
      all.map((chapter) => [chapter.id, document.getElementById(chapter.getAttribute("aria-labelledby")).textContent]));
    assert.deepEqual(headings.map(([id]) => id), CHAPTERS);
    for (const [id, title] of headings) assert.match(title, /\w{3}/, id);
  });

  test("on 1280×900 the chapters but the decoder's are at most 16 screens, all at most 2,600 words, and the rail has room for their numbers", async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    for (const id of CHAPTERS) {
      await open(page, id);
      await page.locator(`#${id} > .saves`).waitFor({ state: "attached" });
    }
    const chapters = await page.locator("#chapters .chapter").evaluateAll((all) =>
      all.map((chapter) => ({ id: chapter.id, height: chapter.offsetHeight, words: chapter.innerText.match(/\p{L}[\p{L}’'-]+/gu).length })));
    const sum = (key, but) => chapters.filter(({ id }) => id !== but).reduce((total, chapter) => total + chapter[key], 0);
    assert.ok(sum("height", "words") <= 16 * 900, JSON.stringify(chapters));
    assert.ok(sum("words") > 2000 && sum("words") <= 2600, JSON.stringify(chapters));
    const [room, number] = await page.locator(".steps ol").evaluate((list) => {
      const { paddingLeft, font } = getComputedStyle(list), pen = document.createElement("canvas").getContext("2d");
      pen.font = font;
      return [parseFloat(paddingLeft), pen.measureText(`${list.children.length}. `).width];
    });
    assert.ok(room >= number, `${room} of ${number} pixels`);
  });

  test("the way down counts the steps of the story", async () => {
    assert.equal(Number(await page.locator("#steps").textContent()), CHAPTERS.length - 1, "the page for teachers is no step");
  });

  test("the page's script is at most 43.7 kB gzipped before the first prediction, and 130 kB in all; a language is at most 25 kB of data; what trains is 27 kB more, what reads other code's files 41, and 2.9 for what is rare in them, 2.5 for a decoder, what runs texts and objects 21.4", async () => {
    const assets = new URL("../../build/page/assets/", import.meta.url);
    const sizesOf = (kind) => readdirSync(assets).filter((name) => name.endsWith(kind))
      .map((name) => [name, gzipSync(readFileSync(new URL(name, assets)), { level: 9 }).length]);
    const sizes = sizesOf(".js");
    const html = readFileSync(new URL("../index.html", assets), "utf8");
    const sum = (list) => list.reduce((total, [, size]) => total + size, 0);
    const first = sizes.filter(([name]) => html.includes(name));
    assert.ok(first.length > 0 && sum(first) <= 43_700, `${sum(first)}: ${first}`);
    const languages = sizesOf(".json").filter(([name]) => /^(en|de|fr|sr|es|zh)-/.test(name));
    assert.equal(languages.length, 6);
    for (const [name, size] of languages) assert.ok(size <= 25_000, `${name}: ${size}`);
    const training = sizes.filter(([name]) => /^(train|train-worker|teach|live)-/.test(name));
    assert.ok(training.length >= 3 && sum(training) <= 27_000, `${sum(training)}: ${training}`);
    const reading = sizes.filter(([name]) => /^(foreign|pickle|impostors|structure|settings|examples)-/.test(name));
    assert.ok(reading.length === 6 && sum(reading) <= 41_000, `${sum(reading)}: ${reading}`);
    const rare = sizes.filter(([name]) => name.startsWith("rare-"));
    assert.ok(rare.length === 1 && sum(rare) <= 2_900, `${rare}`);
    const decoder = sizes.filter(([name]) => name.startsWith("decoder-"));
    assert.ok(decoder.length === 1 && sum(decoder) <= 2_500, `${decoder}`);
    const texts = sizes.filter(([name]) => /^(text|entities|decoders)-/.test(name));
    assert.ok(texts.length === 3 && sum(texts) <= 21_400, `${sum(texts)}: ${texts}`);
    const others = sum(sizes) - sum(training) - sum(reading) - sum(rare) - sum(decoder) - sum(texts);
    assert.ok(others <= 130_000, `${others}: ${sizes}`);
  });

  test("a chapter below the screen waits while the pen is down, and follows when it lifts", async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await open(page, "patches");
    await page.locator("#patches figure").first().waitFor();
    await page.evaluate(() => {
      scrollTo(0, 0);
      globalThis.changes = 0;
      new MutationObserver((records) => (globalThis.changes += records.length))
        .observe(document.getElementById("patches"), { subtree: true, childList: true, attributes: true, characterData: true });
    });
    const changes = () => page.evaluate(() => globalThis.changes);
    await page.click("#clear");
    await settled(page);
    const before = await changes(), during = [];
    await draw(page, DIGITS[3], { moves: 1, during: async () => (await settled(page), during.push(await changes())) });
    assert.deepEqual(during, during.map(() => before));
    await page.waitForFunction((before) => globalThis.changes > before, before);
  });

  for (const [width, height, most] of [[1280, 900, 900], [390, 844, 96], [740, 360, 96], [320, 560, 96]]) {
    test(`drawing and answer stay pinned at ${width}×${height}, in at most ${most} pixels`, async () => {
      await page.setViewportSize({ width, height });
      for (const id of ["positions", "masks"]) {
        await open(page, id);
        const rail = await page.locator("#rail").boundingBox();
        assert.ok(rail.height <= most, `${rail.height} pixels high`);
        for (const part of ["#rail-pad", "#rail-answer"]) {
          const box = await page.locator(part).boundingBox();
          assert.ok(box.y >= 0 && box.y + box.height <= height && box.x >= 0 && box.x + box.width <= width,
            `${part}: ${JSON.stringify(box)}`);
        }
        assert.equal(await page.locator("#rail-answer strong").textContent(), "3");
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no scrolling sideways");
      }
      await page.setViewportSize({ width: 1200, height: 900 });
    });
  }

  test("the pinned pad draws too, and the whole page reads what it drew", async () => {
    await open(page, "layers");
    await page.locator("#rail button", { hasText: "Clear" }).click();
    const box = await page.locator("#rail-pad").boundingBox();
    const spot = ([x, y]) => [box.x + (x / 100) * box.width, box.y + (y / 100) * box.height];
    for (const stroke of DIGITS[7]) {
      await page.mouse.move(...spot(stroke[0]));
      await page.mouse.down();
      for (const corner of stroke.slice(1)) await page.mouse.move(...spot(corner), { steps: 2 });
      await page.mouse.up();
    }
    await settled(page);
    assert.equal((await prediction(page)).label, "7");
    assert.equal(await page.locator("#rail-answer strong").textContent(), "7");
  });

  test("the plain model tells the story, and a chip gives it to one behind convolutions", async () => {
    await open(page, "why");
    const drawing = await drawingOn(page), railAnswer = () => page.locator("#rail-answer").evaluate((answer) => [answer.dataset.label, answer.textContent]);
    for (const [reader, name] of [["page", "digits-stem"], ["plain", "digits"]]) {
      await readBy(page, reader);
      const vit = await Vit.load(weightsOf(name)), { classes: [best] } = await vit.classify(drawing);
      vit.dispose();
      const percent = best.p > 0.9995 ? "> 99.9 %" : `${(100 * best.p).toFixed(1)} %`;
      await page.locator("#rail-answer span", { hasText: percent }).waitFor();
      assert.deepEqual(await railAnswer(), [best.label, best.label + percent]);
    }
  });

  test("on a blank pad the chapters show the page's example, and the rail says so", async () => {
    await open(page, "why");
    await page.locator("#rail button", { hasText: "Clear" }).click();
    await page.locator(".rail-patch", { hasText: "this is an example" }).waitFor();
    assert.equal(await page.locator("#rail-answer strong").textContent(), "blank pad");
    await page.locator("#why .lead", { hasText: "made it say 3." }).waitFor();
    await ink(page, DIGITS[7]);
    await page.locator("#why .lead", { hasText: "made it say 7." }).waitFor();
  });

  test("the rail's list names the step in the middle of the screen, and a step leads to its chapter", async () => {
    await open(page, "why");
    const steps = page.locator("#rail .steps a");
    assert.deepEqual(await steps.evaluateAll((links) => links.map(({ hash }) => hash.slice(1))), CHAPTERS);
    await page.locator("#rail .steps [aria-current=step]", { hasText: "Which patches spoke" }).waitFor();
    await steps.last().click();
    await page.locator("#rail .steps [aria-current=step]", { hasText: "For teachers" }).waitFor();
  });

  test("layer and head chosen beside the story are the page's, and the other way round", async () => {
    await page.selectOption("#rail-layer", "2");
    await page.selectOption("#rail-head", "3");
    await settled(page);
    assert.equal(await page.inputValue("#layer"), "2");
    assert.equal(await page.inputValue("#head"), "3");
    await openCloser(page);
    await page.selectOption("#head", "1");
    await settled(page);
    assert.equal(await page.locator("#rail-head").inputValue(), "1");
  });

  test("a layer and a head that the page's model lacks can be chosen for the story's", async () => {
    const { page } = await browser.visit({ address: `${browser.address}?model=myvit` });
    await ink(page, DIGITS[3]);
    await open(page, "layers");
    await page.selectOption("#rail-layer", "4");
    await page.selectOption("#rail-head", "3");
    await settled(page);
    assert.deepEqual([await page.inputValue("#rail-layer"), await page.inputValue("#rail-head")], ["4", "3"]);
    assert.equal(await page.inputValue("#layer"), "2", "the page keeps its own");
    await page.selectOption("#rail-layer", "1");
    await settled(page);
    assert.deepEqual([await page.inputValue("#rail-layer"), await page.inputValue("#layer")], ["1", "1"]);
  });

  test("in forced colours a chosen chip and a chosen head look chosen", { skip: skipMedia }, async () => {
    await page.emulateMedia({ forcedColors: "active" });
    const look = (locator) => locator.evaluate((element) => {
      const { backgroundColor, color, outlineStyle, outlineColor } = getComputedStyle(element);
      return [backgroundColor, color, outlineStyle, outlineColor].join(" ");
    });
    for (const [id, chosen, other] of [
      ["masks", "input:checked + span", "input:not(:checked) + span"],
      ["score", ".head-map[aria-pressed=true]", ".head-map[aria-pressed=false]"],
    ]) {
      await open(page, id);
      await page.locator(`#${id} details`).evaluateAll((all) => all.forEach((details) => (details.open = true)));
      const [one, two] = [chosen, other].map((selector) => page.locator(`#${id} ${selector}`).first());
      await one.waitFor();
      assert.notEqual(await look(one), await look(two), id);
    }
    await page.emulateMedia({ forcedColors: "none" });
  });

  test("the story is part of the first tab alone", async () => {
    await page.locator("#tab-own").click();
    assert.equal(await page.locator("#story").isVisible(), false);
    await page.locator("#tab-draw").click();
    assert.equal(await page.locator("#story").isVisible(), true);
  });

  test("its code is fetched only when the visitor scrolls towards it", async () => {
    const fetched = [];
    const { page } = await browser.visit({
      viewport: { width: 390, height: 700 },
      before: (page) => page.on("request", (request) => fetched.push(new URL(request.url()).pathname)),
    });
    await settled(page);
    const early = fetched.length;
    assert.equal(await page.locator("#rail-pad").count(), 0);
    await open(page, "layers");
    assert.ok(fetched.slice(early).some((path) => path.endsWith(".js")), fetched.slice(early).join(" "));
  });

  test("if the plain model does not load, the page's reads, the story says why, and Try again brings the plain one", async () => {
    const plain = /\/digits-(?!stem|large|int8)[^/]*\.safetensors/, before = (page) => page.route(plain, (route) => route.fulfill({ status: 503 }));
    const { page } = await browser.visit({ address: `${browser.address}?model=digits-stem`, excused: /503/, before });
    await ink(page, DIGITS[7]);
    await open(page, "why");
    await page.locator("#story-status.failed", { hasText: "the server answered 503" }).waitFor();
    await page.locator("#why .lead", { hasText: "made it say 7." }).waitFor();
    await page.unroute(plain);
    const fetched = page.waitForResponse(plain);
    await page.locator("#story-retry").click();
    assert.equal((await fetched).status(), 200);
    await page.locator("#story-status").waitFor({ state: "hidden" });
  });

  test("a chapter's figures are saved from one list", async () => {
    await open(page, "why");
    await page.locator("#why .saves summary").click();
    await page.locator("#why .saves button").first().waitFor();
    const names = await page.locator("#why .saves button").allTextContents();
    assert.deepEqual(names, ["Occlusion", "Gradient × attention", "Rollout"]);
    const { name, bytes } = await saved(page, () => page.locator("#why .saves button").first().click());
    assert.equal(name, "occlusion.png");
    assert.deepEqual([...bytes.subarray(1, 4)], [..."PNG"].map((letter) => letter.charCodeAt()));
  });

  test("a chapter whose code does not load says so, and Retry brings it with the drawing kept", async () => {
    const { page } = await browser.visit({ excused: /ERR_FAILED/, before: (page) => page.route("**/assets/chapters-*.js", (route) => route.abort()) });
    await ink(page, DIGITS[7]);
    const answer = await prediction(page);
    await open(page, "teach");
    await page.locator("#teach .failed", { hasText: "did not load" }).waitFor();
    assert.equal(await page.locator("#teach li").count(), 0);
    await page.unroute("**/assets/chapters-*.js");
    await page.locator("#teach .failed button").click();
    await page.locator("#teach li").first().waitFor();
    await settled(page);
    const { label, p } = await prediction(page);
    assert.equal(label, answer.label);
    assert.ok(Math.abs(p - answer.p) < 1e-4, `${p}, ${answer.p} before`);
  });
});
