// Translating other libraries' configs: the meaning of each key, and keys that are refused by name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { translateConfig as translate } from "../../dist/foreign.js";

const ours = (beside, apart, processor, asks = true) => translate({ folderConfig: beside, callerConfig: apart, processor, wantsPrepare: asks });
/** Checks the members of the translated config that `want` names. */
const has = (config, want) =>
  assert.deepEqual(Object.fromEntries(Object.keys(want).map((key) => [key, config[key]])), want);
const refused = (config, message) =>
  assert.throws(() => ours(config), (error) => error.name === "Refusal" && message.test(error.message));

const VIT = { model_type: "vit", hidden_size: 96, num_attention_heads: 3, image_size: 32, patch_size: 8 };

test("transformers' model_type tells eps, activation, prefix and whether branches are scaled", () => {
  for (const [model_type, norm_eps, activation, prefix, layer_scale] of [
    ["vit", 1e-12, "gelu", ["class"], false],
    ["deit", 1e-12, "gelu", ["class", "distillation"], false],
    ["vit_mae", 1e-12, "gelu", ["class"], false],
    ["vit_msn", 1e-6, "gelu", ["class"], false],
    ["ijepa", 1e-12, "gelu", [], false],
    ["beit", 1e-12, "gelu", ["class"], undefined],
    ["data2vec-vision", 1e-12, "gelu", ["class"], undefined],
    ["dinov2", 1e-6, "gelu", ["class"], true],
    ["dinov2_with_registers", 1e-6, "gelu", ["class", ...Array(4).fill("register")], true],
    ["dinov3_vit", 1e-5, "gelu", ["class"], true],
    ["clip_vision_model", 1e-5, "quick_gelu", ["class"], false],
    ["metaclip_2_vision_model", 1e-5, "quick_gelu", ["class"], false],
    ["siglip_vision_model", 1e-6, "gelu_tanh", [], false],
  ]) has(ours({ ...VIT, model_type }), { norm_eps, activation, prefix, layer_scale, heads: 3 });
  for (const [options, position] of [[{}, "none"], [{ use_relative_position_bias: true }, undefined], [{ use_absolute_position_embeddings: true }, undefined]]) {
    has(ours({ ...VIT, model_type: "beit", ...options }), { position });
  }
  has(ours({ ...VIT, model_type: "dinov2_with_registers", num_register_tokens: 1 }), { prefix: ["class", "register"] });
  has(ours({ ...VIT, model_type: "dinov3_vit", num_register_tokens: 2, rope_theta: 50, use_gated_mlp: true, hidden_act: "silu" }),
    { prefix: ["class", "register", "register"], position: "rotary", rotary_base: 50, mlp: "gated", activation: "silu" });
  refused({ ...VIT, model_type: "dinov2_with_registers", num_register_tokens: 1e9 }, /num_register_tokens: expected a whole number up to 1024/);
});

test("every transformers name of gelu is one of three formulas, and other activations are refused", () => {
  for (const [hidden_act, activation] of Object.entries({
    gelu: "gelu", gelu_python: "gelu", gelu_new: "gelu_tanh", gelu_fast: "gelu_tanh", gelu_accurate: "gelu_tanh",
    gelu_python_tanh: "gelu_tanh", gelu_pytorch_tanh: "gelu_tanh", quick_gelu: "quick_gelu", relu: "relu", silu: "silu",
    swish: "silu",
  })) has(ours({ ...VIT, hidden_act }), { activation });
  for (const hidden_act of ["gelu_10", "relu2", "mish"]) refused({ ...VIT, hidden_act }, /hidden_act: expected one of gelu/);
});

