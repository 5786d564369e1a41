// What another engine must show on the page: drawing, each chapter's main number, a taught sign and a training.
// Firefox and WebKitGTK run it. Chromium runs the tests of each chapter instead.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { pageFolder } from "../../web/scripts/build.mjs";
import { serve } from "../../web/scripts/serve.mjs";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { launch, skip } from "../browser/browsers.mjs";
import { DIGITS, toChapter } from "../browser/harness.mjs";
import { needsMnist } from "../browser/live.mjs";
import { accuracy, drawingOn, packed, scrambledBy, star, weightsOf } from "../browser/story.mjs";

const { drawingOf } = await importTypescript("web/demo/ink.ts");
const { ACROSS, OPENING } = await importTypescript("web/demo/number/examples.ts");

const NEAR = 1e-3; // the page may run another build than Node, which rounds differently

const inOrder = (classes) => [...classes].sort((a, b) => a.index - b.index).map(({ p }) => p);
const softmax = (scores) => {
  const powers = scores.map(Math.exp), sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
};
const near = (got, want, what) => {
  assert.equal(got.length, want.length, what);
  want.forEach((value, at) =>
    assert.ok(Math.abs(got[at] - value) <= NEAR * Math.max(1, Math.abs(value)), `${what} ${at}: ${got[at]}, not ${value}`));
};

