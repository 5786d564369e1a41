// The page on screens of many sizes, and its gestures.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { fingers } from "./fingers.mjs";
import { DIGITS, draw, ink, padSpots, painted, prediction, settled, skip, withBrowser } from "./harness.mjs";

describe("the page on its screen", { skip }, () => {
  const browser = withBrowser();
  let still, touched; // the pages of tests that load none of their own, without and with a touch screen
  before(async () => {
    ({ page: still } = await browser.visit());
    ({ page: touched } = await browser.visit({ hasTouch: true }));
  });

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
    const page = still;
    await page.keyboard.press("Escape");
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
      const view = await together(page, ["pad", "prediction"]);
      assert.ok(view.high && view.wide, `${screen}: ${JSON.stringify(view)}`);
      if (height > 300) assert.ok(view.now, `without scrolling at ${screen}`);
    }
  });

  /** The stage's five sizes. */
  const SIZES = [[1280, 900], [1440, 900], [768, 1024], [390, 844], [844, 390]];
  const HOUSE = [[[20, 50], [50, 15], [80, 50], [80, 88], [20, 88], [20, 50]], [[42, 88], [42, 66], [58, 66], [58, 88]]];

  for (const [width, height] of SIZES)
    test(`the first window at ${width}×${height}, light and dark: pad, answer and map's sentence are in it, nothing overflows, no answer moves anything`, async () => {
      const page = width < 900 ? touched : still;
      await page.setViewportSize({ width, height });
      await page.evaluate(() => scrollTo(0, 0)); // the first window, wherever the last test left the page
      const places = () => page.evaluate(() =>
        ["#draw .case", "#prediction", ".looks", ".reading > .scale", "#bars", "#share", ".stage-foot"].map((one) => {
          const { x, y, width, height } = document.querySelector(one).getBoundingClientRect();
          return [x, y, width, height];
        }));
      const same = (now, before) =>
        now.flat().forEach((at, i) => assert.ok(Math.abs(at - before.flat()[i]) <= 1, `${JSON.stringify(now)}, ${JSON.stringify(before)} before`));
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await page.keyboard.press("Escape");
        await settled(page);
        const blank = await places();
        for (const strokes of [DIGITS[7], HOUSE]) {
          await page.keyboard.press("Escape");
          await ink(page, strokes);
          same(await places(), blank);
          const outside = await page.evaluate(() => {
            const range = document.createRange();
            return ["#pad", "#prediction", "#looks", "#bars", "#share", "#closer > summary"].filter((one) => {
              range.selectNodeContents(document.querySelector(one));
              const { left, right, bottom } = (one === "#pad" ? document.querySelector(one) : range).getBoundingClientRect();
              return left < -8 || right > innerWidth || bottom > innerHeight;
            });
          });
          assert.deepEqual(outside, [], `beyond the window, ${colorScheme}`);
        }
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `no scrolling sideways, ${colorScheme}`);
        const { width: wide, height: high } = await page.locator("#draw .case").boundingBox();
        assert.ok(Math.abs(wide - high) < 1 && wide <= Math.max(width, height), `the case is ${wide} × ${high}`);
        if (width >= 860) assert.ok((await page.locator(".stage-foot").boundingBox()).y < height, "the way down is in view");
      }
    });

  test("on phones of three sizes the pad stays with at least 40 % of the height while the maps are used", async () => {
    const page = touched;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.keyboard.press("Escape");
    await ink(page, DIGITS[7]);
    await page.locator("#closer > summary").click();
    for (const [head, [width, height]] of [["4", [390, 844]], ["3", [360, 740]], ["2", [320, 640]]]) {
      await page.setViewportSize({ width, height });
      await page.evaluate(() => scrollTo(0, 0));
      await settled(page);
      const map = page.getByRole("button", { name: `Layer 4, head ${head}` }); // in the lowest row
      await map.scrollIntoViewIfNeeded();
      await map.click();
      await settled(page);
      const { y, height: high } = await page.locator("#pad").boundingBox();
      assert.ok(y >= 0 && y < 10, `the pad is at ${y} of ${width}×${height}`);
      assert.ok(high >= 0.4 * height, `${high} of ${width}×${height}`);
      assert.equal(await page.inputValue("#head"), head);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `no scrolling sideways, ${width}×${height}`);
    }
  });

  test("Look closer opens by its button, keeps the pad in view, and closes again", async () => {
    const page = still;
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.evaluate(() => scrollTo(0, 0));
    await page.keyboard.press("Escape");
    await ink(page, DIGITS[7]);
    assert.equal(await page.locator("#map").isVisible(), false);
    const button = page.getByText("Look closer");
    const before = await button.boundingBox();
    await page.mouse.click(before.x + 20, before.y + 20); // a locator's click may scroll first
    for (const id of ["map", "layer", "head", "strength", "maps", "model", "save", "code", "pixels"])
      assert.ok(await page.locator(`#${id}`).isVisible(), id);
    assert.deepEqual(await button.boundingBox(), before, "the button stays under the pointer");
    await page.locator(".journey").scrollIntoViewIfNeeded();
    const { y } = await page.locator("#pad").boundingBox();
    assert.ok(y >= 0 && y < 120, `the pad is at ${y}`);
    await page.locator("#closer").scrollIntoViewIfNeeded();
    await button.click();
    assert.equal(await page.locator("#map").isVisible(), false);
  });

  test("the address of the second tab shows the header", async () => {
    const { page } = await browser.visit({ viewport: { width: 390, height: 844 }, address: `${browser.address}#own`, ready: false });
    await page.locator("#own-pixels option").first().waitFor({ state: "attached" });
    await settled(page);
    assert.ok((await page.locator("#tabs").boundingBox()).y >= 0);
  });

  test("the pen draws and does not drag selected text", async () => {
    const page = still;
    for (const select of [() => page.keyboard.press("Control+A"), () => page.locator("#draw .lead").evaluate((lead) => getSelection().selectAllChildren(lead))]) {
      await page.locator("#clear").click();
      await select();
      await draw(page, DIGITS[7], { moves: 2 });
      assert.equal((await prediction(page)).label, "7");
    }
  });

  test("on the model's view a finger's swipe scrolls the page and a finger's tap chooses a patch", async () => {
    const { page } = await browser.visit({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true, closer: true });
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
    const { page } = await browser.visit({ closer: true });
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

  for (const [width, height] of [[320, 560], [740, 360], [1280, 900], [1280, 2400], [360, 3200]]) {
    test(`at ${width}×${height} nothing moves between the page's load and the first answer`, async () => {
      const { page } = await browser.visit({
        viewport: { width, height },
        reducedMotion: "no-preference",
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
      await page.locator("#status.ready").waitFor();
      await settled(page);
      const shifts = await page.evaluate(() => {
        globalThis.watch.takeRecords().forEach(globalThis.note);
        return globalThis.shifts;
      });
      assert.deepEqual(shifts, []);
    });
  }

  test("the pad's hint fits in one line on phones of two sizes", async () => {
    const { page } = await browser.visit({ viewport: { width: 320, height: 560 } });
    for (const words of [/draw over it/, /Draw a digit here/]) {
      await page.locator("#hint", { hasText: words }).waitFor();
      for (const [width, height] of [[320, 560], [360, 740]]) {
        await page.setViewportSize({ width, height });
        await settled(page);
        const { lines, inside } = await page.locator("#hint").evaluate((hint) => {
          const range = document.createRange();
          range.selectNodeContents(hint);
          const [text, sheet] = [range, hint.parentElement].map((each) => each.getBoundingClientRect());
          const lines = range.getClientRects().length;
          return { lines, inside: text.left >= sheet.left && text.right <= sheet.right };
        });
        assert.deepEqual({ lines, inside }, { lines: 1, inside: true }, `${words} at ${width}×${height}`);
      }
      await page.keyboard.press("Escape"); // clears the pad
      await settled(page);
    }
  });

  test("the keyboard's Tab shows a focus ring, and the pointer does not", async () => {
    const { page } = await browser.visit({ closer: true });
    const ring = () =>
      page.evaluate(() => {
        const { id } = document.activeElement;
        if (document.activeElement === document.body) return undefined;
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
        return { id, outlined: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 };
      });
    await ink(page, DIGITS[7]);
    for (const id of ["pad", "pixels", "share", "undo", "redo", "clear", "strength", "tab-draw", "theme"]) {
      await page.locator(`#${id}`).click();
      assert.deepEqual(await ring(), { id, outlined: false });
    }
    const focusIds = new Set();
    await page.locator(".wordmark").click();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const focused = await ring();
      if (!focused) break;
      const { id, outlined } = focused;
      assert.ok(outlined, `${id} shows that it has the keyboard`);
      focusIds.add(id);
    }
    for (const id of ["pad", "undo", "clear", "share", "model", "map", "layer", "pixels"])
      assert.ok(focusIds.has(id), `${id} among ${[...focusIds]}`);
  });
});
