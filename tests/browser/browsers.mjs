/** Starts the browser that $VITRINE_BROWSER names: chromium (the default), firefox or webkit. */
import { existsSync } from "node:fs";
import { chromium, firefox } from "playwright-core";
import { launchWebkit } from "./webkit.mjs";

export const name = process.env.VITRINE_BROWSER ?? "chromium";

const firstExisting = (...paths) => paths.find((path) => path && existsSync(path));

const ofChromium = (executablePath) => ({
  executablePath,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-fake-device-for-media-stream", // a camera of moving shapes
    "--use-fake-ui-for-media-stream",
  ],
});

/** Starts Chromium, or takes the one that $VITRINE_BROWSER_SERVER names. */
const launchChromium = (executablePath) => {
  const server = process.env.VITRINE_BROWSER_SERVER;
  return server ? chromium.connect(server) : chromium.launch(ofChromium(executablePath));
};

/** Starts an unpatched Firefox. Playwright drives it over WebDriver BiDi. */
async function launchFirefox(executablePath, prefs) {
  const firefoxUserPrefs = {
    "media.navigator.streams.fake": true, // a camera of moving shapes
    "media.navigator.permission.disabled": true,
    ...prefs,
  };
  const browser = await firefox.launch({ executablePath, channel: "moz-firefox", firefoxUserPrefs });
  const session = Object.getPrototypeOf(browser._connection.toImpl(browser)._browserSession);
  const { send } = session;
  // Playwright sends this to every new context, and Firefox ESR 153 does not know it.
  session.send = function (method, ...rest) {
    return method === "emulation.setMediaFeaturesOverride" ? Promise.resolve({}) : send.call(this, method, ...rest);
  };
  return browser;
}

const browsers = {
  chromium: {
    path: firstExisting(process.env.CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/google-chrome"),
    start: launchChromium,
    missing: "no Chromium here; install one or set $CHROMIUM",
  },
  firefox: {
    path: firstExisting(process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"),
    start: launchFirefox,
    missing: "no Firefox here; install one or set $FIREFOX",
  },
  webkit: {
    path: firstExisting(process.env.WEBKIT),
    start: launchWebkit,
    missing: "no WebKitGTK here; set $WEBKIT to its MiniBrowser",
  },
};
const { path, start, missing } = browsers[name];

/** For node:test: false, or the reason why these tests cannot run here. */
export const skip = path ? false : missing;

/** For node:test: false, or the reason why tests cannot ask this browser for less motion, paper or touch. */
export const skipMedia = name === "firefox" && "in Firefox ESR a test cannot set media features, nor touch";

/** @param prefs Firefox's preferences; other browsers have none. */
export const launch = (prefs) => start(path, prefs);

/** Starts a Chromium for many test files: its `wsEndpoint()` is their $VITRINE_BROWSER_SERVER. */
export const launchServer = (executablePath = browsers.chromium.path) => chromium.launchServer(ofChromium(executablePath));
