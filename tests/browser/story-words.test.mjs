// A decoder writes: its steps, what it keeps, the order of looking in two languages, and beams are the package's.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { ink, skip, withBrowser } from "./harness.mjs";
import { openChapter, weightsOf } from "./story.mjs";

const { drawingOf } = await importTypescript("web/demo/ink.ts");
const { ACROSS, OPENING, strokesOf } = await importTypescript("web/demo/number/examples.ts");

describe("a decoder writes", { skip }, () => {
  const browser = withBrowser();
  let page, chapter, vit;
  before(async () => {
    vit = await Vit.load(weightsOf("numbers"), { variant: "simd128" });
    ({ page } = await browser.visit());
    chapter = await openChapter(page, "words", ".order .ink");
    await chapter.locator("figure[data-back]").nth(1).waitFor();
  });
  after(() => vit.dispose());

  const read = (start, options) => vit.read(drawingOf(OPENING, false, ACROSS), { start, attention: true, beams: 1, ...options });

  test("a step shows one row of the causal mask, one new key and value in each layer, and those that are kept", async () => {
    const { tokens } = await read("de"), { depth } = vit.config.decoder, slider = chapter.locator("#words-step");
    assert.equal(await slider.getAttribute("max"), String(tokens.length));
    for (const step of [1, tokens.length - 1, 5]) {
      await slider.fill(String(step));
      await chapter.locator(`[data-step="${step}"]`).waitFor();
      const [earlier, fresh, empty] = await Promise.all([".kept", ".new", ".empty"].map((of) => chapter.locator(`.cache ${of}`).count()));
      const patches = vit.config.image_size[0] * vit.config.image_size[1] / (vit.config.patch_size[0] * vit.config.patch_size[1]);
      assert.deepEqual([earlier - depth * patches, fresh, empty], [2 * depth * (step - 1), 2 * depth, 2 * depth * (tokens.length - step)]);
      assert.equal((await chapter.locator(".written .lit").textContent()).trim() || "·", tokens[step - 1].text.trim() || "·");
      assert.match(await chapter.locator("p.kept").textContent(), new RegExp(`^Step ${step} computes one key .* ${step - 1} kept .* would compute ${step}\\. The picture’s ${patches} `));
    }
    const canvas = chapter.locator(".matrix canvas").first(), words = chapter.locator(".grid-words");
    await canvas.focus();
    for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key); // the first key shows the cursor
    assert.match(await words.textContent(), /^step 1, “.*”, “.*”: masked$/);
  });

  test("the order of looking goes through the words that look at one place, and in German the eye goes left where English does not", async () => {
    const columns = vit.config.image_size[1] / vit.config.patch_size[1];
    const orders = await chapter.locator("figure[data-back]").evaluateAll((all) => all.map(({ dataset }) => ({ ...dataset })));
    for (const [at, language] of ["de", "en"].entries()) {
      const { tokens, attention } = await read(language);
      const places = tokens.flatMap(({ text }, token) => {
        const sums = new Float64Array(columns);
        attention.fromToken(token).forEach((share, i) => (sums[i % columns] += share));
        const place = sums.indexOf(Math.max(...sums)), [before = 0, here, after = 0] = [sums[place - 1], sums[place], sums[place + 1]];
        return text.trim() && before + here + after >= 0.5 ? [place] : [];
      });
      assert.equal(orders[at].places, places.join(" "), language);
      assert.equal(Number(orders[at].back), places.filter((place, i) => i > 0 && place < places[i - 1]).length);
    }
    assert.ok(Number(orders[0].back) > Number(orders[1].back), JSON.stringify(orders));
  });

  test("the tree's best way is what three beams write", async () => {
    await chapter.locator(".more > summary").click();
    await chapter.locator("figure[data-ids]").waitFor();
    const { tokens, text } = await read("de", { beams: 3 });
    assert.equal(await chapter.locator("figure[data-ids]").getAttribute("data-ids"), tokens.map(({ id }) => id).join(" "));
    assert.equal(await chapter.locator("figure[data-ids] figcaption").textContent(), `It wrote “${text}”.`);
    assert.equal(await chapter.locator(".tree g.won").count(), tokens.length);
  });

  test("no two words beside the cache overlap, in German neither", async () => {
    const overlaps = () => chapter.locator(".cache text").evaluateAll((all) => {
      const boxes = all.map((text) => [text.textContent, text.getBoundingClientRect()]);
      return boxes.flatMap(([name, a], i) => boxes.slice(i + 1).filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2).map(([other]) => [name, other]));
    });
    assert.deepEqual(await overlaps(), []);
    await page.locator("#language").selectOption("de");
    await chapter.locator(".cache text", { hasText: "Schicht 1" }).waitFor();
    assert.deepEqual(await overlaps(), []);
    await page.locator("#language").selectOption("en");
    await chapter.locator(".cache text", { hasText: "layer 1" }).waitFor();
  });

  test("another number of the third tab is the chapter's, and another language is written", async () => {
    await chapter.locator(".words-top input[value=digits]").first().evaluate((input) => input.click());
    await page.waitForFunction(() => document.querySelector("#words .written").textContent.startsWith("4273"));
    await chapter.getByRole("link", { name: "Write another number" }).click();
    await page.locator("#number-words .word").first().waitFor();
    await ink(page, strokesOf("42").map((stroke) => stroke.map(({ x, y }) => [x / 11.2, y / 2.8])), { on: "#number-pad" });
    await page.goBack();
    await page.waitForFunction(() => document.querySelector("#words .written").textContent.startsWith("42 "));
  });
});
