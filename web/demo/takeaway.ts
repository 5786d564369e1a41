/** What a visitor takes along: the drawing's picture, and the code that classifies it outside of the page. */
import { element } from "./dom.ts";
import { PEN, SIDE, type Stroke } from "./ink.ts";
import { type ModelFile, MODELS, SIGNS_FILE } from "./models.ts";
import { pictureFile } from "./picture.ts";
import { download } from "./save.ts";
import { copyText } from "./send.ts";
import { isBlank, type State } from "./state.ts";
import { allWords, words } from "./texts/words.ts";

/** What the code is for: the values of the dialog's radio buttons. */
type Target = "node" | "page";

/** What code loads. Only the first model is in the package; the visitor's own is what *My signs* downloads. */
function weightsOf({ id, url, own }: ModelFile, inPackage: string): string {
  if (own) return `new URL("${SIGNS_FILE}", import.meta.url)`;
  return `new URL(${id === "digits" ? inPackage : JSON.stringify(new URL(url, document.baseURI).href)})`;
}

const strokesOf = (strokes: Stroke[]) => `// x, y, and the pen's width where it is not ${PEN}, on a pad of ${SIDE} × ${SIDE}
const strokes = [
${strokes.map(strokeText).join("\n")}
].map((stroke) => stroke.map(([x, y, width = ${PEN}]) => ({ x, y, width })));
`;

/** A module for Node that needs nothing but the package. */
const forNode = (strokes: Stroke[], choice: ModelFile) => `// npm install vitrine
import { Vit } from "vitrine";

${strokesOf(strokes)}
const vit = await Vit.load(${weightsOf(choice, `import.meta.resolve("vitrine/weights/digits.safetensors")`)});
const { classes } = await vit.classify({ strokes, width: ${SIDE}, height: ${SIDE} });
console.log(classes[0]); // label, index and probability
vit.dispose();
`;

/** A whole page. It draws strokes as ink.ts does. */
const forPage = (strokes: Stroke[], choice: ModelFile) => `<!doctype html>
<!-- Save this as index.html, and beside it run: npm install vitrine
     Then open it from a web server, such as: npx http-server -->
<meta charset="utf-8" />
<title>Vitrine</title>
<style>
  div { position: relative; width: ${SIDE}px; height: ${SIDE}px; }
  canvas { position: absolute; inset: 0; }
</style>
<div>
  <canvas id="map" width="${SIDE}" height="${SIDE}"></canvas>
  <canvas id="ink" width="${SIDE}" height="${SIDE}"></canvas>
</div>
<output></output>
<script type="module">
  import { drawOverlay, Vit } from "./node_modules/vitrine/dist/vit.js";

${strokesOf(strokes).replace(/^(?=.)/gm, "  ")}
  const context = document.querySelector("#ink").getContext("2d");
  context.lineCap = context.lineJoin = "round";
  const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, width: (a.width + b.width) / 2 });
  for (const stroke of strokes) {
    let from = stroke[0];
    for (const [i, point] of stroke.entries()) {
      if (i === 0 && stroke.length > 1) continue; // a point bends the curve between the middles beside it
      const to = i + 1 < stroke.length ? middle(point, stroke[i + 1]) : { ...point, x: point.x + 0.01 };
      context.beginPath();
      context.lineWidth = (from.width + to.width) / 2;
      context.moveTo(from.x, from.y);
      context.quadraticCurveTo(point.x, point.y, to.x, to.y);
      context.stroke();
      from = to;
    }
  }

  const vit = await Vit.load(${weightsOf(choice, `"./node_modules/vitrine/weights/digits.safetensors", import.meta.url`)}, { worker: true });
  const drawing = { strokes, width: ${SIDE}, height: ${SIDE} };
  const { classes, attention, placement } = await vit.classify(drawing, { attention: true });
  const { label, p } = classes[0];
  document.querySelector("output").textContent = \`\${label}, \${(100 * p).toFixed(2)} %\`;
  drawOverlay(document.querySelector("#map"), attention.fromClass(), { grid: attention.grid, placement });
  vit.dispose();
</script>
`;

const CODES: Record<Target, (strokes: Stroke[], choice: ModelFile) => string> = { node: forNode, page: forPage };

/** One stroke, in lines of at most 96 characters. */
function strokeText(stroke: Stroke): string {
  const lines = ["  ["];
  for (const { x, y, width } of stroke) {
    const point = `[${(width === PEN ? [x, y] : [x, y, width]).join(", ")}], `;
    if (lines.at(-1)!.length + point.length > 96) lines.push("   ");
    lines[lines.length - 1] += point;
  }
  return lines.map((line) => line.trimEnd()).join("\n").replace(/,$/, "],");
}

/** Returns what shows the code of a drawing in the page's dialog. */
function buildCode(dialog: HTMLDialogElement): (strokes: Stroke[], choice: ModelFile) => void {
  const code = dialog.querySelector("code")!;
  const word = dialog.querySelector("[role=status]")!;
  let fill = (_target: Target) => {};
  const show = () => {
    fill(dialog.querySelector<HTMLInputElement>(":checked")!.value as Target);
    word.textContent = "";
  };
  dialog.querySelector("fieldset")!.addEventListener("change", show);
  dialog.querySelector("#copy")!.addEventListener("click", () => void copyText(code.textContent!, code, (text) => (word.textContent = text)));
  return (strokes, choice) => {
    fill = (target) => (code.textContent = CODES[target](strokes, choice));
    show();
    dialog.showModal();
  };
}

/** Lets the buttons save the picture and show the code. @param say puts a text into the status line. */
export function listenToTakeaway(state: State, say: (word: string) => void): void {
  const showCode = buildCode(element<HTMLDialogElement>("code-dialog"));
  element("save").addEventListener("click", async () => {
    if (isBlank(state)) return;
    try {
      const file = await pictureFile(state);
      download(file, file.name);
      say(allWords().send.saved);
    } catch (error) {
      say(words.trouble.action({ why: (error as Error).message }));
    }
  });
  element("code").addEventListener("click", () => {
    if (state.strokes.length > 0) showCode(state.strokes, state.choice ?? MODELS[0]);
  });
}
