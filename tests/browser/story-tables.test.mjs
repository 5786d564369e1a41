// Every table of the story can be saved as a picture, which says what the table says.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DIGITS, draw, openBrowser, settled, skip } from "./harness.mjs";
import { openChapter } from "./story.mjs";

const TABLES = { patches: 1, positions: 3, score: 1, layers: 1, doubt: 1, cnn: 1, masks: 1 };

/** What a table shows: the words of its visible cells, without space. */
const wordsOf = (table) => table.evaluate((element) =>
  [...element.querySelectorAll("caption, th, td")].filter((cell) => cell.getBoundingClientRect().width > 0)
    .map((cell) => cell.textContent).join("").replaceAll(/\s/g, ""));

/** Presses a button in the page: the name and the text of the file that it saves. Firefox tells a test of no download. */
const savedBy = (button) => button.evaluate(async (element) => {
  const { createObjectURL } = URL, { click } = HTMLAnchorElement.prototype;
  let blob, name;
  URL.createObjectURL = (given) => createObjectURL.call(URL, (blob = given));
  HTMLAnchorElement.prototype.click = function () { name = this.download; };
  element.click();
  URL.createObjectURL = createObjectURL;
  HTMLAnchorElement.prototype.click = click;
  return { name, text: await blob.text() };
});

/** In the page: the words of a picture without space, and how many of its pixels differ from its first. */
async function look(source) {
  const root = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight), context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  let painted = 0;
  for (let i = 4; i < data.length; i += 4) painted += data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2];
  const texts = [...root.querySelectorAll("text")].map(({ textContent }) => textContent);
  return { kind: root.localName, words: texts.join("").replaceAll(/\s/g, ""), painted };
}

describe("the story's tables", { skip }, () => {
  let browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser?.close());

  for (const [id, count] of Object.entries(TABLES)) {
    test(`those of #${id} are saved as they look`, async () => {
      const { page, trouble, close } = await browser.visit();
      await draw(page, DIGITS[7]);
      const chapter = await openChapter(page, id, ":is(details:has(table), table)");
      for (const summary of await chapter.locator("details:has(table) > summary").all()) await summary.click();
      await settled(page);
      const tables = await chapter.locator("table").all();
      assert.equal(tables.length, count);
      for (const table of tables) {
        await table.locator("th:visible").last().waitFor();
        await chapter.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
        const button = table.locator("xpath=following::button[1]");
        assert.match(await button.getAttribute("aria-label"), /^Save as SVG: \S/);
        const { name, text } = await savedBy(button);
        assert.match(name, /^[\p{L}\p{N}-]+\.svg$/u);
        const { kind, words, painted } = await page.evaluate(look, text);
        assert.equal(kind, "svg");
        assert.equal(words, await wordsOf(table));
        assert.ok(painted > 100, `${painted} pixels`);
      }
      assert.deepEqual(trouble, []);
      await close();
    });
  }
});
