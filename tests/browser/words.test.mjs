// The page for people who cannot see it: spoken words, undone choices, large text, forced colours.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { DIGITS, ink, settled, skip, withBrowser } from "./harness.mjs";

describe("the page in words", { skip }, () => {
  const browser = withBrowser();
  let page;
  before(async () => {
    ({ page } = await browser.visit({ closer: true }));
  });
  const announcement = () => page.locator("#announce").textContent();
  const MOST = /Most on row [1-7], column [1-7]: \d+(\.\d)? %\.$/;

  test("the screen reader gets the answer and the patch with most of the attention", async () => {
    await ink(page, DIGITS[7]);
    assert.match(await announcement(), /^Reads as 7, (> )?\d+(\.\d)? %\. Most on row/);
    assert.match(await announcement(), MOST);
    assert.match(await page.locator("#overlay").getAttribute("aria-label"), MOST);
  });

  test("the screen reader gets a patch chosen by the arrows and where most of its map is", async () => {
    await page.locator("#pixels").focus();
    await page.keyboard.press("ArrowRight");
    await settled(page);
    assert.equal(await page.inputValue("#map"), "patch");
    assert.match(await announcement(), /^Patch in row 4, column 5\. Most on row/);
    await page.selectOption("#map", "class");
  });

  test("the screen reader gets another model's answer, and a word when undo makes the pad blank", async () => {
    await page.evaluate(() => (document.getElementById("announce").textContent = ""));
    await page.selectOption("#model", "myvit");
    await page.waitForFunction(() => /\d/.test(document.getElementById("announce").textContent));
    await page.locator("#undo").click();
    await settled(page);
    assert.equal(await announcement(), "The pad is blank");
  });

  test("choosing the same head again returns to the mean of all heads", async () => {
    await ink(page, DIGITS[7]);
    const map = page.getByRole("button", { name: "Layer 1, head 2" });
    await map.click();
    await settled(page);
    assert.equal(await page.inputValue("#head"), "2");
    await map.click();
    await settled(page);
    assert.equal(await page.inputValue("#head"), "mean");
  });

  test("Back returns to the first tab", async () => {
    await page.locator("#tab-own").click();
    assert.equal(await page.locator("#own").isVisible(), true);
    await page.goBack();
    await page.locator("#draw").waitFor();
    assert.equal(await page.locator("#own").isVisible(), false);
  });

  test("the page's text grows with the browser's font size", async () => {
    const size = () => page.locator("#looks").evaluate((words) => parseFloat(getComputedStyle(words).fontSize));
    const before = await size();
    await page.evaluate(() => (document.documentElement.style.fontSize = "150%"));
    assert.ok(Math.abs((await size()) / before - 1.5) < 0.01);
  });

  test("forced colours still show which tab is chosen and every bar", async () => {
    const forced = await browser.visit({ forcedColors: "active" });
    await ink(forced.page, DIGITS[7]);
    const colours = await forced.page.evaluate(() => {
      const of = (element, pseudo) => getComputedStyle(element, pseudo);
      const [draw, own] = ["tab-draw", "tab-own"].map((id) => of(document.getElementById(id)).borderBottomColor);
      const bars = document.querySelectorAll("#bars i");
      return { draw, own, bar: of(bars[7], "::before").backgroundColor, ground: of(bars[7]).backgroundColor };
    });
    assert.notEqual(colours.draw, colours.own);
    assert.notEqual(colours.bar, colours.ground);
  });
});
