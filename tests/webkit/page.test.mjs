// The page in WebKitGTK. WebDriver moves the pointer and presses the keys.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, skip } from "../browser/browsers.mjs";
import { DIGITS } from "../browser/harness.mjs";
import { pageFolder } from "../../web/scripts/build.mjs";
import { serve } from "../../web/scripts/serve.mjs";

const ENTER = "\uE007";

describe("the page in WebKitGTK", { skip }, () => {
  let server;
  let browser;
  let page;
  before(async () => {
    server = await serve(pageFolder);
    browser = await launch();
    page = await browser.newPage();
  });
  after(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  /** Waits until the expression `source` is true in the page. */
  const until = (source) =>
    page.evaluate(
      `async () => { while (!(${source})) await new Promise(requestAnimationFrame); }`,
    );

  const opened = async () => {
    await page.goto(`http://localhost:${server.address().port}/`);
    await page.evaluate(() => {
      globalThis.trouble = [];
      addEventListener("error", ({ message }) => trouble.push(message));
      addEventListener("unhandledrejection", ({ reason }) => trouble.push(String(reason)));
      addEventListener("securitypolicyviolation", ({ blockedURI }) => trouble.push(blockedURI));
      console.error = console.warn = (...words) => trouble.push(words.join(" "));
    });
    await until(`document.querySelector("#status.ready")`);
  };

  const draw = async (strokes) => {
    const box = await page.evaluate(() => {
      document.getElementById("pad").scrollIntoView({ block: "center" });
      const { x, y, width, height } = document.getElementById("pad").getBoundingClientRect();
      return { x, y, width, height };
    });
    const move = ([x, y]) => ({
      type: "pointerMove",
      duration: 50,
      x: Math.round(box.x + (x / 100) * box.width),
      y: Math.round(box.y + (y / 100) * box.height),
    });
    const actions = strokes.flatMap(([first, ...others]) => [
      move(first),
      { type: "pointerDown", button: 0 },
      ...others.map(move),
      { type: "pointerUp", button: 0 },
    ]);
    await page.act([{ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions }]);
  };

  const press = (key) =>
    page.act([
      { type: "key", id: "keys", actions: [{ type: "keyDown", value: key }, { type: "keyUp", value: key }] },
    ]);

  const label = () => page.evaluate(() => document.getElementById("prediction").dataset.label);

  test("in WebKitGTK a 7 drawn with the mouse is read as 7, Undo takes it back, and the page logs no error", async () => {
    await opened();
    await draw(DIGITS[7]);
    await until(`document.querySelector("#prediction[data-label='7'][aria-busy=false]")`);
    await page.evaluate(() => document.getElementById("undo").focus());
    await press(ENTER);
    await until(`document.querySelector("#prediction[data-label=''][aria-busy=false]")`);
    assert.equal(await label(), "");
    assert.deepEqual(await page.evaluate(() => trouble), []);
  });

  test("in WebKitGTK the keyboard alone draws a 1 and clears it", async () => {
    await opened();
    await page.evaluate(() => document.getElementById("pad").focus());
    await press(" ");
    for (let i = 0; i < 24; i++) await press("\uE015"); // arrow down
    await press(" ");
    await until(`document.querySelector("#prediction[data-label='1'][aria-busy=false]")`);
    await press("\uE017"); // delete
    await until(`document.querySelector("#prediction[data-label=''][aria-busy=false]")`);
    assert.deepEqual(await page.evaluate(() => trouble), []);
  });

  test("in WebKitGTK the second tab opens and its random model reads a photo", async () => {
    await opened();
    await page.evaluate(() => document.getElementById("tab-own").click());
    await until(`document.querySelector("#own-pixels option")`);
    await page.evaluate(() => document.getElementById("own-random").click());
    await until(`document.querySelector("#own-classes li")`);
    assert.deepEqual(await page.evaluate(() => trouble), []);
  });
});
