// "Train one yourself, here" in the chapter "How it learnt": runs in the tab, beside the package in Node.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { Vit } from "../../dist/vit.js";
import { unpackDigits } from "../../web/base/digits.mjs";
import { skipMedia } from "./browsers.mjs";
import { DIGITS, saved, skip, violations, withBrowser } from "./harness.mjs";
import { assets, choose, file, frames, inPhase, mnist, needsMnist, numbers, press, recipe, STATUS, stepAfter, visitLive } from "./live.mjs";
import { stored } from "./host.mjs";
import { drawingOn, visitChapter } from "./story.mjs";

/** What the ids of the second run end with. */
const SECOND = "-2";
const hide = (page, hidden) => page.evaluate((hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}, hidden);
const actOn = (page, name) => page.locator(".live-two .chips").getByText(name).click();

describe("train one yourself", needsMnist, () => {
  const requests = [];
  const browser = withBrowser();
  let page, trouble;
  let refuse = true;
  before(async () => {
    const before = async (page) => {
      page.on("request", (request) => requests.push(new URL(request.url()).pathname));
      await page.route("**/mnist-digits*", (route) => (refuse ? route.fulfill({ status: 503 }) : route.continue()));
    };
    ({ page, trouble } = await visitLive(browser, { before }));
  });

  /** Steps once, then trains to the end. Returns the first loss, the last one, and what is said. */
  const runToEnd = async () => {
    await inPhase(page, "paused");
    const first = await numbers(page);
    assert.deepEqual([first.epoch, first.step], ["1", "1"]);
    await press(page, "Go on");
    await inPhase(page, "finished");
    return { first: Number(first.loss), last: Number((await numbers(page)).loss), says: await page.locator(STATUS).textContent() };
  };
  let result;

  test("images and trainer are fetched only when Train or Step is pressed", async () => {
    const late = () => requests.filter((path) => /mnist-digits|train/.test(path));
    assert.deepEqual(late(), []);
    await choose(page, "MyViT", 6);
    assert.deepEqual(late(), []);
    assert.deepEqual(trouble, []);
    await press(page, "Train");
    await inPhase(page, "failed");
    assert.ok(late().some((path) => path.endsWith(file)), late().join(" "));
  });

  test("if the images do not load, the page says so, and the next press tries again", async () => {
    assert.match(await page.locator(STATUS).textContent(), /^The training ended: .*503/);
    trouble.length = 0; // the browser itself complains about 503
    refuse = false;
    await press(page, "Step");
    await inPhase(page, "paused");
  });

  test("MyViT's loss falls, and the weights read as many of MNIST's test images as the page says", async () => {
    result = await runToEnd();
    assert.ok(result.last < result.first - 0.2, `from ${result.first} to ${result.last}`);
    const right = Number(/^Finished\. It reads (\d+) of the 1,000 test images right: \d+\.\d %\.$/.exec(result.says)?.[1]);
    const { bytes } = await saved(page, () => press(page, "Download the model"));
    const vit = await Vit.load(bytes);
    const { images, labels } = mnist; // the page's file has 16 levels of grey
    const image = (at) => Float32Array.from(images.subarray(at * 784, (at + 1) * 784), (value) => Math.round((value * 15) / 255) / 15);
    const answers = await vit.classifyAll(Array.from({ length: 1000 }, (_, at) => image(at)), { topK: 1 });
    const counts = new Array(100).fill(0);
    answers.forEach(({ classes }, at) => counts[labels[at] * 10 + classes[0].index]++);
    const diagonal = counts.filter((_, at) => at % 11 === 0).reduce((sum, count) => sum + count);
    // Another build may round otherwise, and so read an image on the edge as another digit.
    assert.ok(Math.abs(diagonal - right) <= 2, `${right}, not ${diagonal}`);
    await page.waitForFunction((diagonal) => {
      const counts = document.querySelector(".live-confusion canvas").dataset.counts?.split(",").map(Number);
      return Math.abs(counts?.filter((_, at) => at % 11 === 0).reduce((sum, count) => sum + count) - diagonal) <= 2;
    }, diagonal);
    const { classes } = await vit.classify(await drawingOn(page));
    await page.waitForFunction(([label, p]) => {
      const best = document.querySelector("#learning-live-bars .best");
      return best?.dataset.label === label && Math.abs(best.dataset.p - p) < 1e-4;
    }, [classes[0].label, classes[0].p]);
    vit.dispose();
  });

  test("the same seed gives the same numbers again", async () => {
    await press(page, "Step");
    assert.deepEqual(await runToEnd(), result);
  });

  test("Pause stops the steps and Go on continues them; a hidden tab pauses too, and so does scrolling far away", async () => {
    await choose(page, "Ours, small", 30);
    await press(page, "Train");
    await inPhase(page, "training");
    const rests = async (words) => {
      await inPhase(page, "paused");
      assert.equal(await page.locator(STATUS).textContent(), words);
      const at = await numbers(page);
      await frames(page, 20);
      assert.deepEqual(await numbers(page), at);
      return at;
    };
    await stepAfter(page, { epoch: "1", step: "1" });
    await press(page, "Pause");
    let at = await rests("Paused.");
    await press(page, "Go on");
    await stepAfter(page, at);
    await hide(page, true);
    at = await rests("It rests until you look again.");
    await hide(page, false);
    await stepAfter(page, at);
    await page.evaluate(() => scrollTo(0, 0));
    at = await rests("It rests until you look again.");
    await page.locator("#learning-live-train").scrollIntoViewIfNeeded();
    await stepAfter(page, at);
    await press(page, "Pause");
    await inPhase(page, "paused");
    await hide(page, true);
    await hide(page, false);
    await frames(page, 5);
    await inPhase(page, "paused"); // a pause by hand stays
  });

  test("what is broken is in the recipe of the run, and nothing else is", async () => {
    const whole = await recipe(page);
    const broken = {
      "no positions": [{ position: "none" }, {}],
      "no residual connections": [{ residual: false }, {}],
      "one head": [{ heads: 1 }, {}],
      "learning rate × 30": [{}, { learning_rate: 0.12 }],
    };
    for (const [name, [model, training]] of Object.entries(broken)) {
      await press(page, name);
      await page.locator("#learning-live-run", { hasText: `with ${name}` }).waitFor();
      assert.deepEqual(await recipe(page), { model: { ...whole.model, ...model }, training: { ...whole.training, ...training } });
      await inPhase(page, "training");
    }
    await press(page, "Pause");
    await inPhase(page, "paused");
  });

  test("only heads into which the width divides are offered", async () => {
    const offered = () => page.locator("#live-heads option").evaluateAll((all) => all.map(({ value }) => Number(value)));
    await press(page, "Ours, small");
    assert.deepEqual(await offered(), [1, 2, 4, 8, 16]);
    await page.selectOption("#live-heads", "16");
    await page.selectOption("#live-width", "8");
    assert.deepEqual(await offered(), [1, 2, 4]);
    assert.equal((await recipe(page)).model.heads, 1);
  });

  test("a second run is broken and trains beside the first, which trains on and keeps its recipe", async () => {
    await choose(page, "Ours, small", 30);
    await page.selectOption("#live-images", "3000"); // so that the first does not end meanwhile
    const whole = await recipe(page);
    await press(page, "Restart");
    await inPhase(page, "training");
    await page.locator("#live-two").press("Space");
    assert.deepEqual(await recipe(page, SECOND), whole, "what it would begin with");
    await actOn(page, "Second run");
    await press(page, "no positions");
    await page.waitForFunction(([first, second]) =>
      [first, second].every((selector) => document.querySelector(selector).dataset.phase === "training"), [STATUS, STATUS + SECOND]);
    for (const run of ["", SECOND]) await stepAfter(page, await numbers(page, run), run);
    await hide(page, true);
    for (const run of ["", SECOND]) await inPhase(page, "paused", run);
    assert.equal(await page.locator(STATUS + SECOND).textContent(), "Second run It rests until you look again.");
    assert.deepEqual(await recipe(page), whole);
    assert.deepEqual(await recipe(page, SECOND), { ...whole, model: { ...whole.model, position: "none" } });
    assert.match(await page.locator("#learning-live-run-2").textContent(), /with no positions/);
    assert.doesNotMatch(await page.locator("#learning-live-run").textContent(), /with/);
    await hide(page, false);
    await inPhase(page, "training", SECOND);
    await press(page, "Pause");
    await inPhase(page, "paused", SECOND);
    const at = await numbers(page, SECOND);
    await stepAfter(page, await numbers(page));
    assert.deepEqual(await numbers(page, SECOND), at, "only the first trains on");
    await page.locator(".live-two input[value=second]").press("ArrowLeft");
    await press(page, "Pause");
    await inPhase(page, "paused");
  });

  test("one seed and one recipe give both runs the same numbers", async () => {
    await choose(page, "MyViT", 2);
    for (const name of ["First run", "Second run"]) {
      await actOn(page, name);
      await press(page, "Restart");
    }
    for (const run of ["", SECOND]) await inPhase(page, "finished", run);
    assert.equal((await numbers(page)).loss, (await numbers(page, SECOND)).loss);
    const [first, second] = await Promise.all(["", SECOND].map((run) => page.locator(STATUS + run).textContent()));
    assert.match(first, /^First run Finished\. It reads \d+ /);
    assert.equal(second, first.replace("First", "Second"));
    await page.waitForFunction(() => {
      const [first, second] = [...document.querySelectorAll(".live-column")].map((one) => one.querySelector(".live-confusion canvas").dataset.counts);
      return first && first === second;
    });
    await page.locator("#learning-live-bars-2 .best").waitFor();
    const ids = await page.locator('[id]:not([id=""])').evaluateAll((all) => all.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length, "each id is there once");
  });

  test("axe finds no violation, and nothing is wider than 320 pixels", async () => {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished))); // colours change in a while
      assert.deepEqual(await violations(page, "#learning-live"), [], colorScheme);
    }
    await page.setViewportSize({ width: 320, height: 700 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.setViewportSize({ width: 1200, height: 900 });
  });

  test("switched off, the second run is gone with its trainer, and the buttons act on the first", async () => {
    const trainers = () => page.workers().filter((worker) => /train-worker/.test(worker.url()));
    assert.equal(trainers().length, 2);
    const closing = Promise.all([trainers()[1].waitForEvent("close"), page.locator(STATUS + SECOND).waitFor({ state: "detached" })]);
    await page.locator("#live-two").click();
    await closing;
    assert.equal(trainers().length, 1);
    assert.equal(await page.locator(".live-two .chips").count(), 0);
    assert.match(await page.locator(STATUS).textContent(), /^Finished/);
    await press(page, "Step");
    await inPhase(page, "paused");
    assert.equal(await page.locator(".live-column").count(), 1);
  });

  test("the page's own store leaves images and trainers out until they are asked for", { skip: skipMedia }, async () => {
    const other = await browser.visit({ stores: true });
    await stored(other.page);
    const cacheUrls = () => other.page.evaluate(async () => {
      const all = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
      return all.flat().map(({ url }) => url);
    });
    const urls = await cacheUrls();
    assert.ok(urls.length > 10 && !urls.some((url) => /mnist-digits|vit\.train\./.test(url)), urls.join(" "));
  });

  test("the file holds MNIST's own labels, in at most 1.7 MB", () => {
    const bytes = readFileSync(new URL(file, assets));
    assert.ok(bytes.length <= 1_700_000, `${bytes.length} bytes`);
    assert.deepEqual([...unpackDigits(gunzipSync(bytes)).test.labels], [...mnist.labels.subarray(0, 1000)]);
  });
});

describe("without MNIST", { skip }, () => {
  const browser = withBrowser();

  test("the figure says that nothing can be trained, and how to get the images", async () => {
    const other = await visitChapter(browser, "learning", DIGITS[1], {
      before: (page) => page.route("**/live-*.js", async (route) => {
        const name = new URL(route.request().url()).pathname.split("/").at(-1);
        const script = readFileSync(new URL(name, assets), "utf8");
        const body = script.replace(/(""\s*\+\s*)?new URL\([`"']mnist-digits[^)]*\)\.href/, "undefined");
        if (file) assert.notEqual(body, script);
        await route.fulfill({ body, contentType: "text/javascript" });
      }),
    });
    await other.page.locator("#train-it > summary").click();
    const figure = other.page.locator("#learning-live");
    await figure.locator(".without").waitFor();
    assert.match(await figure.textContent(), /nothing can be trained here.*\$VITRINE_DATA.*npm run build/);
    assert.equal(await figure.getByRole("button").count(), 0);
  });
});
