/** Touch and pen by each browser's own protocol, because Playwright has neither. */
import { name } from "./browsers.mjs";

/** A finger: `{ id, x, y }` in pixels of the window. */
async function chromiumFingers(page) {
  const session = await page.context().newCDPSession(page);
  const down = new Map();
  const send = (type) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: [...down.values()] });
  return {
    scrolls: true,
    async move(finger) {
      const type = down.has(finger.id) ? "touchMove" : "touchStart";
      down.set(finger.id, finger);
      await send(type);
    },
    async lift() {
      down.clear();
      await send("touchEnd");
    },
  };
}

/** Lets the browser perform WebDriver's actions of one pointer. */
async function act(page, id, pointerType, actions) {
  const session = page._connection.toImpl(page).delegate._session;
  const source = { type: "pointer", id, parameters: { pointerType }, actions };
  await session.send("input.performActions", { context: session.sessionId, actions: [source] });
}

const moveTo = (x, y) => ({ type: "pointerMove", x: Math.round(x), y: Math.round(y) });

function bidiFingers(page) {
  const down = new Set();
  return {
    scrolls: false, // WebDriver's touches reach the page but do not scroll it
    async move({ id, x, y }) {
      const first = down.has(id) ? [] : [{ type: "pointerDown", button: 0 }];
      down.add(id);
      await act(page, `finger ${id}`, "touch", [moveTo(x, y), ...first]);
    },
    async lift() {
      for (const id of down) await act(page, `finger ${id}`, "touch", [{ type: "pointerUp", button: 0 }]);
      down.clear();
    },
  };
}

/** Fingers on a touch screen: `move` puts a finger down or moves it, `lift` lifts all fingers. */
export const fingers = (page) => (name === "firefox" ? bidiFingers(page) : chromiumFingers(page));

/** The reason why no pen can be tested, or false. */
export const noPen = name === "firefox" && "Firefox's WebDriver has no pen";

/** Draws along the points with a pen whose pressure is `force`, from 0 to 1. */
export async function pen(page, force, points) {
  const session = await page.context().newCDPSession(page);
  const send = (type, [x, y], buttons = 1) =>
    session.send("Input.dispatchMouseEvent", {
      type, x, y, force, button: "left", buttons, clickCount: 1, pointerType: "pen",
    });
  await send("mousePressed", points[0]);
  for (const point of points) await send("mouseMoved", point);
  await send("mouseReleased", points.at(-1), 0);
}
