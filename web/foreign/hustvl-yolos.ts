/** YOLOS in its authors' own files: timm's names in a backbone, and detection tokens, whose positions follow those of the patches. */
import type { Family } from "./family.js";
import { IMAGENET, withEdges } from "./processor.js";
import { TIMM } from "./timm.js";

export const HUSTVL_YOLOS: readonly Family[] = [{
  name: "hustvl's YOLOS",
  anchors: TIMM.anchors,
  needs: ["det_token", "class_embed.layers.0.weight"],
  fits: ({ prefix }) => prefix.endsWith("backbone."),
  variant: true,
  names: "det_token det_token",
  fixed: { norm: "pre", norm_eps: 1e-6, activation: "gelu" },
  assumed: ["image_size", "prepare"],
  heads: { 330: 6 },
  // Pixels that fill no patch are left out, as of 1333 columns.
  patches(tensors) {
    const [, channels, ...patch] = tensors.tensor("patch_embed.proj.weight")!.shape as [number, number, number, number];
    return { channels, patch_size: patch, patch_stride: patch };
  },
  /** Its tiny one, 192 wide, is evaluated on smaller photos than the others. */
  prepare: (width, image) =>
    ({ kind: "photo", ...withEdges(image, width === 192 ? [512, 853] : [800, 1333]), ...IMAGENET, interpolation: "bilinear" }),
  /** Of the published models: 512×864, 800×1333 and 800×1344 pixels. */
  grids: { 1728: [32, 54], 4150: [50, 83], 4200: [50, 84] },
  resize: "plain",
}];
