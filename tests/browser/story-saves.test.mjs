// Every table of the story can be saved as its numbers, and an SVG figure as it looks.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { skipMedia } from "./browsers.mjs";
import { DIGITS, ink, saved, settled, skip, withBrowser } from "./harness.mjs";
import { openChapter } from "./story.mjs";

const TABLES = { patches: 1, positions: 2, score: 1, layers: 1, doubt: 2, cnn: 1, masks: 1 };

const FIGURES = { block: ".road-map", layers: ".lens", doubt: ".reliability", masks: ".cost .chart" };

/** What a table shows: its visible rows of cells, with a minus that programs read. */
const rowsOf = (table) => table.evaluate((element) =>
  [...element.rows].filter((row) => row.checkVisibility()).map((row) => [...row.cells].map((cell) => cell.textContent.trim().replaceAll("−", "-"))));

/** In the page: how many pixels of a picture are no paper, and how alike it and a screenshot are: the
 *  correlation of the ink in their squares of 6 pixels. */
async function look([source, screenshot, ground]) {
  const shot = new Image();
  shot.src = screenshot;
  await shot.decode();
  const size = [shot.naturalWidth, shot.naturalHeight];
  const read = async (src) => {
    const image = new Image();
    image.src = src;
    await image.decode();
    const canvas = new OffscreenCanvas(...size), context = canvas.getContext("2d");
    context.fillStyle = ground;
    context.fillRect(0, 0, ...size);
    context.drawImage(image, 0, 0, ...size);
    const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
    const paper = [0, 1, 2].map((c) => { // the middle of every eleventh pixel
      const some = data.filter((_, i) => i % 44 === c).sort();
      return some[some.length >> 1];
    });
    return { data, width, height, paper };
  };
  const isInk = ({ data, paper }, i, least) => paper.some((level, c) => Math.abs(data[i + c] - level) > least);
  const inks = (image, columns, rows) => {
    const squares = new Float64Array(columns * rows);
    for (let y = 0; y < 6 * rows; y++)
      for (let x = 0; x < 6 * columns; x++)
        squares[Math.floor(y / 6) * columns + Math.floor(x / 6)] += isInk(image, 4 * (y * image.width + x), 40);
    const mean = squares.reduce((a, b) => a + b) / squares.length;
    return squares.map((ink) => ink - mean);
  };
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const original = await read(source), copy = await read(screenshot);
  const [columns, rows] = size.map((side) => Math.floor(side / 6));
  const [a, b] = [inks(original, columns, rows), inks(copy, columns, rows)];
  let painted = 0;
  for (let i = 0; i < original.data.length; i += 4) painted += isInk(original, i, 0);
  return { painted, alike: dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)) };
}

describe("what the story lets one save", { skip }, () => {
  const browser = withBrowser();
  let page, trouble;
  before(async () => {
    ({ page, trouble } = await browser.visit({ viewport: { width: 1200, height: 1000 } }));
    await ink(page, DIGITS[7]);
  });

  /** A chapter with its folds and its list of figures open. */
  async function unfolded(id, selector) {
    const chapter = await openChapter(page, id, `:is(details:has(${selector}), ${selector})`);
    for (const summary of await chapter.locator(`details:not([open]):has(${selector}) > summary`).all()) await summary.click();
    await page.keyboard.press("Shift"); // a key ends the page's hold on the chapter that the address names
    await settled(page);
    await chapter.locator(selector).locator("visible=true").last().waitFor();
    await chapter.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
    const saves = chapter.locator(".saves > summary");
    if (await chapter.locator(".saves[open]").count()) await saves.click(); // it lists what is shown when it opens
    await saves.click();
    await chapter.locator(".saves button").first().waitFor();
    return chapter;
  }
  /** The file of a figure in an open chapter. */
  async function fileOf(chapter, figure) {
    const place = await figure.evaluate((element) => [...element.closest(".chapter").querySelectorAll("[data-figure]")]
      .filter((figure) => figure.checkVisibility()).indexOf(element));
    const button = chapter.locator(".saves button").nth(place);
    assert.match(await button.textContent(), /\S/);
    const { name, bytes } = await saved(page, () => button.evaluate((element) => element.click()));
    assert.deepEqual(trouble, []);
    return { name, text: bytes.toString() };
  }

  for (const [id, count] of Object.entries(TABLES)) {
    test(`the tables of #${id} are saved as their numbers`, async () => {
      const chapter = await unfolded(id, "table"), tables = await chapter.locator("table").all();
      assert.equal(tables.length, count);
      for (const table of tables) {
        const { name, text } = await fileOf(chapter, table);
        assert.match(name, /^[\p{L}\p{N}-]+\.csv$/u);
        const rows = text.split("\r\n").map((line) => [...line.matchAll(/"((?:[^"]|"")*)"(?:,|$)/g)].map(([, cell]) => cell.replaceAll('""', '"')));
        assert.ok(rows.length > 1 && rows.flat().join("").length > 20, text);
        assert.deepEqual(rows, await rowsOf(table));
      }
    });
  }

  for (const [id, selector] of Object.entries(FIGURES)) {
    test(`${selector} of #${id} is saved as it looks, light and dark`, async () => {
      const chapter = await unfolded(id, selector), figure = chapter.locator(selector).first();
      for (const colorScheme of skipMedia ? ["light"] : ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await settled(page);
        const { name, text } = await fileOf(chapter, figure);
        assert.match(name, /^[\p{L}\p{N}-]+\.svg$/u);
        await figure.evaluate((element) => element.scrollIntoView({ block: "center" })); // below what stays pinned
        const screenshot = `data:image/png;base64,${(await figure.screenshot()).toString("base64")}`;
        const ground = await page.evaluate(() => getComputedStyle(document.querySelector(".sheet")).backgroundColor);
        const { painted, alike } = await page.evaluate(look, [`data:image/svg+xml,${encodeURIComponent(text)}`, screenshot, ground]);
        assert.ok(painted > 100, `${painted} pixels`);
        assert.ok(alike > 0.7, `${name}, ${colorScheme}: correlation ${alike}`);
        trouble.length = 0; // a screenshot in Firefox needs a style that the page's policy forbids
      }
    });
  }
});
