// axe's rules for WCAG 2.1 A and AA on the whole page: the opening, each chapter, the second tab.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { DIGITS, ink, openBrowser, settled, skip, toChapter } from "./harness.mjs";

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
  const withAxe = async () => {
    const visitor = await browser.visit({ before: (page) => page.addInitScript(watchPictures) });
    await visitor.page.evaluate(readFileSync(AXE, "utf8"));
    return visitor;
  };

  const allNamed = async (page) =>
    assert.deepEqual(await page.evaluate(() => [...globalThis.nameless]), [], "pictures that were without a name for a while");

  /** Expects no violation in the elements, light and dark. */
  const clean = async (page, ...parts) => {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await settled(page);
      for (const part of parts) assert.deepEqual(await violations(page, part), [], `${part}, ${colorScheme}`);
    }
  };

  test("in the opening and the second tab, light and dark", async () => {
    const { page, close } = await withAxe();
    await ink(page, DIGITS[3]);
    await clean(page, "header", "#draw", "footer");
    await page.locator("#tab-own").click();
    await page.locator("#own-random").waitFor();
    await clean(page, "#own");
    await allNamed(page);
    await close();
  });

  test("in the story, light and dark", async () => {
    const { page, close } = await withAxe();
    await ink(page, DIGITS[3]);
    const ids = await page.locator("#chapters .chapter").evaluateAll((all) => all.map(({ id }) => id));
    for (const id of ids) {
      await toChapter(page, id);
      await page.locator(`#${id} .lead, #${id} > p`).first().waitFor();
      await clean(page, `#${id}`);
    }
    await allNamed(page);
    await clean(page, "#rail");
    await close();
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
