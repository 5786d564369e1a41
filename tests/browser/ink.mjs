/** The visitor's ink, as the page keeps it in the tab. */
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const SIDE = 280; // of the pad, as in web/demo/ink.ts
let reader;

/** What is on the pad, for classify in Node. Call it after a finished stroke. */
export async function drawingOn(page) {
  reader ??= await pageReader();
  const strokes = await page.evaluate(`(() => { ${reader}; return ink.unpack(sessionStorage.getItem("vitrine-drawing")); })()`);
  return { strokes, width: SIDE, height: SIDE };
}

/** The page's own reader of packed drawings as a script, which runs in the page: it needs a canvas. */
async function pageReader() {
  const bundle = await rolldown({ input: fileURLToPath(new URL("../../web/demo/pack.ts", import.meta.url)) });
  const { output } = await bundle.generate({ format: "iife", name: "ink" });
  await bundle.close();
  return output[0].code;
}
