// The second tab: config keys and names that a visitor's checkpoint does not tell.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { CHECKPOINT, checkpointOf, family, json, PHOTO, pixels, SIDE } from "./checkpoint.mjs";
import { skip, withBrowser } from "./harness.mjs";
import { classes, openTab, ready } from "./own.mjs";

const weights = (buffer) => [{ name: "model.safetensors", mimeType: "", buffer }];
const [model, config, preprocessor] = CHECKPOINT;
const jsonOf = ({ buffer }) => JSON.parse(buffer);

/** A checkpoint and the questions to it, in turn: the key, its answer, and the other choices. */
const OPEN = {
  "heads by number, norm and activation by word": [weights(family("encoder_post")), [
    ["heads", "4", ["1", "2", "3", "4", "6"]],
    ["norm", "post", ["pre", "post"]],
    ["activation", "relu", ["relu", "gelu"]],
  ]],
  "an image's rows and columns": [weights(family("vit_of_another_grid")), [
    ["image_size", ["8", "20"]],
    ["heads", "2", ["1", "2", "4", "5"]],
  ]],
  "whether a prefix is pooled, of a model without a head": [weights(family("timm_map_registers")), [
    ["heads", "2", ["1", "2", "4", "5"]],
    ["pool_prefix", "false", ["true", "false"]],
    ["activation", "gelu_tanh", ["gelu", "gelu_tanh"]],
  ]],
  "heads that no list can hold": [weights(checkpointOf({ width: 67, depth: 1, classes: 3, patch: 8, side: 16 })), [
    ["heads", ["67"]],
  ]],
  "a photo's processor": [
    [
      model,
      { ...config, buffer: json({ ...jsonOf(config), model_type: undefined, heads: 2 }) },
      { ...preprocessor, buffer: json({ ...jsonOf(preprocessor), size: 12 }) },
    ],
    [["image_processor_type", "ViTImageProcessor"]],
  ],
};

describe("what a visitor's checkpoint does not say", { skip }, () => {
  const browser = withBrowser();
  const opened = (options) => openTab(browser, options);

  for (const [what, [files, answers]] of Object.entries(OPEN)) {
    test(`${what}: a field asks for the key, and the page gives the API's answer with that key`, async () => {
      const { page } = await opened();
      await page.setInputFiles("#own-files-input", files);
      await page.setInputFiles("#own-photo-input", PHOTO);
      for (const [key, answer, choices] of answers) {
        await answerTo(page, key, answer, choices);
      }
      const overrides = Object.fromEntries(answers.map(([key, answer]) => [key, valueOf(answer)]));
      const want = await apiAnswer(files, overrides);
      if (want.length === 0) await page.locator("#own-similarity").waitFor();
      const got = want.length > 0 ? await classes(page) : [];
      assert.deepEqual(JSON.parse(await page.locator("#own-config").inputValue()), overrides);
      assert.equal(await page.locator("#own-status.asking").count(), 0);
      assert.deepEqual(got.map(({ label }) => label), want.map(({ label }) => label));
      got.forEach(({ p }, index) => assert.ok(Math.abs(p - want[index].p) < 1e-5, `${p} for ${want[index].p}`));
    });
  }

  test("an answer can be changed in its own field or in the config field, and other files drop it", async () => {
    const { page } = await opened();
    await page.setInputFiles("#own-files-input", weights(family("deit_of_one_head")));
    await answerTo(page, "heads", "1");
    await page.locator("#own-facts", { hasText: " 1 heads" }).waitFor();
    await page.selectOption("#own-asked select", "2");
    const facts = (words) => page.locator("#own-facts", { hasText: words }).waitFor();
    await facts(" 2 heads");
    const heads = page.locator("#own-asked [data-key=heads] select");
    await heads.selectOption("4");
    await facts(" 4 heads");
    await page.fill("#own-config", "{heads");
    await page.press("#own-config", "Enter");
    await page.locator("#own-status.failed", { hasText: "expected an object of JSON" }).waitFor();
    await heads.selectOption("2");
    await page.locator("#own-status.failed", { hasText: "The answer cannot be used" }).waitFor();
    await page.fill("#own-config", '{"heads": 5}');
    await page.press("#own-config", "Enter");
    await facts(" 5 heads");
    assert.equal(await heads.inputValue(), "5");
    await page.click("#own-random");
    await facts("untrained");
    assert.equal(await heads.count(), 0);
    assert.equal(await page.locator("#own-config").inputValue(), "");
  });

  test("chosen pixels replace a checkpoint's preprocessor that this package refuses", async () => {
    const { page } = await opened();
    const unsupported = { ...preprocessor, buffer: json({ ...jsonOf(preprocessor), do_pad: true }) };
    await page.setInputFiles("#own-files-input", [model, config, unsupported]);
    await page.locator("#own-status.failed", { hasText: /do_pad.*choose the pixels/ }).waitFor();
    await page.setInputFiles("#own-photo-input", PHOTO);
    await page.selectOption("#own-pixels", "unit");
    const got = await classes(page);
    const prepare = { kind: "photo", resize: [12, 12], mean: [0, 0, 0], std: [1, 1, 1], interpolation: "bicubic" };
    const [want] = await apiAnswer([model, config], undefined, prepare);
    assert.equal(got[0].label, want.label);
    assert.ok(Math.abs(got[0].p - want.p) < 1e-5);
  });

  test("a thousand classes without names get ImageNet's names, and other models do not fetch them", async () => {
    const { page } = await opened();
    const fetched = [];
    page.on("request", (request) => /imagenet/.test(request.url()) && fetched.push(request.url()));
    await page.click("#own-random");
    await ready(page);
    assert.equal(fetched.length, 0);
    // ILSVRC-2012's numbers, as in all ImageNet models
    const names = { 207: "golden retriever", 285: "Egyptian cat", 967: "espresso", 812: "space shuttle", 999: "toilet tissue" };
    const numbers = Object.keys(names).map(Number);
    const bias = (name, index) => (name === "head.bias" ? 9 * (numbers.indexOf(index) + 1) : 0);
    const file = checkpointOf({ width: 16, depth: 1, classes: 1000, patch: 8, side: 16, heads: 1 }, bias);
    await page.setInputFiles("#own-files-input", weights(file));
    await page.locator("#own-facts", { hasText: "1000 classes" }).waitFor();
    await ready(page);
    const labels = (await classes(page)).map(({ label }) => label);
    assert.deepEqual(labels, Object.values(names).reverse());
    assert.match(await page.locator("#own-facts").textContent(), /NamesImageNet/);
    assert.equal(fetched.length, 1);
  });

  test("a thousand classes keep their own names, or their numbers if ImageNet's names do not load", async () => {
    const { page } = await opened({ excused: /ERR_FAILED/ });
    const sizes = { width: 16, depth: 1, classes: 1000, patch: 8, side: 16, heads: 1 };
    const file = checkpointOf(sizes, (name, index) => (name === "head.bias" && index === 207 ? 9 : 0));
    const labels = Array.from({ length: 1000 }, (_, index) => `mine ${index}`);
    const named = { image_size: [16, 16], patch_size: [8, 8], channels: 3, mlp_width: 16, ...sizes, labels };
    await page.setInputFiles("#own-files-input", [...weights(file), { name: "config.json", mimeType: "", buffer: json(named) }]);
    await page.click("#own-example");
    await page.locator("#own-classes [data-label='mine 207']").waitFor();
    await page.route(/imagenet/, (route) => route.abort());
    await page.setInputFiles("#own-files-input", weights(file));
    await page.locator("#own-classes [data-label='207']").waitFor();
  });

  test("the random model is called untrained in its classes, its facts and for the screen reader", async () => {
    const { page } = await opened();
    await page.click("#own-random");
    await ready(page);
    for (const { label } of await classes(page)) assert.match(label, /untrained/);
    for (const id of ["own-caption", "own-facts", "announce"]) {
      assert.match(await page.locator(`#${id}`).textContent(), /untrained/, id);
    }
    await page.setInputFiles("#own-files-input", CHECKPOINT);
    await page.locator("#own-classes [data-label^=class]").first().waitFor();
    assert.doesNotMatch(await page.locator("#own").textContent(), /untrained/);
  });
});

