// The guided walk: every step's question, answered by somebody who tries all options.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { DIGITS, ink, settled, skip, withBrowser } from "./harness.mjs";
import { openChapter } from "./story.mjs";

describe("the guided walk", { skip }, () => {
  const browser = withBrowser();
  let page, steps;
  before(async () => {
    ({ page } = await browser.visit({ viewport: { width: 1280, height: 900 } }));
    await ink(page, DIGITS[3]);
    steps = await page.locator("#chapters .chapter:not(#teach)").evaluateAll((all) => all.map(({ id }) => id));
  });

  /** Comes to a step. Returns its question. */
  async function come(id) {
    const chapter = await openChapter(page, id, ".lead");
    await settled(page);
    return chapter.locator(".guess");
  }
  /** Gives an answer, and waits until it is checked. */
  async function answer(question, place) {
    const truth = question.locator(".truth"), option = question.locator(".options button").nth(place);
    await truth.evaluate((says) => (says.dataset.right = ""));
    await option.click();
    await question.locator(".truth[data-right=true], .truth[data-right=false]").waitFor();
    assert.equal(await option.getAttribute("aria-pressed"), "true");
    const right = (await truth.getAttribute("data-right")) === "true", text = await truth.textContent();
    assert.match(text, right ? /^You were right\. .*\w/ : /^It is otherwise\. .*\w/);
    return right;
  }
  /** What the rail marks: "true" or "false" for each step that is done, else "". */
  const marks = async () => {
    await settled(page); // the rail is drawn in the next frame
    return Object.fromEntries(await page.locator("#rail .steps li").evaluateAll((all) =>
      all.map((item) => [item.firstElementChild.hash.slice(1), item.dataset.done])));
  };
  const reload = async () => {
    await page.reload();
    await page.locator("#status.ready").waitFor();
    await openChapter(page, steps[0], ".lead");
    await settled(page);
  };

  test("each question has two to four options, of which one is right for the drawing; the rail marks and counts the first answer, “Next” leads on, and all stays over a reload", async () => {
    const done = {};
    for (const [at, id] of steps.entries()) {
      const question = await come(id);
      const options = await question.locator(".options button").count();
      assert.ok(options >= 2 && options <= 4, `${id}: ${options}`);
      assert.equal(await question.locator("a").isVisible(), false, `${id} leads on only when it is answered`);
      const right = [], first = at % options;
      for (let place = 0; place < options; place++) right.push(await answer(question, (first + place) % options));
      assert.equal(right.filter(Boolean).length, 1, `${id}: ${right}`);
      done[id] = String(right[0]);
      assert.equal((await marks())[id], done[id], id);
      assert.equal(await page.locator("#rail .walked").textContent(), `${at + 1} of ${steps.length} steps done`);
      const [next, title] = await page.locator(`#${id} + .chapter`).evaluate((next) => [next.id, next.querySelector("h2").textContent]);
      await question.getByRole("link", { name: `Next: ${title}` }).click();
      await page.waitForFunction((id) => Math.abs(document.getElementById(id).getBoundingClientRect().top) < 200, next);
    }
    assert.equal(new Set(Object.values(done)).size, 2, "some first answers are right and some wrong");
    const all = { ...Object.fromEntries(Object.keys(await marks()).map((id) => [id, ""])), ...done };
    assert.deepEqual(await marks(), all);
    await reload();
    assert.deepEqual(await marks(), all);
    assert.equal(await page.locator("#rail .walked").textContent(), `${steps.length} of ${steps.length} steps done`);
  });

  test("“Begin again” clears what was answered, for this visit and the next, and steps are asked anew", async () => {
    await page.getByRole("button", { name: "Begin again" }).click();
    const none = async () => assert.deepEqual(new Set(Object.values(await marks())), new Set([""]));
    await none();
    assert.equal(await page.locator("#rail .walked").textContent(), "");
    await reload();
    await none();
    for (const id of steps.slice(0, 2)) assert.equal(await (await come(id)).locator(".truth").textContent(), "", id);
    assert.equal(await page.getByRole("button", { name: "Begin again" }).isVisible(), false);
  });
});
