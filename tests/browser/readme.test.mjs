// The pages of web/README.md in a browser.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { CHECKPOINT, PHOTO } from "./checkpoint.mjs";
import { openBrowser, painted, skip } from "./harness.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "web/README.md"), "utf8");
const code = (language) => readme.match(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "m"))[1];
const VITRINE = "/node_modules/vitrine/dist/";

/** The README's component, and a page that gives it the photo of an input. */
const MOUNT = `
import { createRoot } from "react-dom/client";
import { createElement } from "react";
import { Overlay } from "./overlay.jsx";
const view = createRoot(document.querySelector("main"));
const input = document.querySelector("input");
input.onchange = () => view.render(createElement(Overlay, { photo: input.files[0], layer: 1, head: 0 }));
`;

async function bundle() {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-react-"));
  try {
    writeFileSync(join(folder, "overlay.jsx"), code("jsx"));
    writeFileSync(join(folder, "main.js"), MOUNT);
    const bundled = await rolldown({
      input: join(folder, "main.js"),
      external: ["vitrine"],
      resolve: { modules: [join(root, "node_modules")] },
      transform: { define: { "process.env.NODE_ENV": '"production"' } },
    });
    const { output } = await bundled.generate({ format: "es", paths: { vitrine: `${VITRINE}vit.js` } });
    return output[0].code;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("README", { skip }, () => {
  let browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser?.close());

  /** Opens a page of `html` with the package and a checkpoint beside it. */
  const open = (html, script = "") =>
    browser.visit({
      ready: false,
      address: `${browser.address}readme/index.html`,
      before: async (page) => {
        const answer = (path, contentType, body) =>
          page.route(`**${path}`, (route) => route.fulfill({ contentType, body }));
        await page.route("**/vit-tiny/*", (route) => route.fulfill({ status: 404 }));
        for (const { name, buffer } of CHECKPOINT) await answer(`/readme/vit-tiny/${name}`, "", buffer);
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
        await bundle(),
      ],
      "figcaption",
    ],
  ]) {
    test(name, async () => {
      const { page: tab, trouble, close } = await open(...(await page()));
      await tab.setInputFiles("input", PHOTO);
      await tab.locator(answer).filter({ hasText: /^class [a-g]$/ }).waitFor();
      await tab.waitForFunction(() => document.querySelector("canvas").width === 3);
      assert.ok((await painted(tab, "canvas")) > 0);
      assert.deepEqual(trouble.filter((line) => !line.includes("404")), []);
      await close();
    });
  }
});
