import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { served } from "./in-chromium.mjs";

const root = new URL("../../", import.meta.url);
const IMPORTS = /^(?:import|export)\s[^"]*?"([./][^"]+)";|^import "([^"]+)";/gm;

test("Chromium's page may ask for every module that its bench imports", () => {
  const seen = new Set(["/tests/bench/in-page.mjs", "/tests/bench/in-page-training.mjs"]);
  for (const path of seen) {
    assert.match(path, served);
    if (path.startsWith("/node_modules/")) continue; // in one piece
    for (const [, one, other] of readFileSync(new URL(`.${path}`, root), "utf8").matchAll(IMPORTS))
      seen.add(new URL(one ?? other, new URL(path, "http://page")).pathname);
  }
  assert.ok(seen.has("/tests/bench/models.mjs") && seen.has("/tests/bench/training-sides.mjs") && seen.has("/web/base/safetensors.mjs"), [...seen].join(" "));
});
