/** WebKitGTK over WebDriver, as much of Playwright's browser as tests/engines and the API's tests use. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../node/server.mjs";

/** Starts Xvfb on a free display. Xvfb prints the display's number when it is ready. */
async function openDisplay() {
  const server = spawn("Xvfb", ["-displayfd", "1", "-screen", "0", "1280x1024x24"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [number] = await once(server.stdout, "data");
  return { server, display: `:${String(number).trim()}` };
}

/** Sends WebDriver commands to paths below `address`. */
const client = (address) => async (method, path, body) => {
  const answer = await fetch(`${address}${path}`, { method, body: body && JSON.stringify(body) });
  const { value } = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
  return value;
};

async function untilReady(send) {
  for (let tries = 0; tries < 100; tries++) {
    if (await send("GET", "/status").catch(() => undefined)) return;
    await new Promise((later) => setTimeout(later, 100));
  }
  throw new Error("WebKitWebDriver does not answer");
}

/** Runs code in the page, which WebDriver gets as text. Errors come back as values. */
const wrapped = (work) => `const done = arguments[arguments.length - 1];
  Promise.resolve().then(() => (${work})(arguments[0]))
    .then((value) => done({ value }), (error) => done({ error: String(error) }));`;

/** WebDriver's names of keys that have no character. */
const KEYS = { Enter: "\uE007", ArrowDown: "\uE015", Delete: "\uE017", Shift: "\uE008", Space: " " };

function pageOf(session) {
  const evaluate = async (work, argument = null) => {
    const body = { script: wrapped(work), args: [argument] };
    const { value, error } = await session("POST", "/execute/async", body);
    if (error) throw new Error(error);
    return value;
  };
  const act = (source, actions) => session("POST", "/actions", { actions: [{ ...source, actions }] });
  const mouse = (...actions) => act({ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" } }, actions);
  return {
    goto: (url) => session("POST", "/url", { url }),
    evaluate,
    waitForFunction: (work, argument) => evaluate(`async (argument) => {
      while (!(${work})(argument)) await new Promise(requestAnimationFrame);
    }`, argument),
    mouse: {
      move: (x, y) => mouse({ type: "pointerMove", duration: 0, x: Math.round(x), y: Math.round(y) }),
      down: () => mouse({ type: "pointerDown", button: 0 }),
      up: () => mouse({ type: "pointerUp", button: 0 }),
    },
    keyboard: {
      press(key) {
        const value = KEYS[key] ?? key;
        return act({ type: "key", id: "keys" }, [{ type: "keyDown", value }, { type: "keyUp", value }]);
      },
    },
    async close() {},
  };
}

const options = (binary) => ({ "webkitgtk:browserOptions": { binary, args: ["--automation"] } });

/** Opens MiniBrowser at `binary`. `close` ends the browser, its driver and its display. */
export async function launchWebkit(binary) {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-webkit-"));
  const { server, display } = await openDisplay();
  const port = await freePort();
  const homes = Object.fromEntries(
    ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"].map((name) => [name, folder]),
  );
  // Without a GPU, WebKit's usual renderer makes OpenGL's shaders on the CPU, for seconds.
  const env = { ...process.env, ...homes, DISPLAY: display, WEBKIT_DISABLE_DMABUF_RENDERER: "1" };
  const driver = spawn("WebKitWebDriver", [`--port=${port}`], { env, stdio: "ignore" });
  let path;
  const root = client(`http://127.0.0.1:${port}`);
  const close = async () => {
    if (path) await root("DELETE", path).catch(() => {});
    driver.kill();
    server.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await untilReady(root);
    const capabilities = { alwaysMatch: options(binary) };
    path = `/session/${(await root("POST", "/session", { capabilities })).sessionId}`;
  } catch (error) {
    await close();
    throw error;
  }
  const session = (method, rest, body) => root(method, path + rest, body);
  return { newPage: async () => pageOf(session), close };
}
