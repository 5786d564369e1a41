// Pad and answer are seen together, whatever the screen; a gesture does what it is meant for.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fingers } from "./fingers.mjs";
import { DIGITS, draw, openBrowser, padSpots, painted, prediction, settled, skip } from "./harness.mjs";

describe("the page on its screen", { skip }, () => {
  let browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser?.close());

  /** Whether these elements lie in the view together, once the first is brought into it. */
  const together = (page, ids) =>
    page.evaluate((all) => {
      const boxes = all.map((id) => document.getElementById(id).getBoundingClientRect());
      const top = Math.min(...boxes.map((box) => box.top));
      const bottom = Math.max(...boxes.map((box) => box.bottom));
      return {
        high: bottom - top <= innerHeight,
        now: top >= 0 && bottom <= innerHeight,
        wide: boxes.every((box) => box.left >= 0 && box.right <= innerWidth) &&
          document.documentElement.scrollWidth <= innerWidth,
      };
    }, ids);

  for (const [width, height, what] of [
    [320, 560], [360, 740], [740, 360], [768, 1024], [1280, 900], [1920, 1080], [568, 320], [1024, 600],
    [640, 450, "1280×900 at 200 %"], [320, 225, "1280×900 at 400 %"],
  ]) {
    test(`pad and answer are seen together at ${what ?? `${width}×${height}`}`, async () => {
      const { page, close } = await browser.visit({ viewport: { width, height } });
      await draw(page, DIGITS[3]);
      assert.equal((await prediction(page)).label, "3");
      const seen = await together(page, ["pad", "prediction"]);
      assert.ok(seen.high && seen.wide, JSON.stringify(seen));
      if (height > 300) assert.ok(seen.now, "without scrolling");
      if (width >= 1280) assert.ok((await together(page, ["pad", "prediction", "maps"])).now, "and the maps");
      await close();
    });
  }

  test("a wide screen is used", async () => {
    const { page, close } = await browser.visit({ viewport: { width: 1920, height: 1080 } });
    const box = await page.locator("main").boundingBox();
    assert.ok(box.width > 1600, `${box.width} of 1920`);
    await close();
  });

  test("selected text is not dragged along by the pen", async () => {
    const { page, close } = await browser.visit();
    for (const select of [() => page.keyboard.press("Control+A"), () => page.locator(".title p").first().click({ clickCount: 3 })]) {
      await page.locator("#clear").click();
      await select();
      await draw(page, DIGITS[7]);
      assert.equal((await prediction(page)).label, "7");
    }
    await close();
  });

  test("a finger's swipe over the model's view scrolls, and its tap chooses a patch", async () => {
    const { page, close } = await browser.visit({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true });
    await draw(page, DIGITS[7]);
    await page.locator("#pixels").evaluate((canvas) => canvas.scrollIntoView({ block: "center" }));
    const { x, y, width, height } = await page.locator("#pixels").boundingBox();
    const finger = await fingers(page);
    await finger.move({ id: 0, x: x + width * 0.2, y: y + height * 0.8 });
    await finger.lift();
    await settled(page);
    assert.equal(await page.inputValue("#map"), "patch");
    assert.match(await page.locator("#explanation").textContent(), /row 6, column 2/);
    await page.selectOption("#map", "class");
    await page.locator("#pixels").evaluate((canvas) => canvas.scrollIntoView({ block: "center" }));
    const before = await page.evaluate(() => scrollY);
    const from = await page.locator("#pixels").boundingBox();
    for (let step = 0; step < 12; step++) {
      await finger.move({ id: 0, x: from.x + width / 2, y: from.y + height - 4 - step * 12 });
    }
    await finger.lift();
    await settled(page);
    if (finger.scrolls) assert.ok((await page.evaluate(() => scrollY)) > before + 40, "the page has scrolled");
    assert.equal(await page.inputValue("#map"), "class");
    await close();
  });

  test("while patches are chosen a tap on the pad chooses one, and a stroke still draws", async () => {
    const { page, close } = await browser.visit();
    await draw(page, DIGITS[1]);
    await page.selectOption("#map", "patch");
    await settled(page);
    const ink = await painted(page, "#pad");
    const spot = await padSpots(page);
    const words = new Set();
    for (const place of [[51, 20], [49, 80]]) {
      await page.mouse.click(...spot(place));
      await settled(page);
      words.add(await page.locator("#explanation").textContent());
    }
    assert.equal(words.size, 2);
    assert.equal(await painted(page, "#pad"), ink, "no ink was added");
    await draw(page, [[[30, 30], [50, 20]]]);
    assert.ok((await painted(page, "#pad")) > ink);
    await close();
  });
});
