// A model that is no plain ViT is refused by its name, before its weights are read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Vit } from "../../dist/vit.js";
import { headerBytes, splitFile } from "../../web/base/safetensors.mjs";
import { modelBytes } from "./golden.mjs";
import { load, rejects } from "./support.mjs";

/** A file with a header whose data never arrive. */
function endless(bytes) {
  const header = headerBytes(splitFile(bytes).header);
  const state = { pulls: 0 };
  const body = new ReadableStream({
    pull(controller) {
      if (state.pulls++ === 0) controller.enqueue(new Uint8Array(header));
      else return new Promise(() => {});
    },
  });
  return { state, response: new Response(body) };
}

const refused = async (config, message) => {
  const { response } = endless(modelBytes("families/vit"));
  await rejects(() => Vit.load({ weights: response, config }), "bad_config", message);
};

test("a model_type that is no plain ViT is refused, and the error lists the known ones", async () => {
  for (const type of ["swin", "beitv3", "sam", "sam_vision_model", "convnext", "resnet", "eva", "siglip2", "dinov3_convnext", "bert"]) {
    await refused({ model_type: type }, new RegExp(`^config: model_type: ${type} is not known here; known are vit, deit, .*clip, siglip`));
  }
  await refused({ model_type: { toString: 1 } }, /model_type: \{"toString":1\} is not known here/);
  await refused({ model_type: "constructor" }, /model_type: constructor is not known here/);
});

test("a timm architecture that is no plain ViT is refused, even if its name contains a ViT's", async () => {
  const others = [
    "swin_tiny_patch4_window7_224", "samvit_base_patch16", "convnext_tiny", "resnet50",
    "eva02_enormous_patch14_clip_224", "vitamin_small_224", "volo_d1_224", "xcit_nano_12_p16_224",
    "nest_tiny", "cait_xxs24_224", "naflexvit_base_patch16_gap", "aimv2_large_patch14_224", "beit3_base_patch16_224",
    "mobilevit_s", "crossvit_9_240", "levit_128", "tiny_vit_5m_224", "davit_tiny", "vitx",
  ];
  for (const architecture of others) {
    await refused({ architecture }, new RegExp(`^config: architecture: ${architecture} is not known here; known are timm's vit_`));
  }
  for (const [architecture, why] of [
    ["vit_relpos_base_patch32_plus_rpn_256", "norms follow"],
    ["vit_tiny_r_s16_p8_224", "convolutions"],
    ["vit_base_r50_s16_224", "convolutions"],
    ["vit_small_resnet50d_s16_224", "convolutions"],
    ["vit_base_mci_224", "convolutions"],
    ["vit_dlittle_patch16_reg1_gap_256", "differential"],
    ["vit_dwee_patch16_reg1_gap_256", "differential"],
    ["vit_dpwee_patch16_reg1_gap_256", "differential"],
    ["vit_pwee_patch16_reg1_gap_256", "parallel"],
    ["vit_huge_patch14_xp_224", "parallel"],
    ["vit_small_patch16_18x2_224", "parallel"],
    ["vit_base_patch16_rpn_224", "norms follow"],
    ["test_vit4", "RMSNorm"],
  ]) {
    await refused({ architecture }, new RegExp(`^config: architecture: ${architecture} is not known here, because .*${why}.*; known are`));
  }
});

test("the names of timm's plain ViTs are not refused", async () => {
  const weights = modelBytes("families/torchvision");
  for (const architecture of [
    "vit_tiny_patch16_224", "vit_base_patch16_224_miil", "vit_small_patch16_36x1_224", "vit_wee_patch16_reg1_gap_256",
    "vit_mediumd_patch16_reg4_gap_256", "vit_little_patch16_reg4_gap_256", "vit_giant_patch14_clip_224",
    "vit_giantopt_patch16_siglip_256", "vit_so400m_patch14_reg1_tipsv2", "vit_intern300m_patch14_448",
    "vit_base_patch14_reg4_dinov2", "deit_tiny_distilled_patch16_224", "deit3_huge_patch14_224", "flexivit_small",
    "vit_small_plus_patch16_dinov3_qkvb", "vit_medium_patch16_rope_reg1_gap_256", "vit_giant_patch14_reg4_dinov2", "eva02_tiny_patch14_224",
    "eva_large_patch14_336", "eva_giant_patch14_560", "eva_giant_patch14_clip_224", "vit_srelpos_small_patch16_224", "beit_base_patch16_224", "test_vit", "test_vit2", "test_vit3",
  ]) {
    assert.equal((await load({ weights, config: { architecture } })).config.depth, 2, architecture);
  }
});
