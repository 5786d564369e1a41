// The overlays and the image search of web/RECIPES.md in a browser.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import sharp from "sharp";
import { CHECKPOINT, json } from "./checkpoint.mjs";
import { skip, withBrowser } from "./harness.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "web/RECIPES.md"), "utf8");
const codes = (language) => [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm"))].map(([, text]) => text);
const code = (language) => codes(language)[0];
const VITRINE = "/node_modules/vitrine/dist/";

/** Twice as wide as high. */
const WIDE = {
  name: "wide.png", mimeType: "image/png",
  buffer: await sharp({ create: { width: 80, height: 40, channels: 3, background: "#886" } }).png().toBuffer(),
};

const PREPROCESSOR = "preprocessor_config.json";
const scaled = { do_normalize: true, image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5], resample: 3 };

/** How a preprocessor resizes, and which part of the wide photo the model then sees: left, top, right, bottom. */
const WAYS = {
  stretched: [{ size: { height: 12, width: 12 } }, [0, 0, 1, 1]],
  // The shorter side is 16 pixels, of which the middle 12 are kept; the longer one is 32.
  cropped: [
    { size: { shortest_edge: 16 }, do_center_crop: true, crop_size: { height: 12, width: 12 } },
    [10 / 32, 2 / 16, 22 / 32, 14 / 16],
  ],
};

/** The README's component, and a page that gives it the photo of an input. Effects run at once, twice. */
const MOUNT = `
import { createRoot } from "react-dom/client";
import { flushSync } from "react-dom";
import { createElement, StrictMode } from "react";
import { Overlay } from "./overlay.jsx";
window.view = createRoot(document.querySelector("main"));
window.show = (photo) =>
  flushSync(() => view.render(createElement(StrictMode, null, createElement(Overlay, { photo, layer: 1, head: 0 }))));
document.querySelector("input").onchange = ({ target }) => show(target.files[0]);
`;

let bundled;