describe("the page in this engine", { skip }, () => {
  const messages = [];
  let server, browser, page;
  before(async () => {
    server = await serve(pageFolder); // isolated at once: elsewhere the page reloads itself for that
    browser = await launch();
    page = await browser.newPage();
    page.on?.("console", (message) => ["error", "warning"].includes(message.type()) && messages.push(message.text()));
    page.on?.("pageerror", (error) => messages.push(error.message));
  });
  after(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  const there = (selector) => page.waitForFunction((selector) => document.querySelector(selector), selector);
  const text = (selector) => page.evaluate((selector) => document.querySelector(selector).textContent, selector);
  const data = (selector) => page.evaluate((selector) => ({ ...document.querySelector(selector).dataset }), selector);
  /** One number of each element. */
  const numbers = (selector, key) => page.evaluate(([selector, key]) =>
    [...document.querySelectorAll(selector)].map(({ dataset }) => Number(dataset[key])), [selector, key]);
  const click = (selector) => page.evaluate((selector) => document.querySelector(selector).click(), selector);
  const reads = (label) => there(`#prediction[data-label="${label}"][aria-busy=false]`);

  async function open(query = "") {
    await page.goto(`http://localhost:${server.address().port}/${query}`);
    await page.evaluate(() => { // WebKitGTK's driver does not hear the console
      globalThis.noted = [];
      addEventListener("error", ({ message }) => noted.push(message));
      addEventListener("unhandledrejection", ({ reason }) => noted.push(String(reason)));
      addEventListener("securitypolicyviolation", ({ blockedURI }) => noted.push(blockedURI));
      console.error = console.warn = (...words) => noted.push(words.join(" "));
    });
    await there("#status.ready");
  }
  const nothingWrong = async () => assert.deepEqual([...messages, ...(await page.evaluate(() => noted))], []);

  /** Draws with the mouse. */
  async function draw(pad, strokes) {
    const box = await page.evaluate((pad) => {
      document.getElementById(pad).scrollIntoView({ block: "nearest" });
      return document.getElementById(pad).getBoundingClientRect().toJSON();
    }, pad);
    const to = ([x, y]) => page.mouse.move(box.x + (x / 100) * box.width, box.y + (y / 100) * box.height);
    for (const [first, ...others] of strokes) {
      await to(first);
      await page.mouse.down();
      for (const corner of others) await to(corner);
      await page.mouse.up();
    }
  }

  test("a 7 drawn with the mouse is read as 7, and Undo takes it back", async () => {
    await open();
    await draw("pad", DIGITS[7]);
    await reads("7");
    await page.evaluate(() => document.getElementById("undo").focus());
    await page.keyboard.press("Enter");
    await reads("");
  });

  test("the keyboard alone draws a 1 and clears it", async () => {
    await page.evaluate(() => document.getElementById("pad").focus());
    await page.keyboard.press("Space");
    for (let i = 0; i < 24; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await reads("1");
    await page.keyboard.press("Delete");
    await reads("");
  });

  test("the second tab opens and its random model reads a photo", async () => {
    await click("#tab-own");
    await there("#own-pixels option");
    await click("#own-random");
    await there("#own-classes li");
    await nothingWrong();
  });

  describe("in the story", () => {
    const PATCH = 3 * 7 + 3, TOKEN = 1 + PATCH, T = 50; // the page begins with row 4, column 4
    const { learning, sincos2d, convolutions } = packed();
    let vit, drawing, own;
    before(async () => {
      vit = await Vit.load(weightsOf("digits"));
      await open("");
      await draw("pad", DIGITS[3]);
      await reads("3");
      drawing = await drawingOn(page);
      own = await vit.classify(drawing, { trace: true, attention: true, relevance: [3] });
    });
    after(() => vit?.dispose());

    const goTo = async (id, selector) => {
      await toChapter(page, id);
      await there(`#${id} ${selector}`);
    };
    const choose = (id, value) => page.evaluate(([id, value]) => {
      document.getElementById(id).value = value;
      for (const event of ["input", "change"]) document.getElementById(id).dispatchEvent(new Event(event)); // as a browser does
    }, [id, value]);
    /** What a small model answers in Node. */
    const answer = async (weights, image = drawing) => {
      const small = await Vit.load(weights);
      const result = await small.classify(image);
      small.dispose();
      return result;
    };

    test("patches: the products and the bias of a filter make the model's own number", async () => {
      await goTo("patches", "#patches-sum[data-model]");
      const { tensors } = readSafetensors(weightsOf("digits"));
      const { sum, model, filter: number } = await data("#patches-sum"), d = Number(number);
      const filter = tensors.get("patch_embed.proj.weight").data.subarray(16 * d, 16 * (d + 1));
      const pixel = (i) => own.input[(12 + (i >> 2)) * 28 + 12 + (i & 3)];
      const want = filter.reduce((sum, weight, i) => sum + weight * pixel(i), tensors.get("patch_embed.proj.bias").data[d]);
      near([sum, model].map(Number), [want, want], "sum");
    });

    test("positions: a scramble changes the scores as in Node, and without positions it changes none", async () => {
      await goTo("positions", "#scramble-change[data-order]");
      await click("#scramble");
      await page.waitForFunction(() => !/^0 1 2 3 4 5 6 7 /.test(document.getElementById("scramble-change").dataset.order));
      const order = (await data("#scramble-change")).order.split(" ").map(Number);
      const rows = "#positions .verdict-and-scores tbody tr";
      const { input, logits } = await answer(sincos2d[0].weights);
      near(await numbers(rows, "before"), [...logits], "before");
      near(await numbers(rows, "after"), [...(await answer(sincos2d[0].weights, scrambledBy(input, order))).logits], "after");
      await click("#scramble-positions");
      await there("#scramble-change[data-on=false]");
      assert.ok(Number((await data("#scramble-change")).change) < NEAR);
    });

    test("score: the chosen key's score is the model's", async () => {
      await goTo("score", ".equation[data-score]");
      const [layer, head] = await page.evaluate(() => ["layer", "head"].map((what) => document.getElementById(`rail-${what}`).selectedIndex));
      const scores = [...own.trace.scores(layer, head)].slice(0, T); // of the class token's query
      near([Number((await data("#score .equation")).score)], [Math.max(...scores)], "score"); // the page begins with the largest
    });

    test("layers: the last stage's lens is the answer", async () => {
      await goTo("layers", ".layers[aria-busy=false]");
      const bars = await numbers("#layers .stage .bar", "p");
      near(bars.slice(-10), inOrder(own.classes), "class");
    });

    test("strokes: the last moment is the answer", async () => {
      await goTo("strokes", "#strokes-progress[data-done=true]");
      const [last, now] = [await data("#strokes-words"), await data("#prediction")];
      assert.equal(last.label, "3");
      assert.ok(Math.abs(last.p - now.p) < 1e-6, `${last.p}, not ${now.p}`);
    });

    test("doubt: the probabilities are the answer's", async () => {
      await goTo("doubt", "tr[data-row=share] [data-p]");
      near(await numbers("#doubt tr[data-row=share] [data-p]", "p"), inOrder(own.classes), "class");
    });

    test("learning: the last snapshot reads the drawing as in Node, and its accuracy is the measured one", async () => {
      await goTo("learning", "#learning-says[data-label]");
      await choose("learning-step", String(learning.length - 1));
      await there(`#learning-says[data-step="${learning.at(-1).step}"]`);
      const { classes } = await answer(learning.at(-1).weights), says = await data("#learning-says");
      assert.equal(says.label, classes[0].label);
      near([Number(says.p)], [classes[0].p], "p");
      const { images, right } = accuracy().learning;
      assert.match(await text(".learning-test"), new RegExp(`: ${((100 * right.at(-1)) / images).toFixed(1)} % right`));
    });

    test("cnn: both networks answer as in Node, and their accuracy is the measured one", async () => {
      await goTo("cnn", "#cnn-reached-vit[data-measured='49']");
      for (const [name, [{ weights }]] of Object.entries({ convolutions, vit: sincos2d })) {
        const [best] = (await answer(weights)).classes, { label, p } = await data(`#cnn [data-model=${name}]`);
        assert.equal(label, best.label, name);
        near([Number(p)], [best.p], name);
      }
      const { images, right } = accuracy().models;
      for (const count of [right.convolutions, right.sincos2d])
        assert.ok((await text("#cnn table")).includes(`${((100 * count) / images).toFixed(2)} %`));
    });

    test("masks: a row is the softmax of the scores that the mask leaves", async () => {
      await goTo("masks", ".grid[data-mask]");
      const [layer, head] = await page.evaluate(() => ["layer", "head"].map((what) => document.getElementById(`rail-${what}`).selectedIndex));
      const scores = [...own.trace.scores(layer, head)].slice(TOKEN * T, (TOKEN + 1) * T);
      const row = async () => (await data("#masks .grid[data-mask]")).row.split(" ").map(Number);
      near(await row(), softmax(scores), "full");
      await click("#masks input[value=causal]");
      await there("#masks .grid[data-mask=causal]");
      near(await row(), softmax(scores.map((score, key) => (key <= TOKEN ? score : -Infinity))), "causal");
    });

    test("words: the decoder writes the example, and looks, as in Node", async () => {
      await goTo("words", "figure[data-places]");
      const vit = await Vit.load(weightsOf("numbers"));
      const { text: written, attention } = await vit.read(drawingOf(OPENING, false, ACROSS), { start: "de", attention: true, beams: 1 });
      vit.dispose();
      assert.equal(await text("#words .written"), `${written} ·`);
      const columns = attention.grid[1], sums = new Float64Array(columns);
      attention.fromToken(2).forEach((share, at) => (sums[at % columns] += share));
      assert.ok((await data("#words figure[data-places]")).places.split(" ").includes(String(sums.indexOf(Math.max(...sums)))), "“zwei” looks at one place");
    });

    test("why: the most important patch by gradient × attention is the API's, with its share", async () => {
      await goTo("why", ".why-words:not(:empty)");
      const map = own.attention.relevance(3), most = Math.max(...map), at = map.indexOf(most);
      const share = ((100 * most) / map.reduce((a, b) => a + b)).toFixed(1);
      assert.equal(await text("#why [data-way=relevance] .grid-words"),
        `Largest: row ${Math.floor(at / 7) + 1}, column ${(at % 7) + 1}, ${share} %`);
    });

    test("teach: there are six exercises", async () => {
      await goTo("teach", "li");
      assert.equal(await page.evaluate(() => document.querySelectorAll("#teach li").length), 6);
      await nothingWrong();
    });

    test("a training in the tab learns: the loss falls and it reads test images", needsMnist, async () => {
      await goTo("learning", "#train-it");
      await page.evaluate(() => (document.getElementById("train-it").open = true));
      await there("#learning-live-train");
      await page.keyboard.press("Shift"); // ends the page's hold on the chapter that the address names
      await page.evaluate(() => document.getElementById("learning-live").scrollIntoView()); // far from the screen a run rests
      await click("#learning-live [data-kind=myvit]");
      const short = { width: 32, depth: 1, patch: 14, images: 1000, epochs: 6 };
      for (const [name, value] of Object.entries(short)) await choose(`live-${name}`, String(value));
      await click("#learning-live-train");
      await there("#learning-live-status[data-phase=finished]");
      const loss = Number((await data("#learning-live-numbers")).loss), atFirst = Math.log(10); // of ten classes that are alike
      assert.ok(loss < atFirst - 0.5, `${loss}`);
      const right = Number(/^Finished\. It reads (\d+) of the 1,000 /.exec(await text("#learning-live-status"))[1]);
      assert.ok(right > 300, `${right} of 1,000`);
      await nothingWrong();
    });

    test("teach it: a sign drawn a few times is learnt in the tab and read, and a digit still is", async () => {
      await click("#clear");
      await draw("pad", star(0.75));
      await there("#teach-this:not([hidden])");
      await click("#teach-this");
      await there("#teach-it-learn");
      const learnable = "#teach-it-learn[aria-disabled=false]";
      await draw("pad", star(0.85));
      await there(learnable);
      await click(learnable);
      await there("#teach-it-learn[aria-disabled=true]");
      await draw("pad", star(0.95));
      await there(learnable);
      await page.evaluate(() => (document.getElementById("teach-it-name").value = "★"));
      await click("#teach-it-learn");
      await page.waitForFunction(() => !document.body.classList.contains("teaching") || document.getElementById("teach-it-learn").checkVisibility());
      await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("Learnt")); // the taught model is there
      assert.match(await text("#status"), /^Learnt in [\d.]+ s: it reads 3 of your 3 drawings\.$/);
      for (const [label, strokes] of [["★", star(0.9, 2)], ["3", DIGITS[3]]]) {
        await click("#clear");
        await draw("pad", strokes);
        await there(`#prediction[data-label="${label}"][aria-busy=false]`);
      }
      await nothingWrong();
    });
  });
});
