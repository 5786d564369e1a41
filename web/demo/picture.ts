/** Makes one picture of the drawing, its map and the answer, for the visitor to save. */
import { drawStroke, SIDE } from "./ink.ts";
import { explain, paintOverlay } from "./overlay.ts";
import { drawPhoto } from "./photo.ts";
import type { State } from "./state.ts";
import { words } from "./texts/words.ts";
import { sentence } from "./verdict.ts";

const WIDTH = 1080;
const MARGIN = 48;
const CAPTION = 216;

/** The colours and the font of the page's style sheet. */
export interface Look {
  paper: string;
  ink: string;
  quiet: string;
  serif: string;
}

export function lookOf(pad: Element): Look {
  const style = getComputedStyle(pad);
  const get = (name: string) => style.getPropertyValue(name);
  const paper = getComputedStyle(pad.parentElement!).backgroundColor;
  const quiet = getComputedStyle(pad.parentElement!.querySelector("p")!).color; // of the hint
  return { paper, ink: style.color, quiet, serif: get("--serif") || "serif" };
}

/** Draws paper, map and ink, or a photo and its map, in a context in pad units. */
export function drawPicture(context: CanvasRenderingContext2D, state: State, { paper, ink }: Look): void {
  context.fillStyle = paper;
  context.fillRect(0, 0, SIDE, SIDE);
  if (state.photo) drawPhoto(context, state.photo);
  paintOverlay(context, state);
  context.strokeStyle = ink;
  for (const stroke of state.strokes) drawStroke(context, stroke);
}

export function pictureOf(state: State, look: Look): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = WIDTH + CAPTION;
  const context = canvas.getContext("2d")!;
  context.fillStyle = look.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.save();
  context.scale(WIDTH / SIDE, WIDTH / SIDE);
  context.beginPath();
  context.rect(0, 0, SIDE, SIDE);
  context.clip(); // because a stroke may go beyond the pad
  drawPicture(context, state, look);
  context.restore();
  writeCaption(context, state, look);
  return canvas;
}

function writeCaption(context: CanvasRenderingContext2D, state: State, { ink, quiet, serif }: Look): void {
  context.fillStyle = ink;
  context.fillRect(0, WIDTH, WIDTH, 2);
  context.font = `72px ${serif}`;
  context.fillText(captionOf(state), MARGIN, WIDTH + 88, WIDTH - 2 * MARGIN);
  context.font = `italic 30px ${serif}`;
  context.fillText(explain(state), MARGIN, WIDTH + 142, WIDTH - 2 * MARGIN);
  context.fillStyle = quiet;
  context.font = `30px ${serif}`;
  context.fillText(`Vitrine, ${state.choice?.id ?? words.share.noModel}`, MARGIN, WIDTH + 188, WIDTH - 2 * MARGIN);
}

function captionOf({ reading }: State): string {
  if (!reading) return words.share.unread;
  return sentence(reading.result);
}

/** Lets the browser save the picture under a name. */
export async function save(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>((made) => canvas.toBlob(made, "image/png"));
  if (!blob) throw new Error(words.share.noPng);
  download(blob, name);
}

/** Lets the browser save bytes under a name. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may still be reading it
}
