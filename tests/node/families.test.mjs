// Checkpoints that other code saved, compared with that code's results: every case in the data's
// folder `families`. Each is within 1e-4 of the largest value, or is refused.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readTensors, shared } from "./golden.mjs";
import { load, rejects } from "./support.mjs";

const folder = shared("families");

const TOLERANCE = 1e-4;

/** Image `index` of a batch: (B,…), or (L,B,…) for attention. */
function part({ shape, values }, index, first = 0) {
  const batch = shape[first];
  const each = values.length / batch / (first ? shape[0] : 1);
  const outer = Array.from({ length: first ? shape[0] : 1 }, (_, layer) => (layer * batch + index) * each);
  return outer.flatMap((at) => [...values.subarray(at, at + each)]);
}

function close(got, want, what) {
  assert.equal(got.length, want.length, `${what}: how many`);
  const most = want.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  const far = want.reduce((largest, value, i) => Math.max(largest, Math.abs(value - got[i])), 0); // NaN fails
  assert.ok(far <= TOLERANCE * most, `${what}: ${far} apart, ${TOLERANCE * most} allowed`);
}

async function check(vit, oracle) {
  const { images, logits, tokens, pooled, attention } = oracle;
  for (let index = 0; index < images.shape[0]; index++) {
    const image = Float32Array.from(part(images, index));
    const given = await vit.embed(image, { attention: true });
    if (logits) close([...(await vit.classify(image)).logits], part(logits, index), "logits");
    if (pooled) close([...given.pooled], part(pooled, index), "pooled");
    if (tokens) close([...given.patches], part(tokens, index).slice(-given.patches.length), "patch tokens");
    if (tokens && tokens.shape[1] > given.patches.length / given.width && vit.config.prefix[0] === "class") {
      close([...given.cls], part(tokens, index).slice(0, given.width), "class token");
    }
    if (!attention) continue;
    const { layers, heads } = given.attention;
    const maps = Array.from({ length: layers * heads }, (_, i) => [...given.attention.at(Math.floor(i / heads), i % heads)]);
    close(maps.flat(), part(attention, index, 1), "attention");
  }
}

if (!folder) test("families", { skip: "no folder families in the data that VITRINE_DATA names" }, () => {});
for (const name of folder ? readdirSync(folder) : []) {
  const path = join(folder, name, "case.json");
  if (!existsSync(path)) continue;
  const { load: file, config, expect, note } = JSON.parse(readFileSync(path, "utf8"));
  const weights = join(folder, name, file);
  const source = config ? { weights, config } : weights;
  test(`${name}: ${expect}${note ? ` (${note})` : ""}`, async () => {
    if (expect === "refused") return rejects(() => load(source), "bad_config", /./);
    await check(await load(source), readTensors(readFileSync(join(folder, name, "oracle.safetensors"))));
  });
}