test("a key that only transformers' version decides is translated or refused", () => {
  const registers = { ...VIT, model_type: "dinov2_with_registers", architectures: ["Dinov2WithRegistersForImageClassification"] };
  for (const [transformers_version, pool_prefix] of [["4.48.0.dev0", true], ["4.51.3", true], ["4.52.0", false], ["5.2.0", false]]) {
    has(ours({ ...registers, transformers_version }), { pool_prefix });
  }
  has(ours(registers), { pool_prefix: undefined });
  const siglip = { ...VIT, model_type: "siglip", architectures: ["SiglipForImageClassification"] };
  refused({ ...siglip, transformers_version: "4.42.4" }, /transformers_version: before 4\.43/);
  has(ours({ ...siglip, transformers_version: "4.43.0" }), { prefix: [] });
});

test("if CLIP's vision_config is given twice, vision_config_dict overrides the other", () => {
  const config = { model_type: "clip", vision_config: { num_attention_heads: 2, image_size: 32 }, vision_config_dict: { num_attention_heads: 4 } };
  has(ours(config), { heads: 4, image_size: [32, 32] });
});

const PIXELS = { image_processor_type: "BitImageProcessor", size: { shortest_edge: 40 }, crop_size: { height: 28, width: 28 } };

test("a DINOv2's image size comes from its processor, and positions are resized to it", () => {
  const config = { ...VIT, model_type: "dinov2", image_size: 56, patch_size: 14 };
  const result = ours(config, {}, PIXELS);
  has(result, { image_size: [28, 28], position_size: [56, 56] });
  assert.equal(result.prepare.crop, 28);
  has(ours({ ...config, model_type: "vit" }, {}, PIXELS), { image_size: [56, 56], position_size: undefined });
});

test("a separate image_size resizes the folder's positions, and a processor for another size is not used", () => {
  has(ours(VIT, { image_size: [64, 16] }), { image_size: [64, 16], position_size: [32, 32] });
  has(ours(VIT, { image_size: [32, 32] }), { image_size: [32, 32], position_size: undefined });
  const other = ours({ ...VIT, model_type: "dinov2" }, { image_size: [64, 16] }, PIXELS);
  has(other, { image_size: [64, 16], prepare: undefined });
  assert.equal(ours(VIT, { image_size: [28, 28] }, PIXELS).prepare.crop, 28);
});

test("BLIP's vision tower and its processor's defaults", () => {
  const config = { model_type: "blip", vision_config: { hidden_size: 24, num_attention_heads: 2, image_size: 32, patch_size: 8 } };
  has(ours(config), { width: 24, heads: 2, image_size: [32, 32], norm_eps: 1e-5, activation: "gelu", prefix: ["class"] });
  has(ours({ model_type: "blip_vision_model", num_attention_heads: 3 }), { heads: 3 });
  has(ours({ ...config, vision_config: {} }, {}, {}).prepare, { resize: [384, 384], crop: 384, interpolation: "bicubic" });
});

const TIMM = { architecture: "vit_tiny_patch16_224", num_classes: 7, num_features: 192, global_pool: "token" };
const CFG = { input_size: [3, 64, 96], mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5], license: "mit" };

test("timm's architecture tells heads, if the width is the published one, activation and eps", () => {
  for (const [architecture, num_features, heads, activation = "gelu", norm_eps = 1e-6] of [
    ["vit_tiny_patch16_224", 192, 3], ["vit_tiny_patch16_224", 128, undefined], ["vit_base_patch16_224", 768, 12],
    ["beitv2_large_patch16_224", 1024, 16], ["test_vit", 64, 2], ["test_vit2", 64, 2], ["test_vit3", 96, 3], ["vit_so150m2_patch16_reg1_gap_256", 832, 13],
    ["vit_huge_patch14_clip_quickgelu_224", 1280, 16, "quick_gelu", 1e-5], ["vit_gigantic_patch14_clip_224", 1664, 16, "gelu", 1e-5],
    ["vit_giantopt_patch16_siglip_256", 1536, 16, "gelu_tanh"], ["vit_so400m_patch14_siglip_224", 1152, 16],
    ["vit_so400m_patch16_siglip_gap_256", 1152, 16, "gelu_tanh"], ["vit_base_patch16_plus_240", 896, 14],
    ["vit_base_patch16_gap_224", 768, 16], ["vit_base_patch16_gap_224", 384, undefined],
  ]) {
    const timmConfig = { ...TIMM, architecture, num_features };
    for (const config of [timmConfig, { ...timmConfig, model_type: "timm_wrapper" }]) has(ours(config), { heads, activation, norm_eps, position_resize: "antialias" });
  }
});