test("ImageNet's names are 1,000 different names in ILSVRC-2012's order", () => {
  const names = readFileSync(new URL("../../web/demo/own/imagenet.txt", import.meta.url), "utf8").split("\n");
  assert.equal(names.pop(), "");
  assert.equal(names.length, 1000);
  assert.equal(new Set(names.map((name) => name.toLowerCase())).size, 1000);
  for (const name of names) assert.match(name, /^[A-Za-z][A-Za-z' ().-]+$/);
  const examples = {
    0: "tench", 1: "goldfish", 207: "golden retriever", 281: "tabby", 285: "Egyptian cat", 437: "beacon",
    504: "coffee mug", 812: "space shuttle", 967: "espresso", 999: "toilet tissue",
  };
  for (const [index, name] of Object.entries(examples)) assert.equal(names[index], name);
});

/** Fills in the field that asks for a key: one or more numbers, or a word to choose. */
async function answerTo(page, key, answer, choices) {
  const field = page.locator(`#own-asked [data-key=${key}]`);
  await field.waitFor();
  assert.match(await page.locator("#own-status.asking").textContent(), new RegExp(key.replaceAll("_", " ")));
  if (Array.isArray(answer)) {
    for (const [index, number] of answer.entries()) await field.locator("input").nth(index).fill(number);
    return field.locator("input").last().press("Enter");
  }
  const options = await field.locator("option:enabled").allTextContents();
  if (choices) assert.deepEqual(options, choices);
  assert.equal(await field.locator("select").inputValue(), ""); // else its first could not be chosen
  await field.locator("select").selectOption(answer);
}

function valueOf(answer) {
  if (Array.isArray(answer)) return answer.length > 1 ? answer.map(Number) : Number(answer[0]);
  return /^(\d+|true|false)$/.test(answer) ? JSON.parse(answer) : answer;
}

/** The API's answer to the photo, with ImageNet's mean and deviation if the files have none. */
async function apiAnswer(files, config, prepare) {
  const source = { weights: files.map(({ name, buffer }) => new File([buffer], name)), ...(config && { config }) };
  let vit = await Vit.load({ ...source, ...(prepare && { prepare }) }, { variant: "scalar" });
  if (!vit.config.prepare || vit.config.prepare.kind === "bytes") {
    const { image_size: crop, channels } = vit.config;
    const light = { mean: [0.485, 0.456, 0.406].slice(0, channels), std: [0.229, 0.224, 0.225].slice(0, channels) };
    const imagenet = { kind: "photo", resize: crop, fit: "cover", crop, ...light, interpolation: "bicubic" };
    vit = await Vit.load({ ...source, prepare: imagenet }, { variant: "scalar" });
  }
  if (vit.config.classes === 0) return [];
  const { classes } = await vit.classify({ data: pixels, width: SIDE, height: SIDE }, { topK: 5 });
  return classes;
}
