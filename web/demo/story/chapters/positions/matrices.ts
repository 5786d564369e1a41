/** The attention matrix of the drawing, and that of its patches in another order: its rows and columns swap with them. */
import { accent, css, cssHeat, tone } from "../../../colour.ts";
import { h, write } from "../../../dom.ts";
import { scaled } from "../../../figure/canvas.ts";
import { saveable } from "../../../figure/parts.ts";
import { percent } from "../../../texts/words.ts";
import { type Comparison, layerAndHead } from "./kinds.ts";
import { briefly, isInOrder, largestChange, putBack, ROUNDING } from "./numbers.ts";
import type { Words } from "./texts/en.ts";

export function buildMatrices(words: Words) {
  const canvases = [words.matrixBefore, words.matrixAfter].map((label) =>
    saveable(h("canvas", { className: "matrix" }), label));
  const title = [h("figcaption"), h("figcaption")], scale = h("p", { className: "matrix-scale" });
  const figures = canvases.map((canvas, at) => h("figure", {}, title[at]!, canvas, at === 0 ? scale : ""));
  const says = h("p", { id: "positions-equivariance" });

  const draw = (comparison: Comparison) => {
    const { before, after, order, config: { prefix }, scene: { dark } } = comparison, [layer, head] = layerAndHead(comparison);
    const [first, then] = [before, after].map(({ attention }) => attention!.at(layer, head)) as [Float32Array, Float32Array];
    const top = first.reduce((most, value) => Math.max(most, value), 0);
    const moved = order.flatMap((patch, place) => (patch === place ? [] : [place + prefix.length]));
    // Two swapped patches keep their colours, so that the second picture has them in each other's place.
    const [own, other] = moved.length === 2 ? moved : [];
    paintMatrix(canvases[0]!, first, top, dark, own, other);
    paintMatrix(canvases[1]!, then, top, dark, other, own);
    for (const caption of title) write(caption, words.matrix({ block: layer + 1, head: head + 1 }));
    write(scale, words.scale({ top: percent(top) }));
    const change = largestChange(first, putBack(then, order, prefix.length));
    says.dataset.change = String(change);
    write(says, isInOrder(order) ? words.rows
      : change <= ROUNDING ? words.equivariant({ change: briefly(change) }) : words.different({ change: briefly(change) }));
  };
  return { figures, says, draw };
}

/** Draws a matrix (T,T), with the rows and columns of two tokens outlined. */
function paintMatrix(canvas: HTMLCanvasElement, matrix: Float32Array, top: number, dark: boolean, own?: number, other?: number): void {
  const T = Math.sqrt(matrix.length), side = canvas.clientWidth || 230, context = scaled(canvas, side, side, T, T);
  context.fillStyle = css(tone(0, dark));
  context.fillRect(0, 0, T, T);
  matrix.forEach((value, i) => {
    if (value < top / 500) return; // as white as the paper
    context.fillStyle = cssHeat(value / top, dark);
    context.fillRect(i % T, Math.floor(i / T), 1, 1);
  });
  context.lineWidth = 0.35;
  for (const [token, colour] of [[own, css(accent(dark))], [other, css(tone(0.55, dark))]] as const) {
    if (token === undefined) continue;
    context.strokeStyle = colour;
    context.strokeRect(0, token, T, 1);
    context.strokeRect(token, 0, 1, T);
  }
}
