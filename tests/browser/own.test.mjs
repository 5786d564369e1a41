// The second tab: a visitor's own checkpoint and photo.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import sharp from "sharp";
import { Vit } from "../../dist/vit.js";
import { joinFile, splitFile } from "../../web/base/safetensors.mjs";
import { pageFolder } from "../../web/scripts/build.mjs";
import { serve } from "../../web/scripts/serve.mjs";
import { CHECKPOINT, checkpointOf, family, json, PHOTO, pixels, SIDE } from "./checkpoint.mjs";
import { name } from "./browsers.mjs";
import { gate, painted, picture, skip, withBrowser } from "./harness.mjs";
import { classes, dragging, hand, onDisk, openTab, ready } from "./own.mjs";

const DINO = [
  { name: "model.safetensors", mimeType: "", buffer: family("dinov2") },
  { name: "config.json", mimeType: "application/json", buffer: json({ model_type: "dinov2", num_attention_heads: 2 }) },
];

/** A detector with random weights, which says so. */
const DETECTOR = (() => {
  const { header, data } = splitFile(readFileSync(new URL("../golden/yolos/own.safetensors", import.meta.url)));
  const config = JSON.parse(header.__metadata__.vitrine);
  const prepare = { kind: "photo", resize: [8, 12], crop: [8, 12], edges: [32, 48], mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] };
  const metadata = { ...header.__metadata__, vitrine: JSON.stringify({ ...config, prepare, untrained: true }) };
  return { name: "detector.safetensors", mimeType: "", buffer: Buffer.from(joinFile({ ...header, __metadata__: metadata }, data)) };
})();

const noDrag = name === "firefox" && "Playwright drags files from outside in Chromium alone";

