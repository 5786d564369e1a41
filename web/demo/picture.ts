/** Makes one picture of the drawing, its map and the answer, as large as the preview of a link. */
import { answerOf } from "./answer.ts";
import { h } from "./dom.ts";
import { SIDE } from "./ink.ts";
import { fit, heightOf, writeLines } from "./lettering.ts";
import { percent } from "./texts/words.ts";
import { looksOf } from "./looks.ts";
import { explain, paintOverlay, scaleEnd } from "./overlay.ts";
import { drawInk } from "./pad.ts";
import { drawPhoto } from "./photo.ts";
import { pngOf } from "./save.ts";
import type { State } from "./state.ts";

const WIDTH = 1200, HEIGHT = 630, MARGIN = 40, PAD = HEIGHT - 2 * MARGIN;
/** The column of words beside the pad. */
const LEFT = PAD + 2 * MARGIN + 16, RIGHT = WIDTH - MARGIN - 4;
/** The answer's box. A sign of more letters has the words below it. */
const TOP = 54, FOOT = 230, LETTERS = 3;

type Context = CanvasRenderingContext2D;

/** Draws paper, map and ink, or a photo and its map, in a context in pad units. */
export function drawPicture(context: Context, state: State, [paper, ink]: readonly [string, string]): void {
  context.fillStyle = paper;
  context.fillRect(0, 0, SIDE, SIDE);
  if (state.photo) drawPhoto(context, state.photo);
  paintOverlay(context, state);
  drawInk(context, state.strokes, ink);
}

export const lookOf = (pad: Element): [paper: string, ink: string] =>
  [getComputedStyle(pad.parentElement!).backgroundColor, getComputedStyle(pad).color];

