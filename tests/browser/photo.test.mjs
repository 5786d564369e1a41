// Photos of digits on the first tab. The photos are made here: strokes on grey paper in uneven light, with noise.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { DIGITS, draw, ink, painted, picture, prediction, saved, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { hand } from "./own.mjs";

const [WIDTH, HEIGHT] = [400, 300];
const SIDE = 280; // of the pad, in its own units

/** A photo whose strokes lie in a square of `side` pixels at `left` and `top`, as a file and as pixels. */
async function photoOf(page, strokes, { left = 30, top = 100, side = 150 } = {}) {
  const [png, rgba] = await page.evaluate(async ({ strokes, left, top, side, WIDTH, HEIGHT }) => {
    const context = new OffscreenCanvas(WIDTH, HEIGHT).getContext("2d");
    const light = context.createLinearGradient(0, 0, WIDTH, HEIGHT);
    light.addColorStop(0, "rgb(205 203 192)");
    light.addColorStop(1, "rgb(180 177 166)");
    context.fillStyle = light;
    context.fillRect(0, 0, WIDTH, HEIGHT);
    context.translate(left, top);
    context.scale(side / 100, side / 100);
    Object.assign(context, { lineWidth: 8, lineCap: "round", lineJoin: "round", strokeStyle: "#1d2440" });
    for (const stroke of strokes) {
      context.beginPath();
      for (const corner of stroke) context.lineTo(...corner);
      context.stroke();
    }
    const image = context.getImageData(0, 0, WIDTH, HEIGHT), { data } = image;
    for (let i = 0, seed = 1; i < data.length; i++) {
      seed = (seed * 48271) % 2147483647;
      if (i % 4 < 3) data[i] += (seed % 9) - 4;
    }
    context.putImageData(image, 0, 0);
    const base64 = (bytes) => btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""));
    const blob = await context.canvas.convertToBlob();
    return [base64(new Uint8Array(await blob.arrayBuffer())), base64(data)];
  }, { strokes, left, top, side, WIDTH, HEIGHT });
  const file = { name: "digit.png", mimeType: "image/png", buffer: Buffer.from(png, "base64") };
  return { file, pixels: { data: new Uint8Array(Buffer.from(rgba, "base64")), width: WIDTH, height: HEIGHT } };
}

/** Chooses a photo and waits for its answer. */
async function choose(page, file) {
  await page.setInputFiles("#photo-input", file);
  await page.locator("body.photo").waitFor();
  await settled(page);
}

/** Waits until the page's answer is this label. */
const reads = (page, label) => page.locator(`#prediction[data-label="${label}"]`).waitFor();

/** The box of a canvas's pixels that are not transparent, in pad units. */
const boxOf = (page, selector) => page.locator(selector).evaluate((canvas, SIDE) => {
  const { width, height } = canvas, copy = new OffscreenCanvas(width, height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  const box = { left: width, top: height, right: 0, bottom: 0 };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (data[4 * (y * width + x) + 3] === 0) continue;
      box.left = Math.min(box.left, x), box.right = Math.max(box.right, x + 1);
      box.top = Math.min(box.top, y), box.bottom = Math.max(box.bottom, y + 1);
    }
  }
  return Object.fromEntries(Object.entries(box).map(([side, at]) => [side, (at * SIDE) / width]));
}, SIDE);

