// Checkpoints that other libraries saved, compared with their results: every case in the data's
// folder `families`. Each is within 1e-4 of the largest value, or is refused.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { caseOf, modelBytes, readTensors, rewritten, shared } from "./golden.mjs";
import { load, rejects } from "./support.mjs";

const folder = shared("families");

const TOLERANCE = 1e-4;

const oracleOf = (place, name) => readTensors(readFileSync(join(place, name, "oracle.safetensors")));

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
    if (oracle.boxes) {
      const { logits: scores, boxes } = await vit.detect(image);
      close([...scores], part(logits, index), "scores");
      close([...boxes], part(oracle.boxes, index), "boxes");
      continue;
    }
    const embedding = await vit.embed(image, { attention: true });
    if (logits) close([...(await vit.classify(image)).logits], part(logits, index), "logits");
    if (pooled) close([...embedding.pooled], part(pooled, index), "pooled");
    if (tokens) close([...embedding.patches], part(tokens, index).slice(-embedding.patches.length), "patch tokens");
    if (tokens && tokens.shape[1] > embedding.patches.length / embedding.width && vit.config.prefix[0] === "class") {
      close([...embedding.cls], part(tokens, index).slice(0, embedding.width), "class token");
    }
    if (!attention) continue;
    const { layers, heads } = embedding.attention;
    const maps = Array.from({ length: layers * heads }, (_, i) => [...embedding.attention.at(Math.floor(i / heads), i % heads)]);
    close(maps.flat(), part(attention, index, 1), "attention");
  }
}

/** The cases of the data's folder `wanted` whose families are known here. */
const FAMILY_CASES = [
  "transformers-4.48.0_ijepa", "transformers-4.48.0_yolos", "timm-1.0.29_beit_base_patch16_224", "transformers-4.48.0_beit_cls",
  "transformers-4.48.0_beit_shared_bias",
  "timm-1.0.29_vit_small_plus_patch16_dinov3", "transformers-4.48.0_dinov2_swiglu_cls", "timm-1.0.29_eva02_tiny_patch14_224",
  "timm-1.0.29_vit_small_patch16_dinov3", "facebook_dinov3", "facebook_pe_spatial", "timm-1.0.29_rope_ape_bare",
  "timm-1.0.29_vit_pe_core_small_patch16_384",
];

/** What no file of these tells. */
const ANSWERS = {
  facebook_dinov3: { image_size: [32, 32] },
  facebook_pe_spatial: { heads: 2, image_size: [32, 32] },
  "timm-1.0.29_rope_ape_bare": { position: "rotary" },
};

const wantedFolder = shared("wanted");

if (!folder) test("families", { skip: "no folder families in the data that VITRINE_DATA names" }, () => {});
const CASES = [...(folder ? readdirSync(folder) : []).map((name) => [folder, name]), ...(wantedFolder ? FAMILY_CASES : []).map((name) => [wantedFolder, name])];
for (const [place, name] of CASES) {
  if (!existsSync(join(place, name, "case.json"))) continue;
  const { source, expect, note } = caseOf(place, name);
  test(`${name}: ${expect}${note ? ` (${note})` : ""}`, async () => {
    if (expect === "refused") return rejects(() => load(source), "bad_config", /./);
    await check(await load(ANSWERS[name] ? { weights: source, config: ANSWERS[name] } : source), oracleOf(place, name));
  });
}

// ---- Families that are not known here yet --------------------------------------

const NO_WANTED = "no folder wanted in the data that VITRINE_DATA names";

/** Loads a source and answers every question that the error asks. */
async function loadWithAnswers(source, truth) {
  for (const config = { heads: truth.heads }; ; ) {
    try {
      return await load({ weights: source, config });
    } catch (error) {
      const [, key] = /^config: (\w+): set \1 to /.exec(error.message) ?? [];
      if (!key || key in config) throw error;
      assert.ok(key in truth, error.message);
      config[key] = truth[key];
    }
  }
}

test("a checkpoint of another family is refused or right, with its config and as a single file", { skip: wantedFolder ? false : NO_WANTED }, async () => {
  for (const name of readdirSync(wantedFolder)) {
    const place = join(wantedFolder, name);
    if (!existsSync(join(place, "case.json"))) continue;
    const oracle = oracleOf(wantedFolder, name);
    const files = readdirSync(place).filter((file) => /^m(odel)?\.(safetensors|pth?)$/.test(file));
    for (const source of new Set([caseOf(wantedFolder, name).source, ...files.map((file) => join(place, file))])) {
      for (const position of ["none", "sincos2d", "relative"]) {
        const truth = { heads: 2, image_size: oracle.images.shape.slice(2), activation: "gelu", pool_prefix: false, position };
        const vit = await loadWithAnswers(source, truth).catch((error) => {
          assert.ok(["bad_tensor", "bad_config", "bad_file"].includes(error.code), `${name}: ${error.stack}`);
        });
        if (!vit || vit.assumed.includes("position")) continue;
        await check(vit, oracle);
      }
    }
  }
});

test("a file that has no positions is asked about, and unknown rotary ones are refused by name", async () => {
  const plain = modelBytes("families/timm_behind_a_prefix"), config = { heads: 2, image_size: [12, 12] };
  const without = (add) => rewritten(plain, (tensors) => {
    delete tensors["model.pos_embed"];
    if (add) tensors[`model.${add}`] = { dtype: "F32", shape: [4], data: Buffer.alloc(16) };
  });
  const asks = /^config: position: set position to none, sincos1d, sincos2d, relative or rotary: the file does not say$/;
  await rejects(() => load({ weights: without(), config: { heads: 2 } }), "bad_config", /^config: image_size: set image_size to .*: 0 positions /);
  await rejects(() => load({ weights: without(), config }), "bad_config", asks);
  assert.equal((await load({ weights: without(), config: { ...config, position: "sincos2d" } })).config.position, "sincos2d");
  for (const table of ["rope.periods", "blocks.0.attn.rope.freqs", "rotary_emb.inv_freq", "freqs_cis"]) {
    const refusal = new RegExp(`"model.${table}": is of a model with rotary positions that are not known here`);
    await rejects(() => load({ weights: without(table), config: { ...config, position: "none" } }), "bad_tensor", refusal);
  }
});