/** The colour of a name of the style sheet. Only an element knows it, because it depends on the theme. */
function colour(name: string): string {
  const probe = document.body.appendChild(h("i"));
  Object.assign(probe.style, { color: `var(--${name})`, forcedColorAdjust: "none" });
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const family = (name: string) => getComputedStyle(document.body).getPropertyValue(`--${name}`);

function pictureOf(state: State): HTMLCanvasElement {
  const canvas = h("canvas", { width: WIDTH, height: HEIGHT });
  const context = canvas.getContext("2d")!;
  context.fillStyle = colour("ground");
  context.fillRect(0, 0, WIDTH, HEIGHT);
  hangDrawing(context, state);
  writeAnswer(context, state);
  if (scaleEnd(state)) writeLegend(context, state, writeLooks(context, state, FOOT + 40) + 22);
  writeFoot(context);
  return canvas;
}

/** The picture as a file, named after the answer. */
export async function pictureFile(state: State): Promise<File> {
  const { sign, unknown } = answerOf(state);
  return new File([await pngOf(pictureOf(state))], `vitrine-${sign && !unknown ? sign : "drawing"}.png`, { type: "image/png" });
}

/** The pad as it hangs on the page. Its round corners cut off strokes that go beyond. */
function hangDrawing(context: Context, state: State): void {
  context.save();
  context.beginPath();
  context.roundRect(MARGIN, MARGIN, PAD, PAD, 16);
  context.strokeStyle = colour("line");
  context.lineWidth = 3;
  context.stroke();
  context.clip();
  context.translate(MARGIN, MARGIN);
  context.scale(PAD / SIDE, PAD / SIDE);
  drawPicture(context, state, [colour("paper"), colour("ink")]);
  context.restore();
}

/** The sign, as large as it fits, and beside its foot how certain it is. */
function writeAnswer(context: Context, state: State): void {
  const { sign, pale, word, detail, unknown } = answerOf(state);
  const short = sign.length <= LETTERS, ink = colour(pale ? "pale" : "ink");
  const end = !sign ? LEFT : writeSign(context, sign, ink, short ? [LEFT + 240, FOOT] : [RIGHT, FOOT - 92]);
  const left = short && sign ? end + 30 : LEFT;
  const type = { family: family("sans"), width: RIGHT - left };
  const certain = fit(context, word, { ...type, weight: 600, size: 30, lines: short ? 3 : 1 });
  const share = fit(context, detail, { ...type, size: 21, lines: short ? 3 : 1 });
  const top = FOOT + 7 - heightOf(certain) - heightOf(share); // the last line stands on the sign's foot
  const voice = unknown ? "ink" : pale || !sign ? "quiet" : "voice";
  writeLines(context, share, left, writeLines(context, certain, left, top, [colour(voice)]), [colour("quiet")]);
}

/** Fits the sign's ink between the column's left and top and a corner. Returns its right. */
function writeSign(context: Context, sign: string, ink: string, [right, foot]: readonly [number, number]): number {
  const boxAt = (size: number) => {
    context.font = `500 ${size}px ${family("serif")}`;
    const box = context.measureText(sign), left = box.actualBoundingBoxLeft;
    return { left, width: left + box.actualBoundingBoxRight, up: box.actualBoundingBoxAscent, down: box.actualBoundingBoxDescent };
  };
  const { width, up, down } = boxAt(100);
  const box = boxAt(100 * Math.min(2.6, (right - LEFT) / width, (foot - TOP) / (up + down)));
  context.fillStyle = ink;
  context.fillText(sign, LEFT + box.left, foot - box.down);
  return LEFT + box.width;
}

/** Where the model looks, the place in the model's colour. Returns the bottom. */
function writeLooks(context: Context, state: State, top: number): number {
  const [before, place, after] = looksOf(state);
  const sentence = fit(context, before + place + after, { family: family("serif"), size: 28, width: RIGHT - LEFT, lines: 4 });
  const span = [before.length, before.length + place.length] as const;
  return writeLines(context, sentence, LEFT, top, [colour("ink"), colour("voice")], span);
}

/** The map's colours with both ends, and which map it is. */
function writeLegend(context: Context, state: State, top: number): void {
  const type = { family: family("sans"), size: 19, lines: 1 }, quiet = [colour("quiet")] as const, bar = 150;
  const least = fit(context, percent(0), { ...type, width: 80 });
  const x = LEFT + context.measureText(percent(0)).width + 14;
  writeLines(context, least, LEFT, top, quiet);
  const heat = context.createLinearGradient(x, 0, x + bar, 0);
  ["paper", "heat-mid", "voice"].forEach((name, i) => heat.addColorStop(i / 2, colour(name)));
  context.fillStyle = heat;
  context.beginPath();
  context.roundRect(x, top + 7, bar, 12, 6);
  context.fill();
  context.strokeStyle = colour("line");
  context.lineWidth = 1.5;
  context.stroke();
  const right = x + bar + 14;
  const next = writeLines(context, fit(context, scaleEnd(state), { ...type, width: RIGHT - right }), right, top, quiet);
  writeLines(context, fit(context, explain(state), { ...type, size: 17, lines: 3, width: RIGHT - LEFT }), LEFT, next + 4, quiet);
}

/** Name and address, at the pad's foot. */
function writeFoot(context: Context): void {
  const top = HEIGHT - MARGIN - 30;
  const name = fit(context, "Vitrine", { family: family("serif"), weight: 600, size: 24, width: 120, lines: 1 });
  writeLines(context, name, LEFT, top, [colour("ink")]);
  const left = LEFT + context.measureText("Vitrine").width + 16;
  const address = fit(context, displayAddress(), { family: family("sans"), size: 19, width: RIGHT - left, lines: 1 });
  writeLines(context, address, left, top + 4, [colour("quiet")]);
}

/** The page's address without what each address has. Empty where it means another machine to each reader. */
function displayAddress(): string {
  const { hostname, host, pathname } = location;
  if (/(^|\.)localhost$|^127\.|^\[::1\]$/.test(hostname)) return "";
  return (host + pathname).replace(/\/(index\.html)?$/, "");
}
