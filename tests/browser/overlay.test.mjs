import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  DIGITS,
  ink,
  padSpots,
  painted,
  picture,
  settled,
  skip,
  withBrowser,
} from "./harness.mjs";

describe("attention on the page", { skip }, () => {
  const browser = withBrowser();
  let page;
  before(async () => {
    ({ page } = await browser.visit({ excused: /willReadFrequently/ }));
    await ink(page, DIGITS[7]);
  });

  const choose = async (selector, value) => {
    await page.selectOption(selector, value);
    await settled(page);
    return picture(page, "#overlay");
  };

  for (const [what, id] of [["layer, the last first,", "#layer"], ["head, and their mean,", "#head"]]) {
    test(`every ${what} has a map of its own`, async () => {
      const values = await page.locator(`${id} option`).evaluateAll((options) => options.map(({ value }) => value));
      assert.ok(values.length > 1);
      assert.equal(await page.inputValue(id), id === "#layer" ? values.at(-1) : "mean");
      const maps = [];
      for (const value of values) maps.push(await choose(id, value));
      assert.equal(new Set(maps).size, values.length);
    });
  }

  test("the maps of class, patch and rollout differ, and a rollout has no layer and no head", async () => {
    const maps = new Set();
    for (const map of ["patch", "rollout", "class"]) {
      maps.add(await choose("#map", map));
      for (const id of ["#layer", "#head"]) {
        assert.equal(await page.locator(id).isDisabled(), map === "rollout");
      }
    }
    assert.equal(maps.size, 3);
  });

  test("the patch under the pointer is the patch of the model's image that holds this ink", async () => {
    await choose("#map", "patch");
    const spot = await padSpots(page);
    const seen = new Set();
    for (const corner of [
      [30, 18],
      [70, 18],
      [46, 85],
    ]) {
      await page.mouse.move(...spot(corner));
      await settled(page);
      seen.add(await picture(page, "#overlay"));
      const words = await page.locator("#explanation").textContent();
      const [row, col] = words
        .match(/row (\d+), column (\d+)/)
        .slice(1)
        .map((n) => Number(n) - 1);
      const ink = await inkOf(page);
      let mass = 0;
      for (let y = 0; y < 4; y++)
        for (let x = 0; x < 4; x++) mass += ink[(row * 4 + y) * 28 + col * 4 + x];
      assert.ok(mass > 1, `patch ${row}, ${col} under ${corner} holds ${mass} of ink`);
    }
    assert.equal(seen.size, 3);
    await choose("#map", "class");
  });

  test("a click on a small map chooses its layer and head", async () => {
    await page.getByRole("button", { name: "Layer 2, head 3" }).click();
    await settled(page);
    assert.equal(await page.inputValue("#layer"), "2");
    assert.equal(await page.inputValue("#head"), "3");
  });

  test("all maps have one scale from 0, and a tick marks uniform attention", async () => {
    const scales = new Set();
    for (const layer of ["1", "2"]) {
      await choose("#layer", layer);
      const [low, high] = await page.locator("#scale-min, #scale-max").allTextContents();
      assert.equal(low, "0 %");
      assert.match(high, /^\d+(\.\d)? %$/);
      scales.add(high);
    }
    assert.equal(scales.size, 1, "another layer has no other scale");
    assert.equal(await page.locator("#scale-tick").textContent(), "tick: all equal, 2.0 %");
    assert.ok((await painted(page, "#scale")) > 0);
  });

  test("the map on the pad has the colours of its small map, which names its layer and head", async () => {
    await choose("#layer", "3");
    await choose("#head", "2");
    const strength = page.locator("#strength");
    await strength.fill("100");
    await settled(page);
    const small = page.getByRole("button", { name: "Layer 3, head 2" });
    const cell = await small.locator("canvas").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const cells = Array.from({ length: data.length / 4 }, (_, i) => [...data.subarray(4 * i, 4 * i + 4)]);
      return cells.reduce((most, one) => (one[3] > most[3] ? one : most));
    });
    const seen = await page.locator("#overlay").evaluate((canvas, [r, g, b, a]) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        const far = Math.max(...[r, g, b, a].map((value, k) => Math.abs(value - data[i + k])));
        count += far <= 3;
      }
      return count;
    }, cell);
    assert.ok(seen > 100, `${seen} pixels of ${cell}`);
    const first = page.getByRole("button", { name: "Layer 1, head 1" });
    assert.deepEqual(await first.evaluate(({ dataset }) => ({ ...dataset })), { layer: "1", head: "1" });
    await strength.fill("80");
  });
});

/** The model's 28 × 28 image as ink of 0..1, read from the page in any theme. */
async function inkOf(page) {
  const map = await page.inputValue("#map");
  await page.selectOption("#map", "class");
  await settled(page);
  const ink = await page.locator("#pixels").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const red = Array.from({ length: data.length / 4 }, (_, i) => data[i * 4]);
    const [paper, ink] = [Math.max(...red), Math.min(...red)];
    return red.map((value) => (paper - value) / (paper - ink));
  });
  await page.selectOption("#map", map);
  return ink;
}
