// axe's rules for WCAG 2.1 A and AA on the whole page: the opening, each chapter, the second tab.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { DIGITS, draw, openBrowser, settled, skip } from "./harness.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];

describe("axe finds no violation", { skip }, () => {
  let browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser?.close());

  /** The violations in an element, as "rule: the elements". */
  const violations = (page, within) =>
    page.evaluate(async ([within, tags]) => {
      const { violations, passes } = await globalThis.axe.run(within, { runOnly: tags });
      if (passes.length === 0) return ["no rule was applied"];
      return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 4).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
    }, [within, TAGS]);

  /** A script tag would need another policy, so the text runs as the driver's own. */
  const withAxe = async (options) => {
    const visitor = await browser.visit({ ...options, before: (page) => page.addInitScript(watchPictures) });
    await visitor.page.evaluate(readFileSync(AXE, "utf8"));
    return visitor;
  };

  const allNamed = async (page) =>
    assert.deepEqual(await page.evaluate(() => [...globalThis.nameless]), [], "pictures that were without a name for a while");

  for (const colorScheme of ["light", "dark"]) {
    test(`in the opening and the second tab, ${colorScheme}`, async () => {
      const { page, close } = await withAxe({ colorScheme });
      await draw(page, DIGITS[3]);
      for (const part of ["header", "#draw", "footer"]) assert.deepEqual(await violations(page, part), [], part);
      await page.locator("#tab-own").click();
      await page.locator("#own-random").waitFor();
      assert.deepEqual(await violations(page, "#own"), []);
      await allNamed(page);
      await close();
    });

    test(`in the story, ${colorScheme}`, async () => {
      const { page, close } = await withAxe({ colorScheme });
      await draw(page, DIGITS[3]);
      const ids = await page.locator("#chapters .chapter").evaluateAll((all) => all.map(({ id }) => id));
      const found = {};
      for (const id of ids) {
        await page.evaluate((id) => (location.hash = id), id);
        await page.locator(`#${id} .lead, #${id} > p`).first().waitFor();
        await settled(page);
        const here = await violations(page, `#${id}`);
        if (here.length > 0) found[id] = here;
      }
      assert.deepEqual(found, {});
      await allNamed(page);
      assert.deepEqual(await violations(page, "#rail"), []);
      await close();
    });
  }
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