async function bundle() {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-react-"));
  try {
    writeFileSync(join(folder, "overlay.jsx"), code("jsx"));
    writeFileSync(join(folder, "main.js"), MOUNT);
    const bundled = await rolldown({
      input: join(folder, "main.js"),
      external: ["vitrine"],
      resolve: { modules: [join(root, "node_modules")] },
      transform: { define: { "process.env.NODE_ENV": '"development"' } },
    });
    const { output } = await bundled.generate({ format: "es", paths: { vitrine: `${VITRINE}vit.js` } });
    return output[0].code;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("README", { skip }, () => {
  const browser = withBrowser();

  /** Opens a page of `html` with the package and a checkpoint beside it. */
  const open = (preprocessor, html, script = "") =>
    browser.visit({
      ready: false,
      excused: /404/,
      address: `${browser.address}readme/index.html`,
      before: async (page) => {
        const answer = (path, contentType, body) =>
          page.route(`**${path}`, (route) => route.fulfill({ contentType, body }));
        for (const folder of ["vit-tiny", "clip"]) await page.route(`**/${folder}/*`, (route) => route.fulfill({ status: 404 }));
        for (const { name, buffer } of CHECKPOINT) {
          const body = name === PREPROCESSOR ? json({ ...scaled, ...preprocessor }) : buffer;
          for (const folder of ["vit-tiny", "clip"]) await answer(`/readme/${folder}/${name}`, "", body);
        }
        await answer("/readme/index.html", "text/html", html);
        await answer("/react.js", "text/javascript", script);
        await page.route("**/node_modules/vitrine/dist/*", (route) =>
          route.fulfill({ path: join(root, "dist", new URL(route.request().url()).pathname.split("/").at(-1)) }),
        );
      },
    });

  for (const [name, page, answer] of [
    ["the overlay in plain HTML", async () => [code("html")], "output"],
    [
      "the overlay in React",
      async () => [
        '<!doctype html><input type="file" /><main></main><script type="module" src="/react.js"></script>',
        await (bundled ??= bundle()),
      ],
      "figcaption",
    ],
  ]) {
    for (const [how, [preprocessor, [left, top, right, bottom]]] of Object.entries(WAYS)) {
      test(`${name} lies on the part of the photo that the model saw: ${how}`, async () => {
        const { page: tab } = await open(preprocessor, ...(await page()));
        await tab.setInputFiles("input", WIDE);
        await tab.locator(answer).filter({ hasText: /^class [a-g]$/ }).waitFor();
        const boxes = await tab.waitForFunction(paintedBox).then((box) => box.jsonValue());
        assert.equal(Math.round(boxes.photo[0] / boxes.photo[1]), 2, "the whole photo is shown");
        assert.deepEqual(boxes.canvas, boxes.photo, "the canvas lies over it");
        [left, top, right, bottom].forEach((share, i) =>
          assert.ok(Math.abs(boxes.box[i] - share) < 0.02, `${boxes.box} in place of ${[left, top, right, bottom]}`));
        if (answer === "figcaption") await tab.evaluate(leaveEarly);
      });
    }
  }

  test("the image search finds the photos of a folder by a photo, by words, and says what it cannot", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "vitrine-photos-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const png = (background) => sharp({ create: { width: 40, height: 30, channels: 3, background } }).png().toBuffer();
    for (const [name, colour] of Object.entries({ blue: "#1020c0", pink: "#d05040", red: "#c02010" })) writeFileSync(join(folder, `${name}.png`), await png(colour));
    writeFileSync(join(folder, "notes.txt"), "no photo");
    const { page: tab } = await open(WAYS.stretched[0], codes("html")[1]);
    const [photos, like, words] = await tab.locator("input").all();
    await photos.setInputFiles(folder);
    await tab.locator("output").filter({ hasText: "3 photos" }).waitFor();
    await like.setInputFiles({ name: "red.png", mimeType: "image/png", buffer: await png("#c02010") });
    const names = () => tab.locator("img").evaluateAll((all) => all.map(({ title }) => title.match(/(\w+)\.png/)[1]));
    await tab.locator("img").nth(2).waitFor();
    assert.deepEqual(await names(), ["red", "pink", "blue"]);
    await words.fill("a sea");
    await words.press("Enter");
    await tab.locator("output").filter({ hasText: /embedText|such as CLIP/ }).waitFor();
    await tab.evaluate(async () => {
      const { Vit } = await import("./node_modules/vitrine/dist/vit.js");
      Vit.prototype.embedText = async function () {
        const data = new Uint8Array(40 * 30 * 3).map((_, at) => [16, 32, 192][at % 3]);
        return { embeds: (await this.embed({ data, width: 40, height: 30, channels: 3 })).pooled };
      };
    });
    await words.fill("the sea");
    await words.press("Enter");
    await tab.locator("img:first-child[alt$='blue.png']").waitFor();
  });
});

/** The painted part of the canvas in shares of it; undefined while nothing is painted. */
function paintedBox() {
  const canvas = document.querySelector("canvas"), { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const painted = [...Array(width * height).keys()].filter((i) => data[4 * i + 3] > 0);
  if (painted.length === 0) return undefined;
  const xs = painted.map((i) => i % width), ys = painted.map((i) => Math.floor(i / width));
  const [least, most] = [Math.min, Math.max].map((of) => (all) => all.reduce((a, b) => of(a, b)));
  const box = [least(xs) / width, least(ys) / height, (most(xs) + 1) / width, (most(ys) + 1) / height];
  const place = (element) => {
    const { width, height, left, top } = element.getBoundingClientRect();
    return [width, height, left, top].map(Math.round);
  };
  return { box, photo: place(document.querySelector("img")), canvas: place(canvas) };
}

/** Shows another photo and leaves while the model looks at it. A rejection that nobody handles is trouble. */
async function leaveEarly() {
  const [photo] = document.querySelector("input").files;
  window.show(new File([photo], "other.png"));
  window.view.unmount();
  await new Promise(requestAnimationFrame);
}