describe("the tab for one's own ViT", { skip }, () => {
  const browser = withBrowser();

  const opened = (options) => openTab(browser, options);

  test("a checkpoint and a photo dropped on the page are read as the API reads them", async () => {
    const { page } = await browser.visit();
    await hand(page, "drop", [...CHECKPOINT, PHOTO]); // on the first tab; the second one opens
    const got = await classes(page);
    const files = CHECKPOINT.map(({ name, buffer }) => new File([buffer], name));
    const vit = await Vit.load(files, { variant: "scalar" });
    const want = await vit.classify({ data: pixels, width: SIDE, height: SIDE }, { topK: 5 });
    assert.deepEqual(got.map(({ label }) => label), want.classes.map(({ label }) => label));
    got.forEach(({ p }, index) => assert.ok(Math.abs(p - want.classes[index].p) < 1e-5, `${p}`));
    vit.dispose();
    await ready(page);
    assert.match(await page.locator("#own-facts").textContent(), /2 layers of width 20, 2 heads/);
    assert.ok(page.url().endsWith("#own"));
  });

  test("a regression's values stand on the page as they are, and several labels have a share each", async () => {
    const { page } = await opened();
    for (const problem_type of ["regression", "multi_label_classification"]) {
      const files = CHECKPOINT.map((file) => file.name !== "config.json" ? file
        : { ...file, buffer: json({ ...JSON.parse(file.buffer), problem_type }) });
      const vit = await Vit.load(files.map(({ name, buffer }) => new File([buffer], name)), { variant: "scalar" });
      const want = await vit.classify({ data: pixels, width: SIDE, height: SIDE }, { topK: 5 });
      vit.dispose();
      await page.setInputFiles("#own-files-input", files);
      if (problem_type === "regression") await page.setInputFiles("#own-photo-input", PHOTO);
      await page.waitForFunction((p) => Math.abs(document.querySelector("#own-classes li")?.dataset.p - p) < 1e-5, want.classes[0].p);
      const texts = await page.locator("#own-classes li span").allTextContents();
      const text = problem_type === "regression" ? (p) => p.toFixed(4) : (p) => `${(100 * p).toFixed(1)}%`;
      assert.deepEqual(texts.map((share) => share.replaceAll(/\s/g, "")), want.classes.map(({ p }) => text(p)));
    }
  });

  test("objects have a box each, and the one that is pointed at or has the focus shows its map", async () => {
    const { page } = await opened();
    await page.setInputFiles("#own-files-input", [DETECTOR]);
    await page.setInputFiles("#own-photo-input", PHOTO);
    const vit = await Vit.load(DETECTOR.buffer, { variant: "scalar" });
    const { objects } = await vit.detect({ data: pixels, width: SIDE, height: SIDE }, { threshold: 0 });
    vit.dispose();
    const got = await classes(page);
    assert.deepEqual(got.map(({ label }) => label), objects.map(({ label }) => label));
    got.forEach(({ p }, index) => assert.ok(Math.abs(p - objects[index].p) < 1e-5, `${p}`));
    await ready(page);
    assert.equal(await page.locator("#own-caption").textContent(), "The model is untrained: it only guesses");
    const overlayAfter = async (sentence) => {
      await page.waitForFunction((start) => document.querySelector("#own-explanation").textContent.startsWith(start), sentence);
      return picture(page, "#own-overlay");
    };
    const plain = await overlayAfter("Attention of the class token");
    const buttons = page.locator("#own-classes button");
    await buttons.nth(1).focus();
    const focused = await overlayAfter(`Attention of the token that found “${objects[1].label}”`);
    assert.notEqual(focused, plain);
    await buttons.nth(1).blur();
    assert.equal(await overlayAfter("Attention of the class token"), plain);
    await buttons.nth(0).hover();
    assert.notEqual(await overlayAfter(`Attention of the token that found “${objects[0].label}”`), focused);
    await page.mouse.move(0, 0);
    assert.equal(await overlayAfter("Attention of the class token"), plain);
  });

  test("a button that is pressed before the tab's code is there acts when it is", async () => {
    const { open, opened: release } = gate(), request = gate();
    const before = (page) => page.route(/assets\/main-/, async (route) => (request.open(), await release, route.continue()));
    const { page } = await browser.visit({ before });
    await page.click("#tab-own");
    await page.click("#own-random");
    await request.opened;
    assert.equal(await page.locator("#own-classes li").count(), 0, "its code is not there yet");
    open();
    assert.equal((await classes(page)).length, 5);
  });

  test("the random model shows every layer and head; map, layer, head and patch change the picture", async () => {
    const { page } = await opened();
    await page.click("#own-random");
    const read = await classes(page);
    assert.equal(read.length, 5);
    assert.ok(read.every(({ p }, index) => p > 0 && p <= (read[index - 1]?.p ?? 1)));
    await ready(page);
    assert.equal(await page.locator("#own-maps button").count(), 16);
    const pictures = [await picture(page, "#own-overlay")];
    const changed = async (what) => {
      await page.waitForFunction((pictures) => !pictures.includes(document.querySelector("#own-overlay").toDataURL()), pictures)
        .catch(() => assert.fail(`${what}: an overlay that was there before`));
      pictures.push(await picture(page, "#own-overlay"));
    };
    await page.selectOption("#own-layer", "1");
    await changed("layer");
    await page.selectOption("#own-head", "2");
    await changed("head");
    await page.locator("#own-maps button").nth(6).click(); // layer 3, head 2
    await changed("small map");
    assert.equal(await page.locator("#own-layer").inputValue(), "3");
    assert.equal(await page.locator("#own-head").inputValue(), "2");
    const box = await page.locator("#own-photo").boundingBox();
    await page.mouse.click(box.x + box.width * 0.7, box.y + box.height * 0.3);
    await changed("patch under the pointer");
    assert.equal(await page.locator("#own-map").inputValue(), "patch");
    assert.match(await page.locator("#own-explanation").textContent(), /row 5, column 10/);
    await page.mouse.move(box.x + 3, box.y + 3);
    await changed("pointer moved");
    await page.selectOption("#own-map", "rollout");
    await changed("rollout");
    await page.selectOption("#own-map", "similarity");
    await page.waitForFunction(() => document.querySelector("#own-scale-max").textContent === "1.00");
    await changed("similarity");
  });

  test("a model without a head shows the patches' similarity to the chosen one and names nothing", async () => {
    const { page } = await opened();
    await page.setInputFiles("#own-files-input", DINO);
    await page.setInputFiles("#own-photo-input", PHOTO);
    await page.locator("#own-similarity").waitFor();
    assert.equal(await page.locator("#own-classes li").count(), 0);
    assert.match(await page.locator("#own-caption").textContent(), /no head/);
    const before = await picture(page, "#own-similarity");
    await page.locator("#own-photo").focus();
    await page.keyboard.press("ArrowUp");
    await page.waitForFunction((before) => document.querySelector("#own-similarity").toDataURL() !== before, before);
    assert.ok((await painted(page, "#own-overlay")) > 0);
    await page.locator("#own-maps button").first().waitFor();
  });

  test("of a photo the part that the model saw is shown, stretched as it saw it", async () => {
    const { page } = await opened();
    const [width, height] = [80, 40];
    const ramp = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i % 3 === 0 ? 3 * ((i / 3) % width) : 0));
    const buffer = await sharp(ramp, { raw: { width, height, channels: 3 } }).png().toBuffer();
    await page.setInputFiles("#own-files-input", CHECKPOINT);
    await page.setInputFiles("#own-photo-input", { name: "wide.png", mimeType: "image/png", buffer });
    await ready(page);
    const [left, right] = await page.locator("#own-photo").evaluate((canvas) => {
      const { width, height } = canvas;
      const { data } = canvas.getContext("2d").getImageData(0, height >> 1, width, 1);
      return [data[0], data[4 * (width - 1)]];
    });
    assert.ok(left < 3 && right > 3 * (width - 2), `columns ${left / 3} to ${right / 3} of ${width}`);
  });

  test("files that cannot be read are refused with a message, and the old answer stays", async () => {
    const { page } = await opened();
    await page.setInputFiles("#own-files-input", CHECKPOINT);
    await page.setInputFiles("#own-photo-input", PHOTO);
    const answer = await classes(page);
    const status = page.locator("#own-status.failed");
    const refuses = async (files, words, input = "#own-files-input") => {
      if (input) await page.setInputFiles(input, files);
      else await hand(page, "drop", files);
      await status.filter({ hasText: words }).waitFor();
      assert.deepEqual(await classes(page), answer);
    };
    const [weights, ...configs] = CHECKPOINT;
    const truncated = { ...weights, buffer: weights.buffer.subarray(0, 3000) };
    await refuses([truncated, ...configs], /cannot be read: .*truncated\?/);
    const bin = { name: "pytorch_model.bin", mimeType: "", buffer: Buffer.from("PK\x03\x04 and no more") };
    await refuses([bin], /cannot be read: .*is the file whole\?/, null);
    const onnx = { name: "model.onnx", mimeType: "", buffer: Buffer.alloc(9) };
    await refuses([onnx], /\.pth file or a picture, got model\.onnx/, null);
    const resnet = { ...weights, buffer: otherModel(weights.buffer) };
    await refuses([resnet], /cannot be read/);
    const text = { name: "photo.png", mimeType: "image/png", buffer: Buffer.from("no picture") };
    await refuses([text], /photo\.png: expected a picture/, "#own-photo-input");
    const heic = { name: "IMG_1.HEIC", mimeType: "", buffer: Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1") };
    await refuses([heic], /IMG_1\.HEIC: expected a picture .*a HEIC photo: convert it to JPEG/, null);
  });

  test("the drop target is dashed and lights up while files are dragged over the page", { skip: noDrag }, async (t) => {
    const { page } = await opened();
    const files = onDisk(t, [...CHECKPOINT, PHOTO]);
    const drag = await dragging(page, files);
    const looks = () =>
      page.locator(".drop").evaluateAll((all) => all.map((drop) => getComputedStyle(drop).borderTopStyle));
    const are = (style) => page.waitForFunction(
      (style) => [...document.querySelectorAll(".drop")].every((drop) => getComputedStyle(drop).borderTopStyle === style),
      style,
    );
    assert.deepEqual(await looks(), ["dashed", "dashed"]);
    await drag("dragEnter", "#own-maps");
    await drag("dragOver", "#own-maps");
    await are("solid");
    await drag("dragOver", "#own-hint");
    await are("solid");
    await page.evaluate(() => document.body.dispatchEvent(new DragEvent("dragleave", { bubbles: true }))); // the page
    await are("dashed");
    await drag("dragEnter", "#own-hint");
    await drag("dragOver", "#own-hint");
    await are("solid");
    await drag("drop", "#own-hint");
    assert.match((await classes(page))[0].label, /^class [a-g]$/);
    await are("dashed");
    await page.locator("#own-hint").waitFor({ state: "hidden" }); // the photo replaces it
  });

  test("the drop target opens the file chooser by keyboard and by tap, on a phone too", async () => {
    const { page } = await opened({ isMobile: true, hasTouch: true, viewport: { width: 360, height: 740 } });
    page.on("filechooser", () => {}); // lets Playwright take the file choosers from here on
    const chooserAfter = async (act) => (await Promise.all([page.waitForEvent("filechooser"), act()]))[0];
    await page.focus("#own-camera");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab"); // past the example's button
    const drop = page.locator(".checkpoint .drop");
    assert.equal(await page.evaluate(() => document.activeElement.id), "own-files-input");
    assert.equal(await drop.evaluate((label) => getComputedStyle(label).outlineStyle), "solid");
    const byKey = await chooserAfter(() => page.keyboard.press("Enter"));
    assert.ok(byKey.isMultiple());
    await byKey.setFiles(CHECKPOINT);
    await page.locator("#own-facts", { hasText: "2 heads" }).waitFor();
    const box = await drop.boundingBox();
    assert.ok(box.height >= 44 && box.width >= 200, JSON.stringify(box));
    await (await chooserAfter(() => drop.click())).setFiles(PHOTO); // the same input takes photos
    assert.match((await classes(page))[0].label, /^class [a-g]$/);
  });

  test("a pasted photo replaces the old photo", async () => {
    const { page } = await opened();
    await page.click("#own-random");
    await classes(page);
    await ready(page);
    const before = await picture(page, "#own-photo");
    await hand(page, "paste", [PHOTO]);
    await page.waitForFunction((before) => document.querySelector("#own-photo").toDataURL() !== before, before);
  });

  test("the page reads the camera frame by frame until it is stopped, and its last frame stays", async () => {
    const { page } = await opened({ permissions: ["camera"] });
    await page.click("#own-random");
    await ready(page);
    const still = await picture(page, "#own-photo");
    await page.click("#own-camera");
    const other = (before) =>
      page.waitForFunction((before) => document.querySelector("#own-photo").toDataURL() !== before, before);
    await other(still);
    await other(await picture(page, "#own-photo"));
    assert.equal(await page.locator("#own-camera").getAttribute("aria-pressed"), "true");
    await page.click("#tab-draw"); // leaving the tab stops the camera
    await page.click("#tab-own");
    assert.equal(await page.locator("#own-camera").getAttribute("aria-pressed"), "false");
    assert.ok((await painted(page, "#own-photo")) > 0);
  });

  test("without a preprocessor the page uses ImageNet's way, and another choice changes the answer", async () => {
    const { page } = await opened();
    await page.setInputFiles("#own-files-input", CHECKPOINT.slice(0, 2));
    await page.setInputFiles("#own-photo-input", PHOTO);
    const [first] = await classes(page);
    await page.selectOption("#own-pixels", "unit");
    await page.waitForFunction(
      (p) => document.querySelector("#own-classes li") && document.querySelector("#own-classes li").dataset.p !== p,
      String(first.p),
    );
  });

  test("a model with too much attention to keep shows one layer at a time", async () => {
    const { page } = await opened();
    await page.setInputFiles("#own-files-input", [{ name: "wide.safetensors", mimeType: "", buffer: LARGE }]);
    await page.setInputFiles("#own-photo-input", PHOTO);
    await ready(page);
    assert.ok(await page.locator("#own-map [value=rollout]").isDisabled());
    const before = await picture(page, "#own-overlay");
    await page.selectOption("#own-layer", "2");
    await page.waitForFunction(
      (before) => document.querySelector("#own-overlay").toDataURL() !== before && document.querySelector("#own-classes li"),
      before,
    );
    assert.match(await page.locator("#own-explanation").textContent(), /layer 2/);
  });

  test("a digit model shows the digit that it prepared from the photo, and doubts a boat aloud", async () => {
    const { page } = await opened();
    const buffer = readFileSync(new URL("../../weights/digits.safetensors", import.meta.url));
    await page.setInputFiles("#own-files-input", [{ name: "digits.safetensors", mimeType: "", buffer }]);
    await page.click("#own-example");
    await ready(page);
    assert.deepEqual(await page.locator("#own-photo").evaluate(({ width, height }) => [width, height]), [28, 28]);
    assert.equal(await page.locator("#own-caption").textContent(), "Not sure: perhaps", "of a boat");
    assert.match(await page.locator("#announce").textContent(), /^Not sure: perhaps \d, /);
    await page.reload(); // without a checkpoint
    await page.click("#own-digits");
    const p = await page.locator("#own-classes li[data-label='5']:first-child").getAttribute("data-p");
    assert.ok(p > 0.9, `our digits read our photo of a 5 by ${p}`);
  });

  test("our model for photos names the example's ship, and is not sure of a pattern", async () => {
    const { page } = await opened();
    await page.click("#own-photos");
    await page.locator("#own-classes li[data-label='ship']:first-child").waitFor();
    assert.equal(await page.locator("#own-caption").textContent(), "The model sees");
    await page.setInputFiles("#own-photo-input", PHOTO);
    await page.locator("#own-classes.doubt").waitFor();
    assert.equal(await page.locator("#own-caption").textContent(), "Not sure: perhaps");
    assert.match(await page.locator("#announce").textContent(), /^Not sure: perhaps \w+, /);
  });

  test("overlapping patches have as many rows on the page as in the model", async () => {
    const { page } = await opened();
    const buffer = checkpointOf({ width: 16, depth: 1, classes: 3, patch: 8, stride: 4, side: 32, heads: 1 });
    await page.setInputFiles("#own-files-input", [{ name: "overlapping.safetensors", mimeType: "", buffer }]);
    await page.setInputFiles("#own-photo-input", PHOTO);
    await ready(page);
    await page.selectOption("#own-map", "patch");
    await page.locator("#own-photo").focus();
    for (let row = 0; row < 9; row++) await page.keyboard.press("ArrowDown");
    await page.locator("#own-explanation", { hasText: /row 7, column 4/ }).waitFor();
  });

  test("a checkpoint that comes while our digits are on their way is read instead", async () => {
    const { page } = await opened();
    const { open, opened: release } = gate(), request = gate();
    const file = /digits-(?!int8|large|stem)[^/]*\.safetensors$/;
    await page.route(file, async (route) => {
      request.open();
      await release;
      await route.continue();
    });
    const answered = page.waitForResponse(file);
    await page.click("#own-digits");
    await request.opened;
    await page.setInputFiles("#own-files-input", CHECKPOINT);
    await page.locator("#own-classes [data-label^=class]").first().waitFor();
    open();
    await (await answered).finished();
    await ready(page);
    for (const { label } of await classes(page)) assert.match(label, /^class/);
  });

  test("arrow keys go from tab to tab and from map to map, and the address opens a tab", async () => {
    const address = `${browser.address}#own`;
    const { page } = await browser.visit({ address, ready: false });
    await page.locator("#own-random").waitFor();
    await page.locator("#own-pixels option").first().waitFor({ state: "attached" });
    await page.click("#own-random");
    await ready(page);
    await page.locator("#own-maps [tabindex='0']").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#own-head").value === "2");
    await page.focus("#tab-own");
    await page.keyboard.press("ArrowLeft");
    assert.ok(await page.locator("#pad").isVisible());
    assert.equal(await page.evaluate(() => document.activeElement.id), "tab-draw");
    assert.ok(!page.url().includes("#"));
  });

  test("the tab for one's own ViT fits screens 320 and 860 pixels wide, dark and light", async () => {
    const { page } = await opened({ colorScheme: "dark", viewport: { width: 320, height: 700 } });
    const fits = async () => {
      for (const [colorScheme, width] of [["light", 860], ["dark", 320]]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 700 });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${over} pixels over ${width}, ${colorScheme}`);
      }
    };
    await page.click("#own-random");
    await ready(page);
    await fits();
    await page.setInputFiles("#own-files-input", { ...DINO[0], buffer: family("vit_of_another_grid") });
    await page.locator("#own-asked [data-key=image_size]").waitFor();
    await fits();
    await hand(page, "drop", [{ name: "a".repeat(90), mimeType: "", buffer: Buffer.alloc(1) }]);
    await page.locator("#own-status.failed").waitFor();
    await fits();
  });

  test("an isolated page shares the work among all cores", async () => {
    const server = await serve(pageFolder);
    const address = `http://localhost:${server.address().port}/`;
    const { page } = await browser.visit({ address });
    await page.click("#tab-own");
    await page.click("#own-random");
    await ready(page);
    const cores = await page.evaluate(() => Math.min(navigator.hardwareConcurrency, 8));
    const facts = await page.locator("#own-facts").textContent();
    assert.match(facts, cores > 1 ? new RegExp(`, ${cores} threads\\)`) : /\(\w+\)/);
    server.closeAllConnections();
    server.close();
  });
});

/** A model with 1,025 tokens, 16 heads and 5 layers: a photo's attention is 336 MB. */
const LARGE = checkpointOf({ width: 32, depth: 5, classes: 2, patch: 4, side: 128, heads: 16 });

/** The file with its tensors named like those of a convolutional network. */
function otherModel(bytes) {
  const { header, data } = splitFile(bytes);
  let count = 0;
  const other = JSON.parse(JSON.stringify(header).replaceAll(/"vit\.[^"]*"/g, () => `"conv${count++}.weight"`));
  return Buffer.from(joinFile(other, data).buffer);
}
