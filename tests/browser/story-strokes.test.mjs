// While you drew, a part of the chapter "How sure is it?": each moment against the page's own answer to that drawing.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { DIGITS, ink, prediction, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { chooseModel } from "./story.mjs";

describe("while you drew", { skip }, () => {
  const browser = withBrowser();
  let page;
  before(async () => {
    ({ page } = await browser.visit({ address: `${browser.address}` }));
    await drawAndRead(DIGITS[4]);
  });

  /** Draws, scrolls to the chapter and waits until all moments are read. */
  async function drawAndRead(digit) {
    await ink(page, digit, { moves: 8 });
    await read();
  }
  async function read() {
    await toChapter(page, "strokes");
    await settled(page);
    await page.locator("#strokes-progress[data-done=true]").waitFor();
    await settled(page);
  }
  const time = () => page.locator("#strokes-time");
  const range = () => time().evaluate(({ value, max }) => [Number(value), Number(max)]);
  const moment = () => page.locator("#strokes-words").evaluate((words) =>
    ({ label: words.dataset.label, p: Number(words.dataset.p), at: Number(words.dataset.at), text: words.textContent }));
  /** Every moment, from the first to the last, by the slider. */
  const all = () => time().evaluate((slider) => Array.from({ length: Number(slider.max) + 1 }, (_, index) => {
    slider.value = String(index);
    slider.dispatchEvent(new Event("input"));
    const { label, p, at } = document.getElementById("strokes-words").dataset;
    return { label, p: Number(p), at: Number(at) };
  }));

  test("the last moment is the answer, and the strip's band for it is as high as its probability", async () => {
    const answer = await prediction(page);
    const last = await moment();
    assert.equal(last.label, answer.label);
    assert.ok(Math.abs(last.p - Number(answer.p)) < 1e-6);
    assert.match(last.text, /^100\u00a0% of the ink: 4, /);
    const path = await page.locator(`#strokes-strip [data-class="${last.label}"]`).getAttribute("d");
    const points = path.match(/[\d.]+ [\d.]+/g).map((point) => point.split(" ").map(Number));
    const right = Math.max(...points.map(([x]) => x));
    const ends = points.filter(([x]) => x === right).map(([, y]) => y);
    assert.equal(ends.length, 2);
    assert.ok(Math.abs(Math.abs(ends[0] - ends[1]) / 170 - last.p) < 0.001, `${ends} of 170 for ${last.p}`);
  });

  test("the keys go through 40 to 80 moments, and the text names the changes among them", async () => {
    const moments = await all();
    for (const [key, index] of [["Home", 0], ["ArrowRight", 1], ["ArrowRight", 2], ["End", moments.length - 1], ["ArrowLeft", moments.length - 2]]) {
      await time().press(key);
      const { label, p, at } = await moment();
      assert.deepEqual({ label, p, at }, moments[index], key);
    }
    assert.ok(moments.length >= 40 && moments.length <= 82, `${moments.length} moments`);
    moments.forEach(({ at }, i) => assert.ok(i === 0 || at > moments[i - 1].at, "the moments follow each other"));
    const share = ({ at }) => `${Math.round((100 * at) / moments.at(-1).at)} %`;
    const runs = moments.filter(({ label }, i) => label !== moments[i - 1]?.label);
    assert.ok(runs.length > 1, "this drawing changes the answer, so that there is something to test");
    const text = (await page.locator("#strokes-changes").textContent()).replaceAll("\u00a0", " ");
    assert.ok(text.startsWith(`The answer changed ${runs.length - 1} time${runs.length > 2 ? "s" : ""}: `), text);
    assert.ok(text.endsWith(`${runs.slice(-5).map((run) => `${run.label} from ${share(run)}`).join(" · ")}.`), text);
  });

  test("a moment on the pad gets from the page the answer that the strip shows; undo brings the drawing back", async () => {
    await toChapter(page, "strokes");
    const whole = await prediction(page);
    const [, max] = await range();
    const answers = new Set();
    for (const share of [0.2, 0.5, 0.75]) {
      await time().fill(String(Math.round(share * max)));
      const then = await moment();
      await page.getByRole("button", { name: "Put this moment on the pad" }).click();
      await settled(page);
      const answer = await prediction(page);
      assert.equal(answer.label, then.label);
      assert.ok(Math.abs(Number(answer.p) - then.p) < 1e-5, `${answer.p} on the pad, ${then.p} in the strip`);
      answers.add(answer.p);
      await page.keyboard.press("Control+z");
      await settled(page);
      assert.deepEqual(await prediction(page), whole);
      await read();
      assert.equal((await range())[1], max);
    }
    assert.equal(answers.size, 3);
  });

  test("a drag across the strip chooses the moment under the pointer", async () => {
    await time().press("End");
    const box = await page.locator("#strokes-strip").boundingBox();
    await page.mouse.move(box.x + box.width * 0.9, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 60, { steps: 4 });
    await page.mouse.up();
    const [value, max] = await range();
    assert.ok(Math.abs(value / max - 0.3) < 0.03, `${value} of ${max}`);
    assert.equal(await time().getAttribute("aria-valuetext"), (await moment()).text);
    await page.mouse.move(box.x + box.width * 0.8, box.y + 60);
    assert.deepEqual(await range(), [value, max], "a pointer that is not down moves nothing");
  });

  test("a drawing that continues keeps its moments: the same answers after the same length of ink", async () => {
    await page.locator("#clear").click();
    await drawAndRead([DIGITS[4][0]]);
    const before = new Map((await all()).slice(0, -1).map(({ at, label, p }) => [at, [label, p]]));
    await drawAndRead([DIGITS[4][1]]);
    const after = await all();
    const same = after.filter(({ at }) => before.has(at));
    assert.ok(same.length > 15, `${same.length} moments in common`);
    for (const { at, label, p } of same) assert.deepEqual([label, p], before.get(at));
    assert.equal(await page.locator("#strokes-strip path[stroke-dasharray]").count(), 1, "a line where the second stroke begins");
  });

  async function choose(model) {
    await chooseModel(page, model);
    await read();
  }

  test("another model reads the drawing again", async () => {
    const before = await all();
    await choose("myvit");
    const after = await all();
    assert.equal(after.length, before.length);
    assert.ok(after.some(({ p }, i) => Math.abs(p - before[i].p) > 0.05));
    const answer = await prediction(page);
    assert.ok(Math.abs(after.at(-1).p - Number(answer.p)) < 1e-6);
  });

  test("a model that recognises unfinished drawings reads each moment as with the pen down, on the pad too", async () => {
    const pale = page.locator("#strokes .pale");
    assert.equal(await pale.isVisible(), false);
    await choose("digits");
    assert.match(await pale.textContent(), /pale ink/);
    assert.equal(await pale.isVisible(), true);
    const [, max] = await range();
    await time().fill(String(max >> 1));
    const then = await moment();
    await page.getByRole("button", { name: "Put this moment on the pad" }).click();
    await settled(page);
    const down = await prediction(page);
    assert.ok(Math.abs(Number(down.p) - then.p) < 1e-5, `${down.p} on the pad, ${then.p} in the strip`);
    for (const keys of ["Control+z", "Control+Shift+z"]) {
      await page.keyboard.press(keys);
      await settled(page);
    }
    assert.notEqual((await prediction(page)).p, down.p, "brought back, the half is a drawing of its own");
    await page.keyboard.press("Control+z");
    await read();
  });

  test("a link to this part of the chapter leads to it, and so it does in another language", async () => {
    const { page } = await browser.visit({ address: `${browser.address}#strokes` });
    const stays = () => page.waitForFunction(() => {
      const { top } = document.getElementById("strokes").getBoundingClientRect();
      return document.querySelector("#strokes-strip path") && top >= 0 && top < innerHeight / 3;
    });
    await stays();
    await page.locator("#language").evaluate((list) => {
      list.value = "de";
      list.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await page.locator("#masks-title", { hasText: /Encoder, Decoder/ }).waitFor({ state: "attached" });
    await stays();
    assert.equal(await page.locator("#strokes").count(), 1);
  });
});
