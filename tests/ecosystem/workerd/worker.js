import { Vit } from "vitrine";
import wasm from "vitrine/vit.simd128.wasm";
import weights from "vitrine/weights/digits.safetensors";

let loading;

export default {
  async fetch() {
    const vit = await (loading ??= Vit.load(weights, { wasm })); // once for all requests
    const strokes = [[{ x: 140, y: 40, width: 20 }, { x: 140, y: 240, width: 20 }]];
    const { classes } = await vit.classify({ strokes, width: 280, height: 280 });
    return Response.json(classes[0]);
  },
};
