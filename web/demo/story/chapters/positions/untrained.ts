/** A tiny model for an image of 60 × 100 pixels, with random weights: only its tokens are looked at. */
import { Vit } from "vitrine";
import { seeded } from "../../../../base/scramble.mjs";
import { writeSafetensors } from "../../../../base/safetensors.mjs";

export const WIDE = { rows: 60, cols: 100, patchRows: 20, patchCols: 20, gridRows: 3, gridCols: 5 };
export const WIDTH = 16;
const MLP = 16, CLASSES = 2;

/** Every tensor's shape. The patches' filters come first, because all models then have the same. */
const SHAPES: Record<string, number[]> = {
  "patch_embed.proj.weight": [WIDTH, 1, WIDE.patchRows, WIDE.patchCols],
  "patch_embed.proj.bias": [WIDTH],
  cls_token: [1, 1, WIDTH],
  "blocks.0.norm1.weight": [WIDTH],
  "blocks.0.norm1.bias": [WIDTH],
  "blocks.0.attn.qkv.weight": [3 * WIDTH, WIDTH],
  "blocks.0.attn.qkv.bias": [3 * WIDTH],
  "blocks.0.attn.proj.weight": [WIDTH, WIDTH],
  "blocks.0.attn.proj.bias": [WIDTH],
  "blocks.0.norm2.weight": [WIDTH],
  "blocks.0.norm2.bias": [WIDTH],
  "blocks.0.mlp.fc1.weight": [MLP, WIDTH],
  "blocks.0.mlp.fc1.bias": [MLP],
  "blocks.0.mlp.fc2.weight": [WIDTH, MLP],
  "blocks.0.mlp.fc2.bias": [WIDTH],
  "norm.weight": [WIDTH],
  "norm.bias": [WIDTH],
  "head.weight": [CLASSES, WIDTH],
  "head.bias": [CLASSES],
};

export function untrained(position: "sincos1d" | "sincos2d"): Promise<Vit> {
  const random = seeded(20);
  const tensors = new Map(Object.entries(SHAPES).map(([name, shape]) => {
    const size = shape.reduce((a, b) => a * b), inputs = size / shape[0]!;
    const reach = Math.sqrt(3 / inputs); // uniform numbers whose variance is 1 / inputs
    return [name, { shape, data: Float32Array.from({ length: size }, () => (2 * random() - 1) * reach) }];
  }));
  const config = {
    image_size: [WIDE.rows, WIDE.cols], patch_size: [WIDE.patchRows, WIDE.patchCols], channels: 1,
    width: WIDTH, depth: 1, heads: 2, mlp_width: MLP, classes: CLASSES, norm: "pre", position, pool: "class",
    prefix: ["class"], labels: ["a", "b"], prepare: { kind: "digit" },
  };
  return Vit.load(writeSafetensors({ config, tensors }));
}
