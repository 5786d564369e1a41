// One's own images in "Train one yourself, here": a folder of photos and IDX files, beside the package in Node.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { Vit } from "../../dist/vit.js";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { idx } from "../node/idx.mjs";
import { name as browserName } from "./browsers.mjs";
import { saved, violations, withBrowser } from "./harness.mjs";
import { choose, inPhase, needsMnist, press, recipe, STATUS, visitLive } from "./live.mjs";

const { sourceOf } = await importTypescript("web/demo/story/chapters/learning/live/own.ts");

/** 28×28 pixels: class 0 is a bar that stands, class 1 one that lies, class 2 a square. */
const pixelsOf = (label, at) => Uint8Array.from({ length: 784 }, (_, i) => {
  const [x, y] = [i % 28, Math.floor(i / 28)].map((value) => Math.abs(value - 14 - (at % 5) + 2));
  const inside = [x < 3 && y < 10, x < 10 && y < 3, x < 7 && y < 7][label];
  return inside ? 255 - at : at;
});
const EACH = 20;
const noFolder = { skip: browserName === "firefox" && "a test cannot give Firefox a folder" };
const png = (pixels) => sharp(pixels, { raw: { width: 28, height: 28, channels: 1 } }).png().toBuffer();

describe("one's own images", needsMnist, () => {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-"));
  const browser = withBrowser();
  let page;
  before(async () => {
    ({ page } = await visitLive(browser));
    await choose(page, "Ours, small", 6);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const write = (path, bytes) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  };
  const from = (name) => page.locator(".live-from").getByText(name, { exact: true }).click();
  const says = (text) => page.locator(STATUS, { hasText: text }).waitFor();
  const own = () => page.locator("#learning-live-own").textContent();
  const files = (...pairs) => pairs.map(([name, buffer]) => ({ name, mimeType: "", buffer }));

  /** Trains, and compares the confusion matrix with what the saved model answers in Node to the images that are kept. */
  const trainOn = async (dataset) => {
    const { test: testSet } = await sourceOf(dataset).open();
    await page.locator("#learning-live-train").click();
    await inPhase(page, "finished");
    await says(`of the ${testSet.labels.length} test images right`);
    const vit = await Vit.load((await saved(page, () => press(page, "Download the model"))).bytes);
    assert.deepEqual(vit.config.labels, dataset.names);
    const answers = await vit.classifyAll(Array.from(testSet.labels, (_, at) => testSet.image(at)), { topK: 1 });
    const counts = new Array(dataset.names.length ** 2).fill(0);
    answers.forEach(({ classes }, at) => counts[testSet.labels[at] * dataset.names.length + classes[0].index]++);
    await page.waitForFunction((counts) => document.querySelector(".live-confusion canvas").dataset.counts === counts, counts.join());
    assert.deepEqual(await page.locator(".live-confusion ol").first().locator("li").allTextContents(), dataset.names);
    assert.deepEqual(await page.locator("#learning-live-bars b").allTextContents(), dataset.names);
    const { prepare } = vit.config;
    vit.dispose();
    return prepare;
  };

  test("a folder's subfolders become the classes, and a model learns them", noFolder, async () => {
    const names = ["lying", "square", "standing"], order = [1, 2, 0], pixels = [], labels = [];
    for (const [label, name] of names.entries()) {
      for (let at = 0; at < EACH; at++) {
        pixels.push(pixelsOf(order[label], at));
        labels.push(label);
        write(`signs/${name}/${String(at).padStart(2, "0")}.png`, await png(pixels.at(-1)));
      }
    }
    write("signs/notes.txt", "no image");
    await from("a folder");
    await page.setInputFiles("#live-folder", join(folder, "signs"));
    await says("lying, square, standing: 54 images to train on, 6 to test with.");
    assert.deepEqual((await recipe(page)).model.labels, names);
    const prepare = await trainOn({ names, labels: Uint8Array.from(labels), pixels: Uint8Array.from(pixels.flatMap((image) => [...image])) });
    assert.equal(prepare.kind, "photo");
  });

  test("a folder that cannot be taken is refused by name, and what was there stays", noFolder, async () => {
    const image = await png(pixelsOf(0, 0)), was = await own(), { model } = await recipe(page);
    const cases = [
      [["one/a/1.png", image], /one: expected 2 to 20 classes, got 1/],
      [["bare/1.png", image], /bare: expected 2 to 20 classes, got 0/],
      [["text/a/1.txt", "text"], /text: expected 2 to 20 classes, got 0/],
      [["damaged/a/1.png", image, "damaged/b/2.png", "no picture"], /damaged\/b\/2\.png: expected an image, got a file that the browser cannot read/],
      [["few/a/1.png", image, "few/b/2.png", image], /expected 5 images of a class at least/],
    ];
    for (const [paths, why] of cases) {
      for (let at = 0; at < paths.length; at += 2) write(paths[at], paths[at + 1]);
      await page.setInputFiles("#live-folder", join(folder, paths[0].split("/")[0]));
      await says(why);
      assert.match(await page.locator(STATUS).textContent(), /^Not taken: /);
      assert.equal(await own(), was);
      assert.deepEqual((await recipe(page)).model, model);
    }
  });

  const LABELS = Uint8Array.from({ length: 3 * EACH }, (_, at) => at % 3);
  const IMAGES = Uint8Array.from([...LABELS].flatMap((label, at) => [...pixelsOf(label, at)]));
  const labels = idx([LABELS.length], LABELS), images = idx([LABELS.length, 28, 28], IMAGES);

  test("IDX files: their numbers are the classes, and a model learns them", async () => {
    await from("IDX files");
    await page.setInputFiles("#live-idx", files(["labels.gz", gzipSync(labels)], ["images", images]));
    await says("0, 1, 2: 54 images to train on, 6 to test with.");
    assert.equal((await trainOn({ names: ["0", "1", "2"], labels: LABELS, pixels: IMAGES })).kind, "digit");
  });

  test("IDX files that are wrong are refused, and what was there stays", async () => {
    const was = await own();
    const cases = [
      [files(["images", images.subarray(0, -1)], ["labels", labels]), /images: expected 47040 bytes after the header, as it announces, got 47039/],
      [files(["images", images], ["labels", idx([5], LABELS.subarray(0, 5))]), /images: expected an image for each of 5 labels, got 60/],
      [files(["a", Buffer.from("a text of some length")], ["labels", labels]), /a: expected IDX bytes of rank 3/],
      [files(["images.gz", gzipSync(images).subarray(0, -12)], ["labels", labels]), /images\.gz: expected (a whole gzip file|47040 bytes)/],
      [files(["images", images]), /expected two IDX files, images and their labels, got 1/],
    ];
    for (const [chosen, why] of cases) {
      await page.setInputFiles("#live-idx", chosen);
      await says(why);
      assert.equal(await own(), was);
    }
  });

  test("images of another size are made smaller", async () => {
    const wide = Uint8Array.from({ length: LABELS.length * 56 * 84 }, (_, i) => {
      const at = Math.floor(i / (56 * 84)), x = (i % 84) - 14, y = Math.floor((i % (56 * 84)) / 84);
      return x < 0 || x >= 56 ? 255 : IMAGES[at * 784 + (y >> 1) * 28 + (x >> 1)]; // only the middle is to be seen
    });
    await page.setInputFiles("#live-idx", files(["images", idx([LABELS.length, 56, 84], wide)], ["labels", labels]));
    await says("0, 1, 2: 54 images");
    await page.locator("#learning-live-train").click();
    await inPhase(page, "finished");
    await page.waitForFunction(() => document.querySelector(".live-confusion canvas").dataset.counts?.split(",").length === 9);
    const right = Number(/It reads (\d+) of the 6/.exec(await page.locator(STATUS).textContent())[1]);
    assert.ok(right >= 4, `${right} of 6`);
  });

  test("axe finds no violation, and nothing is wider than 320 pixels", async () => {
    await page.setViewportSize({ width: 320, height: 700 });
    assert.deepEqual(await violations(page, "#learning-live"), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.setViewportSize({ width: 1200, height: 900 });
  });

  test("MNIST is there again when it is chosen", async () => {
    await from("MNIST");
    await page.selectOption("#live-epochs", "2");
    assert.equal(await own(), "");
    assert.equal((await recipe(page)).model.classes, 10);
    await page.locator("#learning-live-train").click();
    await inPhase(page, "finished");
    await says("of the 1,000 test images right");
    assert.equal(await page.locator("#learning-live-bars b").count(), 10);
  });
});
