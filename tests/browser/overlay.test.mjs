import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  DIGITS,
  ink,
  padSpots,
  picture,
  settled,
  skip,
  withBrowser,
} from "./harness.mjs";

describe("attention on the page", { skip }, () => {
  const browser = withBrowser();
  let page;
  before(async () => {
    ({ page } = await browser.visit({ closer: true }));
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
    const pictures = new Set();
    for (const corner of [
      [30, 18],
      [70, 18],
      [46, 85],
    ]) {
      await page.mouse.move(...spot(corner));
      await settled(page);
      pictures.add(await picture(page, "#overlay"));
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
    assert.equal(pictures.size, 3);
    await choose("#map", "class");
  });

  test("a click on a small map chooses its layer and head", async () => {
    await page.getByRole("button", { name: "Layer 2, head 3" }).click();
    await settled(page);
    assert.equal(await page.inputValue("#layer"), "2");
    assert.equal(await page.inputValue("#head"), "3");
  });

  test("the large map's scale ends at its own hottest patch, and the small maps have one scale", async () => {
    const scales = { own: new Set(), common: new Set() };
    for (const layer of ["1", "2"]) {
      await choose("#layer", layer);
      assert.deepEqual(await page.locator("#scale-min, #maps-min").allTextContents(), ["0 %", "0 %"]);
      const own = await page.locator("#scale-max").textContent();
      assert.match(own, /^\d+(\.\d)? % on one patch$/);
      const most = /: (\S+ %)\.$/.exec(await page.locator("#overlay").getAttribute("aria-label"))[1];
      assert.ok(own.startsWith(most), `${own}, and in words ${most}`);
      scales.own.add(own);
      scales.common.add(await page.locator("#maps-max").textContent());
    }
    assert.deepEqual([scales.own.size, scales.common.size], [2, 1]);
  });

  test("the scale is linear: the hottest patch has the last colour, and a patch without attention is not tinted", async () => {
    await choose("#layer", "4");
    const alphas = await page.locator("#overlay").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const counts = new Map();
      for (let i = 0; i < data.length; i += 4) {
        const colour = data.subarray(i, i + 4).join();
        counts.set(colour, (counts.get(colour) ?? 0) + 1);
      }
      return [...counts].filter(([, count]) => count > 400).map(([colour]) => colour.split(",").map(Number));
    });
    assert.ok(alphas.some(([r, g, b, a]) => a === 255 && Math.hypot(r - 197, g - 51, b - 26) < 3), "the hottest");
    assert.ok(alphas.some(([, , , a]) => a > 0 && a < 40), "and a faint one");
    await choose("#layer", "1");
  });

  test("one sentence says in words where it looks, of the map that is shown", async () => {
    const looksText = () => page.locator("#looks").textContent();
    for (const layer of ["4", "3"]) {
      await choose("#layer", layer);
      const text = await looksText();
      assert.match(text, /^It looks (mostly at the .+: \S+ (patch )?of 49|\w+ little everywhere)/, text);
      const [, patches, share] = /: (\d+) of 49 patches hold (\d+)\s%/.exec(text) ?? [];
      if (patches) assert.ok(patches >= 2 && share > 0 && share <= 100, text);
    }
    await choose("#map", "patch");
    assert.match(await looksText(), /^The chosen patch looks mostly|^It looks a little/);
    await choose("#map", "class");
  });

  test("the hottest of all small maps has the colours that it has on the pad, and names its layer and head", async () => {
    const [layer, head] = await page.locator("#maps button").evaluateAll((all) => {
      const alpha = (button) => {
        const { data } = button.firstElementChild.getContext("2d").getImageData(0, 0, 7, 7);
        return Math.max(...data.filter((_, i) => i % 4 === 3)) * 1000 - Math.min(...data.filter((_, i) => i % 4 === 1 && data[i + 2] === 255));
      };
      const most = all.reduce((a, b) => (alpha(b) > alpha(a) ? b : a));
      return most.title.match(/\d+/g);
    });
    await choose("#layer", layer);
    await choose("#head", head);
    const small = page.getByRole("button", { name: `Layer ${layer}, head ${head}` });
    const cell = await small.locator("canvas").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const cells = Array.from({ length: data.length / 4 }, (_, i) => [...data.subarray(4 * i, 4 * i + 4)]);
      return cells.reduce((most, one) => (one[3] > most[3] || (one[3] === most[3] && one[1] < most[1]) ? one : most));
    });
    const pixelCount = await page.locator("#overlay").evaluate((canvas, [r, g, b, a]) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        const far = Math.max(...[r, g, b, a].map((value, k) => Math.abs(value - data[i + k])));
        count += far <= 3;
      }
      return count;
    }, cell);
    assert.ok(pixelCount > 100, `${pixelCount} pixels of ${cell}`);
    const first = page.getByRole("button", { name: "Layer 1, head 1" });
    assert.deepEqual(await first.evaluate(({ dataset }) => ({ ...dataset })), { layer: "1", head: "1" });
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