describe("a photo of a digit", { skip }, () => {
  const browser = withBrowser();

  test("is read as the package reads it, and its map lies over its ink", async () => {
    const { page } = await browser.visit();
    const { file, pixels } = await photoOf(page, DIGITS[7]);
    await choose(page, file);
    const vit = await Vit.load(new URL("../../weights/digits.safetensors", import.meta.url));
    const { classes: [best], placement } = await vit.classify(pixels);
    vit.dispose();
    const { label, p } = await prediction(page);
    assert.equal(label, "7");
    assert.equal(label, best.label);
    assert.ok(Math.abs(Number(p) - best.p) < 1e-5, `${p}, not ${best.p}`);
    assert.equal(await page.locator("#bars .best").getAttribute("data-label"), "7");

    const scale = SIDE / WIDTH, band = (SIDE - HEIGHT * scale) / 2; // the photo lies in the pad's middle
    const photo = await boxOf(page, "#pad");
    for (const [side, at] of Object.entries({ left: 0, top: band, right: SIDE, bottom: SIDE - band }))
      assert.ok(Math.abs(photo[side] - at) < 1, `the photo's ${side}: ${photo[side]}, not ${at}`);
    const map = await boxOf(page, "#overlay");
    const sides = { left: placement.left, top: placement.top, right: placement.left + placement.width, bottom: placement.top + placement.height };
    for (const [side, at] of Object.entries(sides)) {
      const place = at * scale + (side === "top" || side === "bottom" ? band : 0);
      assert.ok(Math.abs(map[side] - place) < 1.5, `the map's ${side}: ${map[side]}, not ${place}`);
    }
    assert.ok(map.left < 70 * scale && map.right > 140 * scale && map.right < 210 * scale, JSON.stringify(map)); // of the ink, not the photo
    const order = await page.evaluate(() => ["#pad", "#overlay"].map((id) => Number(getComputedStyle(document.querySelector(id)).zIndex)));
    assert.ok(order[1] >= order[0], "the map is above the photo");
    const where = await page.locator("#looks").textContent();
    assert.match(where, /^It looks (mostly at the (ink|empty space) (at|on|in) |a little everywhere)/);
  });

  test("comes by a drop or Ctrl+V too, and the first tab stays; undo, redo, clear and another drawing replace it", async () => {
    const { page } = await browser.visit();
    const seven = await photoOf(page, DIGITS[7]), one = await photoOf(page, DIGITS[1]);
    await ink(page, DIGITS[3]);
    const padPicture = await picture(page, "#pad");
    await hand(page, "dragover", [seven.file]);
    const outline = () => page.locator("#draw .case").evaluate((pad) => getComputedStyle(pad).outlineStyle);
    assert.equal(await outline(), "dashed");
    await hand(page, "drop", [seven.file]);
    assert.equal(await outline(), "none");
    await reads(page, "7");
    await hand(page, "paste", [one.file]);
    await reads(page, "1");
    assert.equal(await page.locator("#tab-draw").getAttribute("aria-selected"), "true");

    await page.click("#undo");
    await reads(page, "7");
    await page.click("#undo");
    await reads(page, "3");
    assert.equal(await page.locator("body.photo").count(), 0);
    await settled(page);
    assert.equal(await picture(page, "#pad"), padPicture);
    await page.click("#redo");
    await reads(page, "7");
    await page.click("#clear");
    await settled(page);
    assert.equal((await prediction(page)).label, "");
    assert.equal(await painted(page, "#pad"), 0);
    assert.equal(await page.locator("#clear").getAttribute("aria-disabled"), "true");
    await page.click("#undo");
    await reads(page, "7");
    await draw(page, DIGITS[4]);
    await reads(page, "4");
    assert.equal(await page.locator("body.photo").count(), 0);
    await choose(page, one.file);
    await page.locator("#examples button").nth(5).click();
    await reads(page, "5");
    assert.equal(await page.locator("body.photo").count(), 0);
  });

  test("that cannot be read is refused in words, and the drawing stays", async () => {
    const { page } = await browser.visit();
    await ink(page, DIGITS[4]);
    const padPicture = await picture(page, "#pad");
    const wide = await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(32769, 1);
      canvas.getContext("2d").fillRect(0, 0, 9, 1);
      return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
    });
    const cases = [
      ["notes.txt", "text/plain", "a 7", /^Nothing to show: .*got notes\.txt$/],
      ["torn.png", "image/png", "\x89PNG\r\n\x1a\n", /^This photo cannot be read: torn\.png: .*image\/png$/],
      ["IMG_1.HEIC", "", "\0\0\0\x18ftypheic\0\0\0\0mif1heic", /IMG_1\.HEIC: .*HEIC photo: convert it to JPEG$/],
      ["wide.png", "image/png", Buffer.from(wide), /^This photo cannot be read: .*32769/],
    ];
    for (const [name, mimeType, bytes, words] of cases) {
      await hand(page, "drop", [{ name, mimeType, buffer: Buffer.from(bytes, "latin1") }]);
      await page.locator("#status", { hasText: words }).waitFor({ state: "attached" }); // it fades out
      await reads(page, "4");
      await settled(page);
      assert.equal(await picture(page, "#pad"), padPicture, name);
      assert.equal(await page.locator("#tab-draw").getAttribute("aria-selected"), "true");
    }
  });

  test("without ink has no answer, and the page says why", async () => {
    const { page } = await browser.visit();
    await choose(page, (await photoOf(page, [])).file);
    assert.equal((await prediction(page)).label, "");
    assert.equal(await page.locator("#caption").textContent(), "No ink found");
  });

  test("is no drawing: a link and code do not hold it, its picture shows it, and nothing is taught with it", async () => {
    const { page } = await browser.visit({ closer: true });
    await choose(page, (await photoOf(page, DIGITS[7])).file);
    assert.ok(await page.locator("#teach-this").isHidden());
    assert.equal(await page.locator("#code").getAttribute("aria-disabled"), "true");
    await page.click("#share");
    await page.locator("#status", { hasText: "no photo" }).waitFor({ state: "attached" });
    const { name, bytes } = await saved(page, () => page.click("#save"));
    assert.equal(name, "vitrine-7.png");
    const grey = await page.evaluate(async (base64) => {
      const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))]));
      const context = new OffscreenCanvas(1, 1).getContext("2d");
      context.drawImage(bitmap, -535, -315); // on the pad, right of the digit
      return [...context.getImageData(0, 0, 1, 1).data];
    }, bytes.toString("base64"));
    assert.ok(grey.slice(0, 3).every((level) => level > 150 && level < 215), `the photo's paper, not ${grey}`);
  });

  test("is chosen by keyboard, on phones from the gallery or the camera; its button fits at 320 pixels", async () => {
    const { page } = await browser.visit({ viewport: { width: 320, height: 640 } });
    page.on("filechooser", () => {}); // lets Playwright take the file choosers from here on
    const { file } = await photoOf(page, DIGITS[1]);
    const input = page.locator("#photo-input");
    assert.deepEqual([await input.getAttribute("accept"), await input.getAttribute("capture")], ["image/*", null]); // a phone asks which
    await page.locator("#examples button").last().focus();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "photo");
    const opened = page.waitForEvent("filechooser");
    await page.keyboard.press("Enter");
    await (await opened).setFiles(file);
    await reads(page, "1");
    const { x, width, height } = await page.locator("#photo").boundingBox();
    assert.ok(x + width <= 320 && width >= 24 && height >= 40, `${width}×${height} at ${x}`);
  });

  test("is read in every chapter; those of strokes show the page's example", async () => {
    const { page } = await browser.visit();
    await choose(page, (await photoOf(page, DIGITS[7])).file);
    const chapters = await page.locator("#chapters .chapter").evaluateAll((all) => all.map(({ id }) => id));
    for (const id of chapters) {
      await toChapter(page, id);
      await page.locator(`#${id} > :nth-child(2)`).waitFor();
    }
    assert.equal(await page.locator("#rail-answer").getAttribute("data-label"), "7");
    assert.ok((await painted(page, "#rail-pad")) > 1000);
    await toChapter(page, "strokes");
    await page.locator("#strokes-progress[data-done=true]").waitFor();
    assert.match(await page.locator("#strokes-words").textContent(), /100.%.*3/);
    assert.ok(await page.locator("#strokes-example").isVisible());
    assert.equal(await page.locator("#story-status").textContent(), "");
  });
});
