// node tests/bench/drawing.mjs: what a stroke costs the built page at the beginning and at the end of a
// long drawing, and its Interaction to Next Paint. With the argument "story" the story was opened before.
import { launch } from "../browser/browsers.mjs";
import { settled, toChapter, visit } from "../browser/harness.mjs";
import { openHost } from "../browser/host.mjs";
import { median } from "./figures.mjs";

const LONG = 500, TIMED = 10, STROKES = 200, MOVES = 20;

/** Points of the stroke with this number, in 0..1: an arc somewhere on the pad. */
function arc(number) {
  const share = (step) => (number * step) % 1; // an even spread
  const [x, y, turn] = [0.2 + 0.6 * share(0.7549), 0.2 + 0.6 * share(0.5698), 6 * share(0.618)];
  return Array.from({ length: MOVES + 1 }, (_, i) => [x + 0.1 * Math.cos(turn + i / 4), y + 0.1 * Math.sin(turn + i / 4)]);
}

/** Draws a stroke with the mouse. Resolves to the main thread's milliseconds until the answer is shown. */
async function timed({ page, box, session }, points) {
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
  };
  const before = await busy();
  await page.mouse.move(...spot(box, points[0]));
  await page.mouse.down();
  for (const point of points) await page.mouse.move(...spot(box, point));
  await page.mouse.up();
  await settled(page);
  return (await busy()) - before;
}

const spot = (box, [x, y]) => [box.x + x * box.width, box.y + y * box.height];

/** Draws strokes by a script's pointer, which takes less time. */
async function fill({ page, box }, strokes) {
  await page.locator("#pad").evaluate((pad, strokes) => {
    const send = (type, [clientX, clientY]) =>
      pad.dispatchEvent(new PointerEvent(type, { pointerId: 5, pointerType: "mouse", button: 0, buttons: 1, clientX, clientY }));
    for (const points of strokes) {
      send("pointerdown", points[0]);
      for (const point of points) send("pointermove", point);
      send("pointerup", points.at(-1));
    }
  }, strokes.map((points) => points.map((point) => spot(box, point))));
  await settled(page);
}

/** Opens the page with an empty pad. */
async function open(browser, address, story) {
  const { page } = await visit(browser, { address, before: (page) => page.addInitScript(() => {
    globalThis.delays = new Map(); // by interaction
    new PerformanceObserver((list) => {
      for (const { interactionId: id, duration } of list.getEntries())
        if (id) globalThis.delays.set(id, Math.max(globalThis.delays.get(id) ?? 0, duration));
    }).observe({ type: "event", durationThreshold: 16 });
  }) });
  if (story) {
    await toChapter(page, "patches");
    await page.locator("#rail-pad").waitFor();
    await page.locator("#patches figure").first().waitFor();
    await page.evaluate(() => scrollTo(0, 0));
  }
  await page.click("#clear");
  await settled(page);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return { page, box: await page.locator("#pad").boundingBox(), session };
}

const story = process.argv[2] === "story";
const host = await openHost({ lasting: true });
const browser = await launch();
const all = Array.from({ length: LONG }, (_, number) => arc(number));

const hand = await open(browser, host.address, story);
const cost = async (strokes) => {
  const times = [];
  for (const points of strokes) times.push(await timed(hand, points));
  return median(times);
};
const first = await cost(all.slice(0, TIMED));
await fill(hand, all.slice(TIMED, -TIMED));
const last = await cost(all.slice(-TIMED));
console.log(`a stroke of ${MOVES} moves, main thread: ${first.toFixed(0)} ms at first, ${last.toFixed(0)} ms after ${LONG - TIMED} strokes, ratio ${(last / first).toFixed(2)}`);

await hand.page.click("#clear");
await hand.page.evaluate(() => globalThis.delays.clear());
for (const points of all.slice(0, STROKES)) await timed(hand, points);
// What is not listed took less than 16 ms. INP leaves out the worst one of every 50.
const delays = (await hand.page.evaluate(() => [...globalThis.delays.values()])).sort((a, b) => b - a);
console.log(`${STROKES} strokes: INP ${delays[STROKES / 50] ?? "under 16"} ms, the worst ${delays[0] ?? "under 16"} ms`);
await browser.close();
host.close();
