import { Vit } from "vitrine";

export const dynamic = "force-dynamic";
const weights = "node_modules/vitrine/weights/digits.safetensors"; // where `next start` runs
let loading;

export async function GET() {
  const vit = await (loading ??= Vit.load(weights)); // once for all requests
  const strokes = [[{ x: 140, y: 40, width: 20 }, { x: 140, y: 240, width: 20 }]];
  const { classes } = await vit.classify({ strokes, width: 280, height: 280 });
  return Response.json(classes[0]);
}
