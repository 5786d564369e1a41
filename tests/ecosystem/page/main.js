import { Vit } from "vitrine";

const weights = new URL("vitrine/weights/digits.safetensors", import.meta.url);
const vit = await Vit.load(weights, { worker: true });
const strokes = [[{ x: 140, y: 40, width: 20 }, { x: 140, y: 240, width: 20 }]];
const { classes } = await vit.classify({ strokes, width: 280, height: 280 });
document.querySelector("output").textContent = JSON.stringify(classes[0]);
