// The page on screens of many sizes, and its gestures.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fingers } from "./fingers.mjs";
import { DIGITS, draw, ink, padSpots, painted, prediction, settled, skip, withBrowser } from "./harness.mjs";

describe("the page on its screen", { skip }, () => {
  const browser = withBrowser();

  /** Scrolls to the first element. Returns whether all elements are then in view. */
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

  test("pad and answer are visible together on every screen", async () => {
    const { page } = await browser.visit();
    await ink(page, DIGITS[3]);
    assert.equal((await prediction(page)).label, "3");
    for (const [width, height, what] of [
      [320, 560], [360, 740], [740, 360], [768, 1024], [1280, 900], [1920, 1080], [568, 320], [1024, 600],
      [640, 450, "1280×900 at 200 %"], [320, 225, "1280×900 at 400 %"],
    ]) {
      const screen = what ?? `${width}×${height}`;
      await page.setViewportSize({ width, height });
      await settled(page);
      await page.click("#pad", { trial: true }); // nothing covers it
      const seen = await together(page, ["pad", "prediction"]);
      assert.ok(seen.high && seen.wide, `${screen}: ${JSON.stringify(seen)}`);
      if (height > 300) assert.ok(seen.now, `without scrolling at ${screen}`);
      if (width >= 1280) assert.ok((await together(page, ["pad", "prediction", "maps"])).now, `and the maps at ${screen}`);
    }
  });

  test("the page uses the width of a wide screen", async () => {
    const { page } = await browser.visit({ viewport: { width: 1920, height: 1080 } });
    const box = await page.locator("main").boundingBox();
    assert.ok(box.width > 1600, `${box.width} of 1920`);
  });

  test("the pen draws and does not drag selected text", async () => {
    const { page } = await browser.visit();
    for (const select of [() => page.keyboard.press("Control+A"), () => page.locator(".title p").first().click({ clickCount: 3 })]) {
      await page.locator("#clear").click();
      await select();
      await draw(page, DIGITS[7]);
      assert.equal((await prediction(page)).label, "7");
    }
  });

  test("on the model's view a finger's swipe scrolls the page and a finger's tap chooses a patch", async () => {
    const { page } = await browser.visit({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true });
    await ink(page, DIGITS[7]);
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
  });

  test("with the map of a patch, a tap on the pad chooses a patch and a stroke still draws", async () => {
    const { page } = await browser.visit();
    await ink(page, DIGITS[1]);
    await page.selectOption("#map", "patch");
    await settled(page);
    const before = await painted(page, "#pad");
    const spot = await padSpots(page);
    const words = new Set();
    for (const place of [[51, 20], [49, 80]]) {
      await page.mouse.click(...spot(place));
      await settled(page);
      words.add(await page.locator("#explanation").textContent());
    }
    assert.equal(words.size, 2);
    assert.equal(await painted(page, "#pad"), before, "no ink was added");
    await draw(page, [[[30, 30], [50, 20]]]);
    assert.ok((await painted(page, "#pad")) > before);
  });

  for (const [width, height] of [[320, 560], [360, 740], [740, 360], [1280, 900], [1280, 2400], [360, 3200]]) {
    test(`at ${width}×${height} nothing moves between the page's load and the first answer`, async () => {
      const { page } = await browser.visit({
        viewport: { width, height },
        before: (page) =>
          page.addInitScript(() => {
            globalThis.shifts = [];
            let answered = Infinity;
            new MutationObserver(() => {
              if (document.querySelector("#prediction strong")?.textContent) answered = Math.min(answered, performance.now());
            }).observe(document, { subtree: true, childList: true, characterData: true });
            // The story's chapters load after the first answer, and may then make room for themselves.
            const isLater = ({ startTime, sources }) =>
              startTime > answered && sources.length > 0 &&
              sources.every(({ node }) => (node?.nodeType === 1 ? node : node?.parentElement)?.closest("#story, footer"));
            const note = (entry) => {
              if (isLater(entry)) return;
              const { value, sources } = entry;
              globalThis.shifts.push([value, ...sources.map(({ node }) => node?.id || node?.className || node?.nodeName)]);
            };
            globalThis.note = note;
            globalThis.watch = new PerformanceObserver((list) => list.getEntries().forEach(note));
            globalThis.watch.observe({ type: "layout-shift", buffered: true });
          }),
      });
      await page.waitForFunction(() => document.querySelector("#prediction strong").textContent !== "");
      await page.locator("#status", { hasText: "a prediction" }).waitFor();
      await settled(page);
      const shifts = await page.evaluate(() => {
        globalThis.watch.takeRecords().forEach(globalThis.note);
        return globalThis.shifts;
      });
      assert.deepEqual(shifts, []);
    });
  }

  for (const [width, height] of [[320, 560], [360, 740]]) {
    test(`the pad's hint fits in one line on a phone of ${width}×${height}`, async () => {
      const { page } = await browser.visit({ viewport: { width, height } });
      for (const words of [/draw over it/, /Draw a digit here/]) {
        await page.locator("#hint", { hasText: words }).waitFor();
        const { lines, inside } = await page.locator("#hint").evaluate((hint) => {
          const range = document.createRange();
          range.selectNodeContents(hint);
          const [text, sheet] = [range, hint.parentElement].map((each) => each.getBoundingClientRect());
          const lines = range.getClientRects().length;
          return { lines, inside: text.left >= sheet.left && text.right <= sheet.right };
        });
        assert.deepEqual({ lines, inside }, { lines: 1, inside: true });
        await page.keyboard.press("Escape"); // clears the pad
        await settled(page);
      }
    });
  }

  test("a row's label, bar and number share a baseline, and the answer's number is shown once", async () => {
    const { page } = await browser.visit();
    await ink(page, DIGITS[7]);
    for (const [width, height] of [[360, 740], [1280, 900]]) {
      await page.setViewportSize({ width, height });
      await settled(page);
      const lines = await page.locator("#bars li").evaluateAll((rows) =>
        rows.map((row) => {
          const [numeral, bar, figure] = row.children;
          const baseline = (text) => {
            const mark = document.createElement("span"); // an empty inline block is on the baseline
            mark.style.cssText = "display: inline-block; width: 0; height: 0";
            text.append(mark);
            const { bottom } = mark.getBoundingClientRect();
            mark.remove();
            return bottom;
          };
          return [baseline(numeral), bar.getBoundingClientRect().bottom, baseline(figure)];
        }));
      for (const [numeral, bar, figure] of lines)
        assert.ok(Math.abs(numeral - bar) < 1 && Math.abs(figure - bar) < 1, `${numeral} ${bar} ${figure}`);
      const share = await page.locator("#bars .best span").textContent();
      assert.match(share, /\d %$/);
      const text = await page.locator("#draw .reading").evaluate((reading) => reading.innerText);
      assert.equal(text.split(share).length - 1, 1, text);
    }
  });

  test("the keyboard's Tab shows a focus ring, and the pointer does not", async () => {
    const { page } = await browser.visit();
    const ring = () =>
      page.evaluate(() => {
        const { id } = document.activeElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
        return { id, shown: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 };
      });
    await ink(page, DIGITS[7]);
    for (const id of ["pad", "pixels", "share", "undo", "redo", "clear", "strength", "tab-draw", "theme"]) {
      await page.locator(`#${id}`).click();
      assert.deepEqual(await ring(), { id, shown: false });
    }
    const seen = new Set();
    await page.locator("h1").first().click();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const { id, shown } = await ring();
      if (await page.evaluate(() => document.activeElement === document.body)) break;
      assert.ok(shown, `${id} shows that it has the keyboard`);
      seen.add(id);
    }
    for (const id of ["pad", "undo", "clear", "share", "model", "map", "layer", "pixels"])
      assert.ok(seen.has(id), `${id} among ${[...seen]}`);
  });

  const JOURNEY = ["Pixels", "Patches", "Tokens", "Blocks", "Logits", "Overlay"];
  for (const [model, names] of [
    ["digits", ["Pixels", "Convolutions", ...JOURNEY.slice(1)]],
    ["digits-plain", JOURNEY],
    ["myvit", JOURNEY],
  ]) test(`the journey's figures have one size and its texts have similar lengths, ${model}`, async () => {
    const { page } = await browser.visit({ viewport: { width: 1280, height: 900 }, address: `${browser.address}?model=${model}` });
    await ink(page, DIGITS[4]);
    const steps = await page.locator(".journey li:not([hidden])").evaluateAll((all) =>
      all.map((step) => {
        const { width, height } = step.firstElementChild.getBoundingClientRect();
        const text = step.querySelector("p");
        const lines = Math.round(text.getBoundingClientRect().height / parseFloat(getComputedStyle(text).lineHeight));
        return { name: step.querySelector("h3").textContent, size: `${Math.round(width)}×${Math.round(height)}`, lines };
      }));
    assert.deepEqual(steps.map(({ name }) => name), names);
    assert.equal(new Set(steps.map(({ size }) => size)).size, 1, JSON.stringify(steps));
    const lines = steps.map(({ lines }) => lines);
    assert.ok(Math.max(...lines) <= 5 && Math.min(...lines) >= 3, `${lines} lines`);
  });
});
