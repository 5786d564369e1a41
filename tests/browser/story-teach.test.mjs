// For teachers: the exercises on the screen and on paper. What their solutions say is in tests/node/exercises.test.mjs.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { skipMedia } from "./browsers.mjs";
import { settled, skip, withBrowser } from "./harness.mjs";
import { openChapter } from "./story.mjs";

describe("the sheet for teachers", { skip }, () => {
  const browser = withBrowser();
  let page, sheet;
  before(async () => {
    ({ page } = await browser.visit(skipMedia ? {} : { colorScheme: "dark" }));
    sheet = await openChapter(page, "teach", "li");
    await settled(page);
  });

  test("each of the six exercises leads to a part of the story of its own and names its chapter; the solution is folded", async () => {
    const all = sheet.locator("li");
    assert.equal(await all.count(), 6);
    const targets = await all.locator("h3 a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    assert.equal(new Set(targets).size, 6);
    for (const [at, target] of targets.entries()) {
      const title = await page.locator(`#chapters .chapter:is(${target}, :has(${target})) > h2`).textContent();
      assert.ok((await all.nth(at).locator("> p").textContent()).includes(`“${title}”`), title);
    }
    assert.equal(await all.first().locator("details p").isVisible(), false);
    await all.first().locator("summary").click();
    assert.match(await all.first().locator("details p").textContent(), /\w+ \w+ \w+/);
    await all.first().locator("summary").click();
  });

  test("the walk is explained, with a link to each step", async () => {
    const steps = await page.locator("#chapters .chapter:not(#teach)").evaluateAll((all) => all.map(({ id }) => `#${id}`));
    assert.deepEqual(await sheet.locator(".cite a").evaluateAll((links) => links.map((link) => link.getAttribute("href"))), steps);
    const walk = await sheet.locator("p", { hasText: "guided walk" }).textContent();
    assert.ok(walk.includes(`each of the ${steps.length} steps`) && walk.includes(`${page.url().split("#")[0]}#score`), walk);
  });

  test("it prints on one page of A4 and of Letter, alone and with its solutions; the screen is as before", { skip: skipMedia }, async () => {
    const last = sheet.locator("details p").last();
    await page.evaluate(() => {
      globalThis.opened = [];
      addEventListener("beforeprint", () => opened.push(document.querySelectorAll("#teach details[open]").length));
    });
    for (const format of ["A4", "Letter"]) {
      const pdf = await page.pdf({ format });
      assert.equal(pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g).length, 1, format);
      assert.equal(await last.isVisible(), false);
      assert.ok(await sheet.locator("h2").evaluate((h2) => h2.getBoundingClientRect().top < innerHeight), "the sheet is still on the screen");
    }
    assert.deepEqual(await page.evaluate(() => opened), [6, 6]);
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.ok(await last.isVisible());
    for (const other of ["#rail", "#masks", "header", "body > footer", "#teach > button"]) assert.equal(await page.locator(other).first().isVisible(), false, other);
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("#teach h2")).color), "rgb(23, 33, 43)", "dark ink, in the dark theme too");
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen" });
    assert.equal(await last.isVisible(), false);
  });

  test("an exercise's title leads to its chapter", async () => {
    await sheet.locator("h3 a").first().click();
    await page.waitForFunction(() => Math.abs(document.getElementById("score").getBoundingClientRect().top) < 200);
  });
});
