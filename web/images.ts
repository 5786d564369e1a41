import { type Arrays, countOf, isArray } from "./base/bytes.js";
import { HEAD_BYTES, isHeic } from "./base/heic.js";
import { isA } from "./base/kind.js";
import { hasOwn, kindOf, RAW, reason, show, VitError } from "./errors.js";

/** A DOM class, or `never` where the program has no DOM types, as in Node. */
export type Dom<Name extends string> =
  typeof globalThis extends Record<Name, { prototype: infer Type }> ? Type : never;

/** A `Uint8Array` of an `ArrayBuffer`, written so that TypeScript before 5.7 knows it too. */
export type Bytes = ReturnType<Uint8Array["slice"]>;

/** Bytes of pixels, row by row, channels interleaved: grey, grey+alpha, RGB or RGBA. */
export interface Pixels {
  readonly data: Uint8Array | Uint8ClampedArray | Float32Array;
  readonly width: number;
  readonly height: number;
  /** 1 to 4; found from the length of `data` by default. */
  readonly channels?: number;
}

/** A pen's position in pixels from the upper left corner, and its width there. */
export interface PenPoint {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/**
 * A pen's strokes on a pad of `width` × `height` pixels. A stroke is drawn as smooth curves through
 * the midpoints between its points, as on the demo page. A stroke of one point is a dot.
 */
export interface Drawing {
  readonly strokes: readonly (readonly PenPoint[])[];
  readonly width: number;
  readonly height: number;
  /** Whether the pen is still down. A model with `unfinished_ink` in its config then gets paler ink. */
  readonly unfinished?: boolean;
}

/**
 * Where the model's image lies in its source: a rectangle in the source's own pixels, or a drawing's
 * in those of its pad. It reaches beyond the source where the image has a border that the source does
 * not. For prepared values, the source is the image itself.
 */
export interface Placement {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Anything that shows an image. A Float32Array, alone or as `data`, holds (C,H,W) values
 * prepared for this model and is used as it is. All other images are prepared as the config's
 * `prepare` says. The image is copied when the call is made: later changes do not matter.
 */
export type ImageInput =
  | Float32Array
  | Pixels
  | Drawing
  | Blob
  | Dom<"ImageData">
  | Dom<"HTMLCanvasElement">
  | Dom<"OffscreenCanvas">
  | Dom<"ImageBitmap">
  | Dom<"HTMLImageElement">
  | Dom<"HTMLVideoElement">
  | Dom<"VideoFrame">;

/** @internal An image ready for the module: a private copy, without the DOM. */
export type Picture = {
  /** The picture's name in messages: "image", or "image 3" in a batch. */
  readonly name: string;
} & (
  | { readonly values: Float32Array<ArrayBuffer> }
  | {
      readonly pixels: Uint8Array<ArrayBuffer>;
      readonly rows: number;
      readonly columns: number;
      readonly channels: number;
      readonly unfinished?: never;
    }
  | Strokes
);

/** @internal A {@link Drawing} in the form that src/vit.h takes. */
export interface Strokes {
  /** (points, 3): x, y, width */
  readonly points: Float32Array<ArrayBuffer>;
  /** The number of points of each stroke. */
  readonly lengths: readonly number[];
  readonly rows: number;
  readonly columns: number;
  readonly unfinished: number; // 0 or 1, as wasm takes it
}

/** @internal The floats of one `vit_point`. */
export const POINT_FLOATS = 3;

/** @internal The array that holds a picture, which can be transferred to a worker. */
export function memoryOf(picture: Picture): Float32Array<ArrayBuffer> | Uint8Array<ArrayBuffer> {
  if ("values" in picture) return picture.values;
  return "points" in picture ? picture.points : picture.pixels;
}

/** @internal The (C,H,W) of the model's image. */
export type ImageShape = readonly [channels: number, rows: number, columns: number];

/** A DOM source's size, once it has loaded. The key is its class's name, equal in all realms. */
const DRAWABLES: Readonly<Record<string, (source: never) => Promise<Size> | Size>> = {
  HTMLCanvasElement: sizeOf,
  OffscreenCanvas: sizeOf,
  ImageBitmap: sizeOf,
  VideoFrame: (frame: VideoFrame) => ({ width: frame.displayWidth, height: frame.displayHeight }),
  HTMLVideoElement: (video: HTMLVideoElement) => ({
    width: video.readyState < 2 ? 0 : video.videoWidth,
    height: video.videoHeight,
  }),
  HTMLImageElement: (image: HTMLImageElement) =>
    image.complete ? imageSize(image) : image.decode().then(() => imageSize(image)),
};

interface Size {
  readonly width: number;
  readonly height: number;
}

function sizeOf({ width, height }: Size): Size {
  return { width, height };
}

const imageSize = ({ naturalWidth, naturalHeight }: HTMLImageElement): Size => ({
  width: naturalWidth,
  height: naturalHeight,
});

/** @internal Makes a picture that nobody else can change from any image source. */
export async function toPicture(
  image: ImageInput,
  shape: ImageShape,
  name: string,
): Promise<Picture> {
  try {
    return await pictureOf(image, shape, name);
  } catch (cause) {
    if (cause instanceof VitError) throw cause;
    const what = `${name}: expected an image that can be read, got one that cannot (${reason(cause)}); ${RAW}`;
    throw new VitError("bad_image", what, { cause });
  }
}

function pictureOf(image: ImageInput, shape: ImageShape, name: string): Promise<Picture> | Picture {
  if (isArray(image, "Float32Array")) return fromValues(image, shape, name);
  if (isA(image, "Blob")) return fromBlob(image, name);
  const kind = kindOf(image);
  if (hasOwn(DRAWABLES, kind)) return fromDrawable(image as CanvasImageSource, kind, name);
  if (typeof image === "object" && image !== null && "strokes" in image) {
    return fromDrawing(image as Drawing, name);
  }
  if (typeof image === "object" && image !== null && "data" in image && "width" in image) {
    return fromPixels(image as Pixels, shape, name);
  }
  throw noImage(name, image);
}

/** @internal */
export function noImage(name: string, image: unknown): VitError {
  return new VitError(
    "bad_image",
    `${name}: expected ImageData, {data, width, height}, {strokes, width, height}, a canvas, ` +
      `ImageBitmap, image, video, VideoFrame, Blob or Float32Array, got ${kindOf(image)}`,
  );
}

// Arrays are counted twice. The count before the copy saves the memory of a useless copy. The count
// after it is of memory that nobody else can change.

function fromValues(values: Float32Array, shape: ImageShape, name: string): Picture {
  const [channels, rows, columns] = shape;
  const count = channels * rows * columns;
  const copy = countOf(values) === count ? new Float32Array(values) : undefined;
  if (copy?.length !== count) {
    throw new VitError(
      "bad_image",
      `${name}: expected a Float32Array of ${count} values (${channels}×${rows}×${columns}), ` +
        `got ${countOf(values)}; pass bytes as {data, width, height} to have them prepared`,
    );
  }
  for (let index = 0; index < count; index++) {
    if (Number.isFinite(copy[index])) continue;
    throw new VitError(
      "bad_image",
      `${name}: expected finite values, got ${copy[index]} at ${index}`,
    );
  }
  return { name, values: copy };
}

/** The limits of src/image/pixels.c. They are checked here before the wasm heap grows. */
const MAX_SIDE = 32768;
const MAX_PIXELS = 2 ** 28;

const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;

function fromPixels(image: Pixels, shape: ImageShape, name: string): Picture {
  const { data, width, height, channels } = image;
  const size = (depth: unknown) => [width, height, depth ?? "?"].map(show);
  if (isArray(data, "Float32Array")) {
    if (height === shape[1] && width === shape[2] && (channels ?? shape[0]) === shape[0]) {
      return fromValues(data, shape, name);
    }
    const [columns, rows, depth] = size(channels);
    throw new VitError(
      "bad_image",
      `${name}: expected Float32Array data of ${shape.join("×")} values, got ${depth}×${rows}×${columns}; ` +
        "pass bytes as {data, width, height} to have them prepared",
    );
  }
  if (!(isArray(data, "Uint8Array") || isArray(data, "Uint8ClampedArray"))) {
    throw new VitError(
      "bad_image",
      `${name}: expected data of bytes or a Float32Array, got ${kindOf(data)}`,
    );
  }
  const wrong = () =>
    new VitError(
      "bad_image",
      `${name}: expected width × height × channels bytes with 1 to 4 channels, got ` +
        `${countOf(data)} bytes for ${size(channels).join("×")}`,
    );
  if (!isCount(width) || !isCount(height)) throw wrong();
  const depth = channels ?? countOf(data) / (width * height);
  if (!isCount(depth) || depth > 4) throw wrong();
  checkSize(width, height, name);
  const pixels = pixelsOf(data, width * height * depth);
  if (!pixels) throw wrong();
  return { name, pixels, rows: height, columns: width, channels: depth };
}

/** A copy of exactly `count` bytes; undefined where `data` has more or fewer. */
function pixelsOf(
  data: Arrays["Uint8Array" | "Uint8ClampedArray"],
  count: number,
): Uint8Array<ArrayBuffer> | undefined {
  const copy = countOf(data) === count ? new Uint8Array(data) : undefined;
  return copy?.length === count ? copy : undefined;
}

function checkSize(width: number, height: number, name: string): void {
  if (Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS) return;
  throw new VitError(
    "bad_image",
    `${name}: expected at most ${MAX_SIDE} pixels a side and ${MAX_PIXELS} in all, got ` +
      `${width}×${height}; make it smaller`,
  );
}

/** Reads every point once, and counts the points while it copies them. */
function fromDrawing({ strokes, width, height, unfinished }: Drawing, name: string): Picture {
  if (!isCount(width) || !isCount(height)) {
    throw new VitError(
      "bad_image",
      `${name}: expected width and height in whole pixels, got ${show(width)}×${show(height)}`,
    );
  }
  checkSize(width, height, name);
  const numbers: number[] = [];
  const lengths: number[] = [];
  forEach(strokes, name, (stroke) => {
    const first = numbers.length;
    forEach(stroke, name, (point) => putPoint(numbers, point, name));
    lengths.push((numbers.length - first) / POINT_FLOATS);
  });
  const points = new Float32Array(numbers);
  const strokesOf = { points, lengths, rows: height, columns: width, unfinished: unfinished ? 1 : 0 };
  const most = MOST_INK + MOST_INK_A_POINT * (points.length / POINT_FLOATS);
  if (inkOf(strokesOf) > most) {
    throw new VitError(
      "bad_image",
      `${name}: expected strokes that fit a pad of ${width}×${height} pixels, got far wider ` +
        "ones; make the pen thinner",
    );
  }
  return { name, ...strokesOf };
}

/** The most pixels a drawing may visit: some seconds of work, and about a millisecond a point. */
const MOST_INK = 2 ** 29;
const MOST_INK_A_POINT = 2 ** 18;

/**
 * An upper bound of the pixels that src/image/brush.c visits. It draws one curve a point, of up to
 * 64 straight lines.
 */
function inkOf({ points, lengths, rows, columns }: Strokes): number {
  let ink = 0;
  let first = 0;
  for (const length of lengths) {
    const end = first + length * POINT_FLOATS;
    for (let here = first; here < end; here += POINT_FLOATS) {
      const before = Math.max(here - POINT_FLOATS, first), next = Math.min(here + POINT_FLOATS, end - POINT_FLOATS);
      const moved = (axis: 0 | 1) =>
        Math.abs(points[here + axis]! - points[before + axis]!) + Math.abs(points[next + axis]! - points[here + axis]!);
      const across = moved(0), down = moved(1);
      const lines = Math.min(64, Math.ceil(Math.sqrt(2 * (across + down))) || 1);
      const band = Math.max(points[before + 2]!, points[here + 2]!, points[next + 2]!) + 3;
      ink += lines * Math.min(columns, band + (2 * across) / lines) * Math.min(rows, band + (2 * down) / lines);
    }
    first = end;
  }
  return ink;
}

/** Visits an array's elements. A hole is undefined; elements added meanwhile are left out. */
function forEach(list: unknown, name: string, visit: (element: unknown) => void): void {
  if (!Array.isArray(list)) {
    throw new VitError("bad_image", `${name}: expected strokes, an array of arrays of points`);
  }
  for (let index = 0, { length } = list; index < length; index++) visit(list[index]);
}

const isFloat = (value: unknown): value is number => typeof value === "number" && Number.isFinite(Math.fround(value));

function putPoint(numbers: number[], point: unknown, name: string): void {
  const { x, y, width } = (point ?? {}) as PenPoint;
  if (isFloat(x) && isFloat(y) && isFloat(width) && width >= 0) return void numbers.push(x, y, width);
  throw new VitError(
    "bad_image",
    `${name}: expected points {x, y, width} of finite numbers, got ` +
      `${[x, y, width].map(show).join(", ")} at ${numbers.length / POINT_FLOATS}`,
  );
}

async function fromBlob(blob: Blob, name: string): Promise<Picture> {
  if (typeof createImageBitmap !== "function") {
    throw new VitError(
      "unsupported",
      `${name}: this engine cannot decode image files; pass pixels as {data, width, height}`,
    );
  }
  const bitmap = await createImageBitmap(blob).catch(async (cause: unknown) => {
    const what = `${show(blob.size)} bytes of ${show(blob.type) || "unknown type"}`;
    throw new VitError("bad_image", `${name}: expected an image file, got ${what}${await adviceOn(blob)}`, { cause });
  });
  try {
    return draw(bitmap, bitmap, "Blob", name);
  } finally {
    bitmap.close();
  }
}

/** What to do with files that browsers do not decode here. */
async function adviceOn(blob: Blob): Promise<string> {
  const head = new Uint8Array(await blob.slice(0, HEAD_BYTES).arrayBuffer().catch(() => new ArrayBuffer(0)));
  if (isHeic(head)) return ", a HEIC photo; convert it to JPEG";
  if (!/<svg[\s>]/.test(new TextDecoder().decode(head))) return "";
  return ", an SVG; load it in an <img> with a width and a height, and pass that";
}

function fromDrawable(
  source: CanvasImageSource,
  kind: string,
  name: string,
): Promise<Picture> | Picture {
  const size = (DRAWABLES[kind] as (source: CanvasImageSource) => Promise<Size> | Size)(source);
  if (!(size instanceof Promise)) return draw(source, size, kind, name);
  return size.then(
    (known) => draw(source, known, kind, name),
    (cause: unknown) => {
      throw new VitError("bad_image", `${name}: the ${kind} did not load: ${reason(cause)}`, {
        cause,
      });
    },
  );
}

/**
 * A photo is read part by part, because iOS draws nothing on a canvas of more than 2^24 pixels. A frame
 * of a 4K video is one part, because the next frame may come between two.
 */
const MAX_PART = 2 ** 23;
const MAX_PART_SIDE = 2 ** 12;

function draw(
  source: CanvasImageSource,
  { width, height }: Size,
  kind: string,
  name: string,
): Picture {
  if (!isCount(width) || !isCount(height)) {
    throw new VitError(
      "bad_image",
      `${name}: the ${kind} is empty (${show(width)}×${show(height)}); wait until it has loaded (in jsdom it never does), ` +
        "close it only after the call, and give an SVG a width and a height",
    );
  }
  checkSize(width, height, name);
  const across = Math.min(width, MAX_PART_SIDE);
  const down = Math.min(height, Math.floor(MAX_PART / across));
  const context = contextOf(across, down);
  if (!context) throw new VitError("no_memory", `${name}: expected a canvas of ${across}×${down}, got none; pass pixels as {data, width, height}`);
  checkReading(context, name);
  const pixels = new Uint8Array(width * height * 4);
  context.globalCompositeOperation = "copy"; // each part replaces the one before it
  try {
    for (let top = 0; top < height; top += down) {
      for (let left = 0; left < width; left += across) {
        context.drawImage(source, -left, -top, width, height);
        const [columns, rows] = [Math.min(across, width - left), Math.min(down, height - top)];
        const { data } = context.getImageData(0, 0, columns, rows);
        if (data.length !== columns * rows * 4) throw new Error(`${show(data.length)} bytes of ${columns}×${rows} pixels`);
        for (let row = 0; row < rows; row++) {
          const line = data.subarray(row * columns * 4, (row + 1) * columns * 4);
          pixels.set(line, ((top + row) * width + left) * 4);
        }
      }
    }
  } catch (cause) {
    throw new VitError(
      "bad_image",
      `${name}: the pixels of the ${kind} cannot be read (${reason(cause)}); ` +
        "an image from another origin needs CORS headers and crossOrigin",
      { cause },
    );
  }
  if (pixels.every((value, at) => at % 4 < 3 || value === 0)) {
    throw new VitError(
      "blank_image",
      `${name}: expected a ${kind} that is not blank, got ${width}×${height} pixels that are all transparent; ` +
        "if they should not be, it is too large for this browser: make it smaller",
    );
  }
  return { name, pixels, rows: height, columns: width, channels: 4 };
}

/** Opaque pixels that are drawn and read back before a photo: red, green and blue of each. */
const PATTERN = [[200, 40, 90], [30, 160, 220], [110, 230, 20], [60, 80, 140]] as const;

/** A browser that only changes low bits, as Brave does, changes no answer. */
const MOST_NOISE = 16;

/** Checks that reading a canvas returns what was drawn on it. */
function checkReading(context: Context, name: string): void {
  let data: Uint8ClampedArray;
  try {
    PATTERN.forEach(([red, green, blue], x) => {
      context.fillStyle = `rgb(${red}, ${green}, ${blue})`;
      context.fillRect(x, 0, 1, 1);
    });
    ({ data } = context.getImageData(0, 0, PATTERN.length, 1));
    context.clearRect(0, 0, PATTERN.length, 1); // because drawing a photo may fail silently
  } catch {
    return; // reading the photo will fail too, and says why
  }
  const drawn = PATTERN.flatMap((colour) => [...colour, 255]);
  if (drawn.every((value, at) => Math.abs(value - data[at]!) <= MOST_NOISE)) return;
  if (data.every((value) => value === 0)) {
    throw new VitError("no_memory", `${name}: expected a canvas that can be drawn on, got one that stays empty; close other pages`);
  }
  throw new VitError(
    "unsupported",
    `${name}: expected a canvas's pixels, got noise, because this browser hides them (Tor, or Firefox with ` +
      "privacy.resistFingerprinting): allow this page to extract canvas data, by the icon in the address bar, " +
      "or pass strokes or pixels as {data, width, height}",
  );
}

/** @internal */
export type Context = OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D;

let scratch: OffscreenCanvas | HTMLCanvasElement | undefined;

/** @internal The context of an empty canvas of at least this size, or null where the engine gives none. */
export function contextOf(width: number, height: number): Context | null {
  try {
    scratch ??=
      typeof OffscreenCanvas === "function"
        ? new OffscreenCanvas(width, height)
        : document.createElement("canvas");
    scratch.width = Math.max(width, PATTERN.length); // this clears it as well
    scratch.height = height;
    return scratch.getContext("2d", { willReadFrequently: true }) as Context | null;
  } catch {
    return null;
  }
}
