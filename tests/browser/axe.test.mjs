// axe's rules for WCAG 2.1 A and AA on the whole page: the opening, each chapter, the other tabs.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DIGITS, ink, openCloser, settled, skip, toChapter, violations, withBrowser } from "./harness.mjs";

describe("axe finds no violation", { skip }, () => {
  const browser = withBrowser();

  const visit = () => browser.visit({ before: (page) => page.addInitScript(watchPictures) });

  const allNamed = async (page) =>
    assert.deepEqual(await page.evaluate(() => [...globalThis.nameless]), [], "pictures that were without a name for a while");

  /** Expects no violation in the elements, light and dark. Other rules than these see no colours. */
  const clean = async (page, ...parts) => {
    for (const [colorScheme, rules] of [["light", undefined], ["dark", ["color-contrast", "link-in-text-block"]]]) {
      await page.emulateMedia({ colorScheme });
      await settled(page);
      const within = { include: parts.map((part) => [part]) }; // at once, because each run reads the whole page
      assert.deepEqual(await violations(page, within, rules), [], `${parts}, ${colorScheme}`);
    }
  };

  test("in the opening and the other tabs, light and dark", async () => {
    const { page } = await visit();
    await ink(page, DIGITS[3]);
    await clean(page, "header", "#draw", "footer");
    await openCloser(page);
    await page.locator("#code").click();
    await clean(page, "#code-dialog");
    await page.locator("#close-code").click();
    await page.locator("#tab-own").click();
    await page.locator("#own-random").waitFor();
    await clean(page, "#own");
    await page.locator("#tab-number").click();
    await page.locator("#number-words .word").first().waitFor();
    await clean(page, "#number");
    await allNamed(page);
  });

  test("in the story, light and dark", async () => {
    const { page } = await visit();
    await ink(page, DIGITS[3]);
    const ids = await page.locator("#chapters .chapter").evaluateAll((all) => all.map(({ id }) => id));
    for (const id of ids) {
      await toChapter(page, id);
      await page.locator(`#${id} .lead, #${id} > p`).first().waitFor();
      await settled(page);
    }
    await allNamed(page);
    await clean(page, ...ids.map((id) => `#${id}`), "#rail");
  });
});

/** Collects the pictures that come into the page without a name, even if they get it later. */
function watchPictures() {
  globalThis.nameless = new Set();
  new MutationObserver(() => {
    for (const picture of document.querySelectorAll("svg[role=img]:not([aria-label])")) {
      globalThis.nameless.add(picture.outerHTML.slice(0, 80));
    }
  }).observe(document, { childList: true, subtree: true });
}
