// Teaching on the first window: what is taught is read there, and the file says the same in Node.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { Vit } from "../../dist/vit.js";
import { DIGITS, ink, modelWith, painted, prediction, saved, settled, skip, violations, withBrowser } from "./harness.mjs";
import { drawingOn, heart, star } from "./story.mjs";

const house = [[[20, 50], [50, 15], [80, 50], [80, 88], [20, 88], [20, 50]], [[42, 88], [42, 66], [58, 66], [58, 88]]];

describe("teach it", { skip }, () => {
  const browser = withBrowser();
  let page, close;
  before(async () => {
    await visit();
  });

  async function visit(address = browser.address, options = {}) {
    ({ page, close } = await browser.visit({ address, ...options }));
  }
  const press = (id) => page.locator(`#teach-it-${id}`).click();
  const statusText = () => page.locator("#teach-it-status").textContent();
  /** [sign, drawings] of each row. */
  const shelf = () => page.locator("#teach-it-shelf [role=listitem]").evaluateAll((rows) =>
    rows.map(({ dataset }) => [dataset.label, Number(dataset.count)]));
  /** Waits for a lesson's end, and returns what the page says of it. */
  async function learnt() {
    await page.waitForFunction(() => !document.body.classList.contains("teaching"));
    await settled(page);
    return page.locator("#status").textContent();
  }
  async function reads(strokes) {
    await page.locator("#clear").click();
    await ink(page, strokes);
    return (await prediction(page)).label;
  }
  const show = async () => {
    await page.locator("#my-signs").click();
    await page.locator("#teach-it-close").waitFor();
  };
  const download = async () => (await saved(page, () => press("download"))).bytes;
  const dots = () => page.locator("#teach-it .thumbnail").count();

  test("an unknown sign's drawing is the lesson's first; each next one lies over it, and a name is asked for", async () => {
    await ink(page, star(0.9));
    await page.locator("#teach-this").click();
    await page.locator("#teach-it-learn").waitFor();
    assert.equal(await statusText(), "Draw it twice more, as you would tomorrow.");
    assert.equal(await dots(), 1);
    assert.equal(await painted(page, "#pad"), 0);
    assert.ok((await painted(page, "#ghost")) > 500, "the first drawing's ghost");
    assert.equal(await page.locator("#overlay").isVisible(), false);
    assert.deepEqual(await violations(page, "#draw"), []);
    assert.equal(await page.locator("#teach-it-learn").getAttribute("aria-disabled"), "true");
    await ink(page, star(0.8, 3));
    await press("learn");
    assert.equal(await statusText(), "And once more.");
    await ink(page, star(1, -3));
    assert.equal(await statusText(), "That is enough. What is it called?");
    await press("learn"); // without a name
    assert.equal(await page.evaluate(() => document.activeElement.id), "teach-it-name");
    await page.getByRole("button", { name: "Remove drawing 1" }).click();
    assert.deepEqual([await dots(), await statusText()], [1, "Draw it twice more, as you would tomorrow."]);
  });

  test("Cancel and Escape leave the first drawing on the pad, read by the same model", async () => {
    await press("cancel");
    await settled(page);
    assert.equal(await page.locator("#teach-it").isVisible(), false);
    assert.ok((await painted(page, "#pad")) > 500);
    await page.locator("#teach-this").click();
    await page.locator("#teach-it-cancel").press("Escape"); // which elsewhere clears the pad
    await settled(page);
    assert.equal(await page.locator("#teach-it").isVisible(), false);
    assert.ok((await painted(page, "#pad")) > 500);
    assert.equal((await prediction(page)).label.length, 1);
  });

  test("Stop leaves the model and the drawings as they were; then it learns, and answers in the sign itself", async () => {
    await reads(star(0.85));
    await page.locator("#teach-this").click();
    for (const [grow, across] of [[0.8, 3], [1, -3]]) {
      await ink(page, star(grow, across));
      if (grow < 1) await press("learn");
    }
    await page.locator("#teach-it-name").fill(" ★ ");
    await press("learn");
    await press("stop");
    await page.locator("#teach-it-learn").waitFor();
    assert.equal(await statusText(), "Stopped. The model is as it was before.");
    assert.equal(await dots(), 2);
    for (const language of ["de", "en"]) {
      await page.selectOption("#language", language);
      await page.locator(`html[lang=${language}]`).waitFor();
      assert.equal(await page.inputValue("#teach-it-name"), " ★ ", "the name stays in every language");
    }
    await page.locator("#teach-it-name").press("Enter");
    await page.waitForFunction(() => document.getElementById("teach-it-progress").value > 0);
    assert.match(await learnt(), /^Learnt in [\d.]+ s: it reads 3 of your 3 drawings\.$/);
    await Promise.all(page.workers().map((worker) => worker.waitForEvent("close"))); // the trainer is disposed of
    assert.equal((await prediction(page)).label, "★");
    assert.match(await page.locator("#prediction .sure").textContent(), /your sign, from 3 drawings/);
    assert.ok(await page.locator("#prediction strong").evaluate((strong) => getComputedStyle(strong, "::after").maskImage.startsWith("url(")));
    assert.equal(await page.locator("#bars li").count(), 11);
    assert.match(page.url(), /model=signs/);
  });

  test("it reads its own later drawings and the digits, and knows what it does not know", async () => {
    assert.equal(await reads(star(0.95, 2)), "★");
    for (const digit of [0, 1, 3, 4, 7]) assert.equal(await reads(DIGITS[digit]), String(digit));
    const sign = () => page.locator("#prediction strong").textContent();
    for (const other of [heart(0.9), house]) {
      await reads(other);
      assert.deepEqual([await sign(), await page.locator("#teach-this").textContent()], ["?", "Teach it this sign"]);
    }
  });

  test("its file reads the same in Node, and names its classes and tensors as others do", async () => {
    const label = await reads(star(0.8)), { p } = await prediction(page);
    await show();
    assert.deepEqual(await shelf(), [["★", 3]]);
    assert.deepEqual(await violations(page, "#draw"), []);
    const bytes = await download(), vit = await Vit.load(bytes);
    const { classes } = await vit.classify(await drawingOn(page));
    assert.equal(classes[0].label, label);
    assert.ok(Math.abs(classes[0].p - Number(p)) < 1e-5, `${classes[0].p} and ${p}`);
    assert.deepEqual([...vit.config.labels], [..."0123456789", "★"]);
    vit.dispose();
    const { tensors, config } = readSafetensors(bytes);
    assert.deepEqual(tensors.get("head.weight").shape, [12, 80]);
    assert.equal(config.examples.split("~").length, 3);
    await press("close");
  });

  test("a mistake is corrected by one click on what it is, and the old model's name stays", async () => {
    await reads(DIGITS[7]);
    await page.locator("#teach-this").click();
    await page.getByRole("button", { name: "It is 7" }).click();
    assert.match(await learnt(), /^Learnt in/);
    assert.equal((await prediction(page)).label, "7");
    await show();
    assert.deepEqual(await shelf(), [["★", 3], ["7", 1]]);
    await page.getByRole("button", { name: "Remove drawing 1 of 7" }).click();
    assert.deepEqual(await shelf(), [["★", 3]]);
    assert.ok(await page.locator("#teach-it-again").isVisible(), "what it learnt is no longer what is there");
    await press("undo");
    assert.equal(await page.locator("#teach-it-again").isVisible(), false);
    await press("close");
  });

  test("a reload finds the signs, also from the list of models; Forget returns to the page's own, and Undo takes it back", async () => {
    await page.reload();
    await page.locator("#my-signs").waitFor();
    assert.equal(await reads(star(0.85)), "★");
    await page.locator("#model").evaluate((select) => (select.value = "digits", select.dispatchEvent(new Event("change"))));
    await page.locator("#my-signs").waitFor({ state: "hidden" });
    await settled(page);
    assert.equal(await page.locator("#bars li").count(), 10);
    await page.locator("#model").evaluate((select) => (select.value = "signs", select.dispatchEvent(new Event("change"))));
    await show();
    await page.getByText("Kept in this browser until you forget them.").waitFor();
    await press("forget");
    assert.deepEqual(await shelf(), []);
    await page.locator("#my-signs").waitFor({ state: "hidden" });
    await press("undo");
    assert.deepEqual(await shelf(), [["★", 3], ["7", 1]]);
  });

  test("a file that is no model or one of photos is refused, and one that was taught here brings its drawings back", async () => {
    const taught = await download();
    const load = async (name, buffer) => {
      await page.locator("#teach-it-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(buffer) });
      await page.waitForFunction((name) => document.querySelector("#teach-it .say").textContent.startsWith(name), name);
      return page.locator("#teach-it .say").textContent();
    };
    for (const bad of [taught.subarray(0, 900), new Uint8Array(64), Buffer.from("PNG")]) {
      assert.match(await load("bad.safetensors", bad), /^bad\.safetensors was not taken: ./);
      assert.deepEqual(await shelf(), [["★", 3], ["7", 1]]);
    }
    const photos = await modelWith("digits", { prepare: undefined });
    assert.match(await load("photos.safetensors", photos), /reads photos and no drawings; “Your own ViT” shows it/);
    await press("forget");
    assert.match(await load("taught.safetensors", taught), /is what reads now/);
    assert.deepEqual(await shelf(), [["★", 3], ["7", 1]]);
    await press("close");
    assert.equal(await reads(star(0.85)), "★");
  });

  test("a link holds the drawings, whatever their names, and they are learnt where it is opened; a damaged link is reported", async () => {
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new Error("no")) } }));
    await show();
    await press("link");
    await page.waitForFunction(() => location.hash.includes("signs="));
    const link = page.url();
    assert.ok(link.length < 4000, `${link.length} characters`);
    await close();
    await visit(link.replace("signs=%25E2%2598%2585", `signs=${encodeURIComponent(encodeURIComponent("a b~c% é").replaceAll("~", "%7E"))}`));
    await page.locator("#teach-it-again").waitFor();
    assert.match(await page.locator("#teach-it .say").textContent(), /came with the link/);
    assert.deepEqual(await shelf(), [["a b~c% é", 1], ["★", 2], ["7", 1]]);
    await close();
    await visit(link.replace(/signs=.{9}/, "signs=!"));
    await page.waitForFunction(() => /damaged/.test(document.querySelector("#teach-it .say")?.textContent));
    assert.deepEqual(await shelf(), []);
  });
});
