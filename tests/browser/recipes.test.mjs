// Builds the recipes of tests/ecosystem whose tools are here, and opens their pages.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { recipes } from "../ecosystem/recipes.mjs";
import { lay, tryRecipe } from "../ecosystem/try.mjs";
import { launch, skip } from "./browsers.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("recipes", { skip }, () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());

  /** Makes an app with the installed package and the tools that are here. */
  function app(t, name) {
    const folder = mkdtempSync(join(tmpdir(), "vitrine-recipe-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const at = (path) => join(folder, "node_modules", path);
    mkdirSync(at("vitrine/weights"), { recursive: true });
    for (const path of ["package.json", "dist", "weights/digits.safetensors"]) {
      cpSync(join(root, path), at(`vitrine/${path}`), { recursive: true });
    }
    for (const tool of ["vite", "rolldown", ".bin"]) symlinkSync(join(root, "node_modules", tool), at(tool));
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    lay(recipes[name], folder);
    return folder;
  }

  for (const name of ["html", "vite", "rolldown"]) {
    test(`${recipes[name].title}: the recipe builds without a warning and its page shows the digit`, async (t) => {
      const [{ label, p }] = await tryRecipe(recipes[name], app(t, name), browser);
      assert.equal(label, "1");
      assert.ok(p > 0.9 && p <= 1);
    });
  }

  /** Shows a component in StrictMode, hides it at once, and shows it again. */
  const MOUNT = `
    import { createElement, StrictMode } from "react";
    import { createRoot } from "react-dom/client";
    import { flushSync } from "react-dom";
    import Page from "./app/page.jsx";
    const root = createRoot(document.querySelector("main"));
    const page = () => createElement(StrictMode, null, createElement(Page));
    addEventListener("unhandledrejection", ({ reason }) => console.error("unhandled", reason.message));
    flushSync(() => root.render(page()));
    flushSync(() => root.render(null));
    root.render(page());`;

  test("Next's page runs in React's StrictMode, and may be left while it classifies", async (t) => {
    const folder = app(t, "next");
    writeFileSync(join(folder, "mount.jsx"), MOUNT);
    writeFileSync(join(folder, "index.html"), '<!doctype html><main></main><script type="module" src="mount.js"></script>');
    cpSync(join(root, "weights/digits.safetensors"), join(folder, "digits.safetensors"));
    const bundle = await rolldown({
      input: join(folder, "mount.jsx"), logLevel: "silent", external: ["vitrine"], resolve: { modules: [join(root, "node_modules")] },
      transform: { define: { "process.env.NODE_ENV": '"development"' } },
    });
    await bundle.write({ file: join(folder, "mount.js"), format: "es", paths: { vitrine: "./node_modules/vitrine/dist/vit.js" } });
    const [{ label }] = await tryRecipe({ page: "." }, folder, browser);
    assert.equal(label, "1");
  });
});
