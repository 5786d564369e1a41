/** A photo of a digit, which lies on the pad in the strokes' place. */
import type { Placement } from "vitrine";
import { SIDE } from "./ink.ts";

export interface Photo {
  file: Blob; // what the model reads
  width: number; // of the file's picture, in its own pixels
  height: number;
  canvas: HTMLCanvasElement; // the same, no larger than a screen needs
}

/** Where a rectangle of the photo's own pixels lies on the pad, which shows the whole photo in its middle. */
export function onPad({ width, height }: Photo, place: Placement): Placement {
  const scale = SIDE / Math.max(width, height);
  return {
    left: (SIDE - width * scale) / 2 + place.left * scale,
    top: (SIDE - height * scale) / 2 + place.top * scale,
    width: place.width * scale,
    height: place.height * scale,
  };
}

/** Draws a photo in a context in pad units. */
export function drawPhoto(context: CanvasRenderingContext2D, photo: Photo): void {
  const { width, height, canvas } = photo, place = onPad(photo, { left: 0, top: 0, width, height });
  context.imageSmoothingQuality = "high";
  context.drawImage(canvas, place.left, place.top, place.width, place.height);
}
