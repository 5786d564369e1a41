// Every table of the story can be saved as a picture, which says what the table says.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { unasked } from "./browsers.mjs";
import { DIGITS, ink, saved, settled, skip, withBrowser } from "./harness.mjs";
import { openChapter } from "./story.mjs";

const TABLES = { patches: 1, positions: 2, score: 1, layers: 1, doubt: 2, cnn: 1, masks: 1 };

/** What a table shows: the words of its visible cells, without space. */
const wordsOf = (table) => table.evaluate((element) =>
  [...element.querySelectorAll("caption, th, td")].filter((cell) => cell.getBoundingClientRect().width > 0)
    .map((cell) => cell.textContent).join("").replaceAll(/\s/g, ""));

/** In the page: the words of a picture without space, how many of its pixels are no paper, and how
 *  alike it and a screenshot are: the correlation of the ink in their squares of 6 pixels. */
async function look([source, screenshot]) {
  const read = async (src) => {
    const image = new Image();
    image.src = src;
    await image.decode();
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight), context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
    const paper = [0, 1, 2].map((c) => data.filter((_, i) => i % 4 === c).sort()[(width * height) >> 1]);
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
  const drawn = await read(`data:image/svg+xml,${encodeURIComponent(source)}`), seen = await read(screenshot);
  const [columns, rows] = ["width", "height"].map((side) => Math.floor(Math.min(drawn[side], seen[side]) / 6));
  const [a, b] = [inks(drawn, columns, rows), inks(seen, columns, rows)];
  let painted = 0;
  for (let i = 0; i < drawn.data.length; i += 4) painted += isInk(drawn, i, 0);
  const root = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  const texts = [...root.querySelectorAll("text")].map(({ textContent }) => textContent);
  return { kind: root.localName, words: texts.join("").replaceAll(/\s/g, ""), painted, alike: dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)) };
}

describe("the story's tables", { skip }, () => {
  const browser = withBrowser();
  let page, trouble;
  before(async () => {
    ({ page, trouble } = await browser.visit({ viewport: { width: 1200, height: 1000 } }));
    await ink(page, DIGITS[7]);
  });

  const cases = ["light", "dark"].flatMap((scheme) => Object.entries(TABLES).map(([id, count]) => [id, count, scheme]));
  for (const [id, count, colorScheme] of cases) {
    test(`those of #${id} are saved as they look, ${colorScheme}`, { skip: colorScheme === "dark" && unasked }, async () => {
      if (colorScheme === "dark") await page.emulateMedia({ colorScheme });
      const chapter = await openChapter(page, id, ":is(details:has(table), table)");
      for (const summary of await chapter.locator("details:not([open]):has(table) > summary").all()) await summary.click();
      await page.keyboard.press("Shift"); // a key ends the page's hold on the chapter that the address names
      await settled(page);
      const tables = await chapter.locator("table").all();
      assert.equal(tables.length, count);
      const files = [];
      await chapter.locator(".saves").evaluate((list) => (list.open = true));
      for (const table of tables) {
        await table.locator("th:visible").last().waitFor();
        await chapter.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
        const place = await table.evaluate((element) => [...element.closest(".chapter").querySelectorAll("[data-figure]")]
          .filter((figure) => figure.checkVisibility()).indexOf(element));
        const button = chapter.locator(".saves button").nth(place);
        assert.match(await button.textContent(), /\S/);
        const { name, bytes } = await saved(page, () => button.evaluate((element) => element.click()));
        assert.match(name, /^[\p{L}\p{N}-]+\.svg$/u);
        files.push([table, name, bytes.toString()]);
      }
      assert.deepEqual(trouble, []);
      for (const [table, name, text] of files) {
        await table.evaluate((element) => element.scrollIntoView({ block: "center" })); // below what stays pinned
        const screenshot = `data:image/png;base64,${(await table.screenshot()).toString("base64")}`;
        const { kind, words, painted, alike } = await page.evaluate(look, [text, screenshot]);
        assert.equal(kind, "svg");
        assert.equal(words, await wordsOf(table));
        assert.ok(painted > 100, `${painted} pixels`);
        assert.ok(alike > 0.7, `${name}: correlation ${alike}`);
      }
      trouble.length = 0; // a screenshot in Firefox needs a style that the page's policy forbids
    });
  }
});
