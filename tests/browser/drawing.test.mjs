import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { fingers, noPen, pen } from "./fingers.mjs";
import {
  DIGITS,
  draw,
  ink,
  openCloser,
  padSpots,
  painted,
  picture,
  prediction,
  settled,
  skip,
  withBrowser,
} from "./harness.mjs";
import { drawingOn, weightsOf } from "./story.mjs";

/** How far the darkest pixel of the model's picture is from its paper. */
const mostInk = (page) => page.locator("#pixels").evaluate((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const levels = data.filter((_, i) => i % 4 === 0 && data[i + 3] === 255);
  return Math.max(...levels) - Math.min(...levels);
});

describe("drawing on the page", { skip }, () => {
  const browser = withBrowser();
  let shared; // the page of tests that need none of their own
  before(async () => {
    shared = (await browser.visit()).page;
  });
  const blank = async () => (await shared.keyboard.press("Escape"), shared);

  test("before the first stroke there is no prediction", async () => {
    const page = shared;
    await page.locator("#bars .best").waitFor(); // the example is read
    await settled(page);
    assert.deepEqual(await prediction(page), { label: "", p: "" });
  });

  test("Undo takes back one stroke, or a Clear", async () => {
    const page = shared;
    await ink(page, [DIGITS[4][0]]);
    const one = [await prediction(page), await painted(page, "#pad")];
    await ink(page, [DIGITS[4][1]]);
    const two = [await prediction(page), await painted(page, "#pad")];
    assert.notDeepEqual(two, one);
    await page.click("#undo");
    await settled(page);
    assert.deepEqual([await prediction(page), await painted(page, "#pad")], one);
    await page.keyboard.press("Escape");
    await settled(page);
    assert.equal((await prediction(page)).label, "");
    await page.keyboard.press("Control+z");
    await settled(page);
    assert.deepEqual([await prediction(page), await painted(page, "#pad")], one);
    await page.click("#undo");
    await settled(page);
    assert.deepEqual(await prediction(page), { label: "", p: "" });
    assert.ok(await page.locator("#undo").isDisabled());
  });

  test("each digit drawn with the mouse is read as itself, and its ten probabilities and its doubt add up to one", async () => {
    const page = shared, vit = await Vit.load(weightsOf("digits"));
    for (const [digit, strokes] of Object.entries(DIGITS)) {
      await blank();
      await draw(page, strokes, { moves: 1 });
      const { label, p } = await prediction(page);
      assert.equal(label, digit);
      assert.ok(Number(p) > 0.8 && Number(p) <= 1, `p is ${p}`);
      assert.equal(await page.locator("#bars .best").getAttribute("data-label"), digit);
      const shares = await page.locator("#bars > *").evaluateAll((rows) => rows.map((row) => Number(row.dataset.p)));
      assert.equal(shares.length, 10);
      const { doubt } = await vit.classify(await drawingOn(page));
      assert.ok(Math.abs(shares.reduce((sum, p) => sum + p, doubt) - 1) < 1e-5);
      assert.equal(Math.max(...shares), Number(p));
    }
    vit.dispose();
  });

  test("every example is read as the digit that it shows", async () => {
    const page = shared;
    for (const example of await page.locator("#examples button").all()) {
      await example.click();
      await settled(page);
      assert.equal((await example.getAttribute("title")).at(-1), (await prediction(page)).label);
    }
  });

  test("class and bars change while a stroke is being drawn", async () => {
    const page = await blank();
    const shares = new Set();
    const during = async () => {
      await settled(page);
      const { label, p } = await prediction(page);
      if (label) shares.add(`${label} ${p} ${await page.locator("#bars").textContent()}`);
    };
    await draw(page, DIGITS[3], { during, moves: 1 });
    assert.ok(shares.size >= 4, `${shares.size} different results in one stroke`);
  });

  test("a cleared pad has no prediction, no ink and no map", async () => {
    const page = await blank();
    await ink(page, DIGITS[1]);
    assert.notEqual((await prediction(page)).label, "");
    await page.click("#clear");
    await settled(page);
    assert.deepEqual(await prediction(page), { label: "", p: "" });
    assert.equal(await painted(page, "#pad"), 0);
    assert.equal(await painted(page, "#overlay"), 0);
  });

  test("Redo brings back an undone stroke, by button and by keys, until a new stroke is drawn", async () => {
    const page = await blank();
    const padState = async () => [await prediction(page), await painted(page, "#pad")];
    const press = async (keys) => {
      await page.keyboard.press(keys);
      await settled(page);
      return padState();
    };
    await ink(page, [DIGITS[4][0]]);
    const one = await padState();
    await ink(page, [DIGITS[4][1]]);
    const two = await padState();
    assert.notDeepEqual(two, one);
    assert.ok(await page.locator("#redo").isDisabled());
    await page.click("#undo");
    await page.click("#undo");
    await page.click("#redo");
    await settled(page);
    assert.deepEqual(await padState(), one);
    assert.deepEqual(await press("Control+y"), two);
    assert.deepEqual(await press("Control+z"), one);
    assert.deepEqual(await press("Control+Shift+z"), two);
    assert.deepEqual(await press("Meta+z"), one);
    assert.deepEqual(await press("Meta+Shift+z"), two);
    await page.click("#undo");
    await ink(page, [[[20, 80], [30, 80]]]);
    const three = await padState();
    assert.ok(await page.locator("#redo").isDisabled(), "a new stroke forgets what was undone");
    assert.deepEqual(await press("Control+y"), three);
  });

  test("a tap on the pad leaves a dot", async () => {
    const page = await blank();
    await page.mouse.click(...(await padSpots(page))([50, 50]));
    await settled(page);
    assert.ok((await painted(page, "#pad")) > 100);
    assert.notEqual((await prediction(page)).label, "");
  });

  test("pointers made by a script draw too, and a pen with more pressure draws wider", async () => {
    const page = await blank();
    const amounts = [];
    for (const pressure of [0.1, 1]) {
      await page.keyboard.press("Escape");
      await ink(page, [[[50, 15, pressure], [50, 85, pressure]]], { moves: 14, pointerType: "pen" });
      assert.equal((await prediction(page)).label, "1");
      amounts.push(await painted(page, "#pad"));
    }
    assert.ok(amounts[1] > 1.5 * amounts[0], `${amounts}`);
  });

  test("Clear removes the result at once, and its button keeps the keyboard's focus", async () => {
    const page = await blank();
    await ink(page, DIGITS[7]);
    const dataset = await page.evaluate(() => {
      const clear = document.getElementById("clear");
      clear.focus();
      clear.click();
      return { ...document.getElementById("prediction").dataset };
    });
    assert.deepEqual(dataset, { label: "", p: "" });
    await settled(page);
    assert.equal(await page.evaluate(() => document.activeElement.id), "clear");
  });

  test("a finger draws without scrolling the page, and a second finger does nothing", async () => {
    const { page } = await browser.visit({
      viewport: { width: 360, height: 640 },
      hasTouch: true,
      isMobile: true,
    });
    const spot = await padSpots(page);
    const scrolled = await page.evaluate(() => scrollY);
    const hand = await fingers(page);
    const put = (id, corner) => {
      const [x, y] = spot(corner);
      return hand.move({ id, x, y });
    };
    for (let y = 12; y <= 50; y += 4) await put(0, [50, y]);
    await settled(page);
    const alone = await painted(page, "#pad");
    await put(1, [10, 10]);
    await put(1, [10, 80]);
    await settled(page);
    const second = await painted(page, "#pad");
    assert.ok(second < alone * 1.2, `ink grew from ${alone} to ${second} under the second finger`);
    await hand.lift();
    for (const y of [12, 30, 50, 70, 88]) await put(0, [50, y]);
    await hand.lift();
    await settled(page);
    assert.equal((await prediction(page)).label, "1");
    assert.equal(await page.evaluate(() => scrollY), scrolled);
  });

  test("a palm that lay on the pad before the pen came leaves no ink, and neither does a touch that is taken back", async () => {
    const page = await blank();
    await ink(page, DIGITS[7]);
    const [inkCount, answer] = [await painted(page, "#pad"), await prediction(page)];
    await page.click("#clear");
    await page.locator("#pad").evaluate((pad, [stroke]) => {
      const box = pad.getBoundingClientRect();
      const send = (type, pointerId, pointerType, [x, y]) => pad.dispatchEvent(new PointerEvent(type, {
        pointerId, pointerType, bubbles: true, button: 0, buttons: 1, pressure: 0.5,
        clientX: box.x + (x / 100) * box.width, clientY: box.y + (y / 100) * box.height,
      }));
      const draw = ([first, ...corners]) => {
        send("pointerdown", 7, "pen", first);
        let [fromX, fromY] = first;
        for (const [x, y] of corners) {
          for (let move = 1; move <= 4; move++) send("pointermove", 7, "pen", [fromX + ((x - fromX) * move) / 4, fromY + ((y - fromY) * move) / 4]);
          [fromX, fromY] = [x, y];
        }
        send("pointerup", 7, "pen", [fromX, fromY]);
      };
      send("pointerdown", 4, "touch", [80, 80]);
      send("pointermove", 4, "touch", [90, 90]);
      send("pointercancel", 4, "touch", [90, 90]);
      send("pointerdown", 5, "touch", [80, 70]);
      send("pointermove", 5, "touch", [85, 95]);
      send("pointerdown", 6, "touch", [95, 95]);
      draw(stroke);
      send("pointermove", 5, "touch", [60, 95]);
      send("pointerup", 5, "touch", [60, 95]);
      send("pointerdown", 8, "touch", [80, 80]); // between the pen's strokes
      send("pointermove", 8, "touch", [90, 70]);
      send("pointerup", 8, "touch", [90, 70]);
    }, DIGITS[7]);
    await settled(page);
    assert.equal(await painted(page, "#pad"), inkCount, "only the pen's ink");
    assert.deepEqual(await prediction(page), answer);
    await page.click("#undo");
    await settled(page);
    assert.equal(await painted(page, "#pad"), 0, "undo takes back the pen's stroke");
  });

  test("while the pen is down the answer is a digit; that the sign is unknown comes after it lifts, with no bar in the answer's colour", async () => {
    const page = await blank();
    const look = () => page.evaluate(() => ({
      sign: document.querySelector("#prediction strong").textContent,
      best: document.querySelectorAll("#bars .best").length,
      teach: document.getElementById("teach-this").checkVisibility() && document.getElementById("teach-this").textContent,
    }));
    const during = [];
    const house = [[[20, 50], [50, 15], [80, 50], [80, 88], [20, 88], [20, 50]], [[42, 88], [42, 66], [58, 66], [58, 88]]];
    await draw(page, house, { during: async () => (await settled(page), during.push(await look())) });
    for (const { sign, best, teach } of during) {
      assert.match(sign, /^\d$/);
      assert.equal(best, 1);
      assert.equal(teach, false);
    }
    assert.deepEqual(await look(), { sign: "?", best: 0, teach: "Teach it this sign" });
    await page.click("#clear");
    await ink(page, DIGITS[3]);
    assert.deepEqual(await look(), { sign: "3", best: 1, teach: "not a 3?" });
    await page.click("#teach-this");
    await page.locator("#teach-it-learn").waitFor();
    await page.keyboard.press("Escape"); // the lesson is left
  });

  test("a pen's pressure sets the width of its stroke", { skip: noPen }, async () => {
    const page = await blank();
    const spot = await padSpots(page);
    const line = async (pressure) => {
      await page.keyboard.press("Escape");
      const points = Array.from({ length: 17 }, (_, step) => spot([50, 10 + 5 * step]));
      await pen(page, pressure, points);
      await settled(page);
      return painted(page, "#pad");
    };
    const light = await line(0.1);
    const firm = await line(0.9);
    assert.ok(firm > 1.7 * light, `${light} pixels lightly, ${firm} firmly`);
  });

  test("the keyboard alone draws a 1, which is read aloud, and clears it", async () => {
    const page = await blank();
    await page.locator(".wordmark").click(); // Tab continues from here
    for (let i = 0; i < 20; i++) {
      if (await page.locator("#pad").evaluate((pad) => pad === document.activeElement)) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Space");
    await page.locator(".keys").waitFor(); // the keys' help
    for (let i = 0; i < 24; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await settled(page);
    const { label } = await prediction(page);
    assert.equal(label, "1");
    assert.match(await page.locator("#announce").textContent(), /^Reads as 1, /);
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
    await settled(page);
    assert.deepEqual((await prediction(page)).label, label, "a lifted pen draws nothing");
    await page.keyboard.press("Delete");
    await settled(page);
    assert.deepEqual(await prediction(page), { label: "", p: "" });
    await page.mouse.click(...(await padSpots(page))([50, 50]));
    await page.keyboard.press("Control+z");
    await settled(page);
    assert.equal(await page.locator(".keys").isVisible(), false, "a mouse draws");
  });

  test("while the pen is down the model sees pale ink and is less sure; when it lifts, full ink", async () => {
    const page = await blank();
    await openCloser(page);
    const inkState = async () => ({ p: Number((await prediction(page)).p), most: await mostInk(page) });
    const moves = [];
    await draw(page, DIGITS[7], { during: async () => (await settled(page), moves.push(await inkState())) });
    const down = moves.at(-1), up = await inkState();
    for (const { most } of moves) assert.ok(most < 0.75 * up.most, `${most} beside ${up.most}`);
    assert.ok(down.p < up.p && up.p > 0.9, `${down.p} while the pen is down, then ${up.p}`);
    await page.focus("#pad");
    for (const key of ["Space", "ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
    await settled(page);
    assert.ok((await mostInk(page)) < 0.75 * up.most, "the keyboard's pen is down");
    await page.keyboard.press("Space");
    await settled(page);
    assert.ok((await mostInk(page)) > 0.9 * up.most, "and up");
  });

  test("a frame draws as few lines at 300 strokes as at one, and undo draws the same ink anew", async () => {
    const page = await blank();
    await openCloser(page);
    await page.evaluate(() => {
      const { stroke } = CanvasRenderingContext2D.prototype;
      let lines = 0;
      globalThis.most = 0; // lines in one frame
      CanvasRenderingContext2D.prototype.stroke = function (...path) {
        lines++;
        return stroke.apply(this, path);
      };
      const next = () => {
        globalThis.most = Math.max(globalThis.most, lines);
        lines = 0;
        requestAnimationFrame(next);
      };
      next();
    });
    const mostFor = async (stroke) => {
      await page.evaluate(() => (globalThis.most = 0));
      await ink(page, [stroke]);
      return page.evaluate(() => globalThis.most);
    };
    const [down, across] = DIGITS[4];
    await mostFor(down);
    const few = await mostFor(across);
    await ink(page, Array.from({ length: 300 }, (_, i) => [[10 + (i % 80), 20], [14 + (i % 80), 80 - (i % 50)]]));
    await mostFor(down);
    const before = [await picture(page, "#pad"), await picture(page, "#overlaid")];
    const many = await mostFor(across);
    assert.ok(few > 0 && many <= few, `${few} lines in a frame, ${many} after 300 strokes`);
    await page.click("#undo");
    await settled(page);
    assert.deepEqual([await picture(page, "#pad"), await picture(page, "#overlaid")], before);
  });
});
