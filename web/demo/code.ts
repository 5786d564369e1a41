/** The code that classifies this drawing outside of the page. */
import { PEN, SIDE, type Stroke } from "./ink.ts";
import type { ModelFile } from "./models.ts";
import { words } from "./texts/words.ts";

/** The weights in code. Only the first model is in the package. */
const weightsOf = ({ id, url }: ModelFile) =>
  id === "digits"
    ? `import.meta.resolve("vitrine/weights/digits.safetensors")`
    : JSON.stringify(new URL(url, document.baseURI).href);

/** A module for Node that needs nothing but the package. */
export function codeFor(strokes: Stroke[], choice: ModelFile): string {
  return `// npm install vitrine
import { Vit } from "vitrine";

// x, y, and the pen's width where it is not ${PEN}, on a pad of ${SIDE} × ${SIDE}
const strokes = [
${strokes.map(written).join("\n")}
].map((stroke) => stroke.map(([x, y, width = ${PEN}]) => ({ x, y, width })));

const vit = await Vit.load(new URL(${weightsOf(choice)}));
const { classes } = await vit.classify({ strokes, width: ${SIDE}, height: ${SIDE} });
console.log(classes[0]); // label, index and probability
vit.dispose();
`;
}

/** One stroke, in lines of at most 96 characters. */
function written(stroke: Stroke): string {
  const lines = ["  ["];
  for (const { x, y, width } of stroke) {
    const point = `[${(width === PEN ? [x, y] : [x, y, width]).join(", ")}], `;
    if (lines.at(-1)!.length + point.length > 96) lines.push("   ");
    lines[lines.length - 1] += point;
  }
  return lines.map((line) => line.trimEnd()).join("\n").replace(/,$/, "],");
}

/** Shows the code in the page's dialog. */
export function showCode(dialog: HTMLDialogElement, code: string): void {
  dialog.querySelector("code")!.textContent = code;
  dialog.querySelector("[role=status]")!.textContent = "";
  dialog.showModal();
}

export function listenToCode(dialog: HTMLDialogElement): void {
  const code = dialog.querySelector("code")!;
  const word = dialog.querySelector("[role=status]")!;
  dialog.querySelector("#copy")!.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent!);
      word.textContent = words.share.codeCopied;
    } catch {
      getSelection()?.selectAllChildren(code);
      word.textContent = words.share.codeRefused;
    }
  });
}
