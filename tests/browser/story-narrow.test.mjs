// The story on a dark phone whose owner wishes for less motion: every chapter on one page.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { skipMedia } from "./browsers.mjs";
import { DIGITS, ink, settled, skip, withBrowser } from "./harness.mjs";
import { chooseModel, openChapter } from "./story.mjs";

/** What stands in each chapter when it is built. */
const BUILT = {
  patches: "#patches-filters",
  positions: ".verdict-and-scores tbody tr",
  score: ".number",
  block: ".dots circle",
  layers: ".layers[aria-busy=false]",
  strokes: "#strokes-progress[data-done=true]",
  doubt: ".softmax",
  learning: "#learning-says[data-label]",
  cnn: "#cnn-reached-vit[data-measured='49']",
  masks: ".grid[data-mask] canvas",
  words: "figure[data-back]",
  why: ".why-words:not(:empty)",
  teach: "li",
};

describe("the story on a narrow screen", { skip }, () => {
  const browser = withBrowser();
  let page;
  before(async () => {
    const wishes = skipMedia ? {} : { colorScheme: "dark", reducedMotion: "reduce", hasTouch: true };
    ({ page } = await browser.visit({ viewport: { width: 320, height: 640 }, ...wishes }));
    await ink(page, DIGITS[7]);
  });

  const open = (id) => openChapter(page, id, BUILT[id]);
  async function fits(what) {
    await settled(page);
    const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= screen, `${what}: ${wide} of ${screen}`);
  }

  for (const id of Object.keys(BUILT)) {
    test(`#${id} does not scroll the page sideways`, async () => {
      await open(id);
      await fits(id);
    });
  }

  test("the score's own box scrolls, and its numbers are large enough for a finger", async () => {
    const chapter = await open("score"), box = chapter.locator(".grid-scroll:has(.strip)");
    assert.ok(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth));
    await chapter.locator(".strip").focus();
    await page.keyboard.press("End");
    assert.ok((await box.evaluate(({ scrollLeft }) => scrollLeft)) > 300, "the last token's column is in view");
    for (const { width, height } of await chapter.locator(".number").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON())))
      assert.ok(width >= 24 && height >= 24, `${width} × ${height}`);
  });

  test("Enter on a cell of a map chooses its patch for the whole page", async () => {
    await open("why");
    await page.locator("#why [data-way=rollout] canvas[role=application]").focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await page.locator(".rail-patch", { hasText: "row 2, column 2" }).waitFor({ state: "attached" });
  });

  test("a tap chooses a patch", { skip: skipMedia }, async () => {
    const picture = (await open("cnn")).locator(".grid canvas").first();
    await picture.scrollIntoViewIfNeeded();
    const { width, height } = await picture.boundingBox();
    await picture.tap({ position: { x: (width * 1.5) / 7, y: (height * 4.5) / 7 } });
    await page.locator(".rail-patch", { hasText: "row 5, column 2" }).waitFor({ state: "attached" });
  });

  test("nor does a chapter with another kind of positions, or with a model without a stem", async () => {
    const chapter = await open("positions");
    await chapter.locator("#positions-kind input[value=relative]").check({ force: true });
    await page.locator("#positions[data-kind=relative]").waitFor();
    await fits("relative positions");
    await chooseModel(page, "myvit");
    await open("patches");
    await page.locator("#patches-filters").waitFor();
    await fits("patches");
    await open("strokes");
    await fits("strokes");
  });

  test("where less motion is wanted nothing plays or flies, and sliders and keys work", { skip: skipMedia }, async () => {
    await open("patches");
    await page.locator("#patches-grid").press("ArrowDown");
    await settled(page);
    assert.equal(await page.locator(".flying").count(), 0);
    for (const name of ["Add them up", "Replay"]) assert.equal(await page.getByRole("button", { name }).count(), 0, name);
    await open("learning");
    assert.equal(await page.locator(".learning-control button").isVisible(), false);
    await page.locator("#learning-step").focus();
    await page.keyboard.press("Home");
    await page.locator("#learning-says[data-step='0']").waitFor();
    await page.keyboard.press("End");
    await page.locator("#learning-says[data-label='7']:not([data-step='0'])").waitFor();
  });
});