test("timm's architecture tells rotary positions and how a Perception Encoder pools", () => {
  const pe = { position: "rotary", rotary_places: "from_1", rotary_first: "columns", norm_eps: 1e-5 };
  for (const [architecture, global_pool, keys] of [
    ["vit_pe_core_base_patch16_224", "map", { ...pe, rotary_grid: [14, 14], pool: "attention", pool_prefix: true }],
    ["vit_pe_core_large_patch14_336", "avg", { ...pe, rotary_grid: [24, 24], pool: "mean", pool_prefix: false }],
    ["vit_pe_spatial_tiny_patch16_512", "avg", { ...pe, rotary_grid: [32, 32], pool: "mean" }],
    ["vit_small_patch16_rope_mixed_ape_224", "token", { position: "rotary", rotary_frequencies: "learned", rotary_places: "from_0" }],
    ["vit_small_patch16_rope_224", "token", { position: "rotary", rotary_frequencies: undefined }],
    ["vit_medium_patch16_rope_reg1_gap_256", "avg", { position: "rotary", rotary_base: 10000, rotary_first: "rows", rotary_grid: [16, 16] }],
    ["vit_small_patch16_dinov3", "map", { position: "rotary", pool: "attention", pool_prefix: true }],
    ["eva_giant_patch14_clip_224", "token", { position: "learned", norm_eps: 1e-6 }],
    ["vit_tiny_patch16_224", "map", { position: "learned", pool_prefix: false }],
    ["vit_base_patch16_clip_224", "token", { position: "learned" }],
  ]) has(ours({ ...TIMM, architecture, global_pool, pretrained_cfg: CFG }), keys);
});

test("timm's model_args override the architecture's values", () => {
  const model_args = { num_heads: 2, act_layer: "relu", img_size: 32, in_chans: 1, global_pool: "prr" };
  has(ours({ ...TIMM, model_args, pretrained_cfg: CFG }), {
    heads: 2, activation: "relu", image_size: [32, 32], channels: 1, pool: "prr",
  });
  for (const [key, word] of Object.entries({ norm_layer: "layernorm", attn_layer: "attn", block_fn: "Block", mlp_layer: "Mlp" })) {
    has(ours({ ...TIMM, model_args: { [key]: word } }), { pool: "class" });
    refused({ ...TIMM, model_args: { [key]: "rms" } }, new RegExp(`model_args.${key}: rms is not known here`));
  }
  refused({ ...TIMM, model_args: { use_post_norm: true } }, /model_args.use_post_norm: true is not known here/);
  refused({ ...TIMM, global_pool: "abs_attn" }, /global_pool: expected one of token, avg, map, max, avgmax, prr/);
});

test("whether timm pools the prefix is told by model_args, the architecture or a licence", () => {
  has(ours({ ...TIMM, pretrained_cfg: CFG }), { pool_prefix: false });
  const old = { ...TIMM, pretrained_cfg: { ...CFG, license: undefined } };
  has(ours({ ...old, global_pool: "map" }), { pool_prefix: undefined });
  has(ours({ ...old, global_pool: "avg" }), { pool_prefix: false });
  has(ours({ ...TIMM, model_args: { pool_include_prefix: true } }), { pool_prefix: true });
  has(ours({ ...TIMM, architecture: "test_vit3" }), { pool_prefix: true });
});

