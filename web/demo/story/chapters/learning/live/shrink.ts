/** Pictures as 28×28 grey pixels: the middle square, made smaller. */
import { h } from "../../../../dom.ts";
import { PIXELS } from "../../../../../base/digits.mjs";
import type { Grey } from "./own.ts";

const SIDE = Math.sqrt(PIXELS);

type Picture = ImageBitmap | HTMLCanvasElement;

function shrinker(): (picture: Picture) => Uint8Array {
  const pen = h("canvas", { width: SIDE, height: SIDE }).getContext("2d", { willReadFrequently: true })!;
  pen.imageSmoothingQuality = "high";
  return (picture) => {
    const { width, height } = picture, side = Math.min(width, height);
    pen.fillRect(0, 0, SIDE, SIDE); // black below what is transparent
    pen.drawImage(picture, (width - side) / 2, (height - side) / 2, side, side, 0, 0, SIDE, SIDE);
    const { data } = pen.getImageData(0, 0, SIDE, SIDE);
    return Uint8Array.from({ length: PIXELS }, (_, at) => Math.round(0.299 * data[4 * at]! + 0.587 * data[4 * at + 1]! + 0.114 * data[4 * at + 2]!));
  };
}

/** (photos, 28, 28). `prepared` is told how many are done. */
export async function shrinkPhotos(photos: readonly File[], prepared: (done: number) => void): Promise<Uint8Array> {
  const shrink = shrinker(), pixels = new Uint8Array(photos.length * PIXELS);
  for (const [at, photo] of photos.entries()) {
    const bitmap = await createImageBitmap(photo).catch((cause: unknown) => {
      throw new Error(`${photo.webkitRelativePath || photo.name}: expected an image, got a file that the browser cannot read`, { cause });
    });
    pixels.set(shrink(bitmap), at * PIXELS);
    bitmap.close();
    if (at % 100 === 0) prepared(at);
  }
  return pixels;
}

/** The same images, of 28×28 pixels. */
export function shrinkGrey(grey: Grey): Grey {
  const { rows, columns, pixels } = grey, size = rows * columns;
  if (rows === SIDE && columns === SIDE) return grey;
  const shrink = shrinker(), canvas = h("canvas", { width: columns, height: rows }), pen = canvas.getContext("2d")!;
  const image = new ImageData(columns, rows), small = new Uint8Array(grey.labels.length * PIXELS);
  for (let at = 0; at < grey.labels.length; at++) {
    image.data.forEach((_, i, data) => (data[i] = i % 4 === 3 ? 255 : pixels[at * size + (i >> 2)]!));
    pen.putImageData(image, 0, 0);
    small.set(shrink(canvas), at * PIXELS);
  }
  return { ...grey, rows: SIDE, columns: SIDE, pixels: small };
}
