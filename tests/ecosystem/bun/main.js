import { Vit } from "vitrine";

const weights = new URL(import.meta.resolve("vitrine/weights/digits.safetensors"));
const vit = await Vit.load(weights, { threads: 2 });
const strokes = [[{ x: 140, y: 40, width: 20 }, { x: 140, y: 240, width: 20 }]];
const { classes } = await vit.classify({ strokes, width: 280, height: 280 });
console.log(JSON.stringify(classes[0]));
vit.dispose();