test("a flat config of timm 0.6 is translated", () => {
  const { prepare, ...flat } = ours({ ...TIMM, ...CFG, labels: ["a", "b"] });
  has(flat, { channels: 3, image_size: [64, 96], pool: "class", labels: ["a", "b"] });
  assert.deepEqual(prepare.crop, [64, 96]);
});

test("timm's colours are averaged for a model of one channel, as its loader does", () => {
  const cfg = { ...CFG, mean: [0.1, 0.2, 0.6], std: [0.25, 0.5, 0.75] };
  const { prepare } = ours({ ...TIMM, model_args: { in_chans: 1 }, pretrained_cfg: cfg });
  assert.deepEqual([prepare.mean.map((mean) => mean.toFixed(6)), prepare.std], [["0.300000"], [0.5]]);
});

test("timm's labels may be numbered with gaps", () => {
  has(ours({ ...TIMM, label_names: { 0: "cat", 2: "dog" }, num_classes: 4 }), { labels: ["cat", "1", "dog", "3"] });
  has(ours({ ...TIMM, label_names: ["cat", "dog"] }), { labels: ["cat", "dog"] });
  for (const label_names of [{ "-1": "x" }, { 1.5: "x" }, { 1e9: "x" }, { cat: 0 }]) {
    refused({ ...TIMM, label_names }, /label_names: expected numbers below 1000000 as keys/);
  }
});

const TOWER = { image_size: 32, layers: 2, width: 96, head_width: 32, patch_size: 8 };
const openClip = (vision, model = {}, preprocess_cfg = {}) =>
  ({ model_cfg: { embed_dim: 24, vision_cfg: { ...TOWER, ...vision }, text_cfg: {}, ...model }, preprocess_cfg });

test("open_clip's config gives the keys that no tensor tells", () => {
  has(ours(openClip({})), { image_size: [32, 32], heads: 3, pool: "class", activation: "gelu", norm_eps: 1e-5 });
  has(ours(openClip({ pool_type: "avg" }, { quick_gelu: true })), { pool: "mean", activation: "quick_gelu" });
  has(ours(openClip({ act_kwargs: { approximate: "tanh" }, norm_kwargs: { eps: 1e-6 } })), { activation: "gelu_tanh", norm_eps: 1e-6 });
  assert.deepEqual(ours(openClip({})).prepare, {
    kind: "photo", resize: 32, crop: 32, interpolation: "bicubic",
    mean: [0.48145466, 0.4578275, 0.40821073], std: [0.26862954, 0.26130258, 0.27577711],
  });
  const squashed = ours(openClip({ image_size: [32, 48] }, {}, { mean: [0, 0, 0], std: [1, 1, 1], interpolation: "bilinear", resize_mode: "squash" }));
  assert.deepEqual(squashed.prepare, { kind: "photo", resize: [32, 48], crop: [32, 48], interpolation: "bilinear", mean: [0, 0, 0], std: [1, 1, 1] });
});

test("a timm tower in open_clip gets the values of its timm architecture", () => {
  const timm_model_name = "vit_so400m_patch16_siglip_256";
  has(ours(openClip({ timm_model_name, timm_pool: "map" })), { pool: "attention", activation: "gelu_tanh", norm_eps: 1e-6, image_size: [32, 32] });
  refused(openClip({ timm_model_name: "convnext_base" }), /architecture: convnext_base is not known here/);
});

test("open_clip's keys that a plain ViT does not have are refused by name", () => {
  refused(openClip({ attentional_pool: true }), /vision_cfg\.attentional_pool: expected none/);
  refused(openClip({ layers: [3, 4, 6, 3] }), /vision_cfg\.layers: expected a number: a ResNet/);
  refused(openClip({ pool_type: "none" }), /vision_cfg\.pool_type: expected one of tok, avg/);
  refused(openClip({}, {}, { resize_mode: "longest" }), /resize_mode: expected one of shortest, squash/);
});
