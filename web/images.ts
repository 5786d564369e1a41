import { reason, VitError } from "./errors.js";

/** A DOM class where the program's types have it, else nothing: Node needs no DOM types. */
type Dom<Name extends string> =
  typeof globalThis extends Record<Name, { prototype: infer Type }> ? Type : never;

/** Bytes of pixels, row by row, channels interleaved: grey, grey+alpha, RGB or RGBA. */
export interface Pixels {
  readonly data: Uint8Array | Uint8ClampedArray | Float32Array;
  readonly width: number;
  readonly height: number;
  /** 1 to 4; by default what the length of `data` says. */
  readonly channels?: number;
}

/** Where a pen was, in pixels from the upper left corner, and how wide it was there. */
export interface PenPoint {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/**
 * What a pen drew on a pad of so many pixels. The brush is the demo's: curves through the midpoints
 * of the points, which it rounds off; one point is a dot.
 */
export interface Drawing {
  readonly strokes: readonly (readonly PenPoint[])[];
  readonly width: number;
  readonly height: number;
}

/**
 * Anything that shows an image. A Float32Array, alone or as `data`, holds (C,H,W) values
 * prepared for this model and is used as it is; everything else is prepared as the config's
 * `prepare` says. The image is taken when the call is made: later changes do not matter.
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

/** An image on its way to the module: owned memory, no DOM. */
export type Picture = {
  /** What messages call it: "image", or "image 3" among many. */
  readonly name: string;
} & (
  | { readonly values: Float32Array<ArrayBuffer> }
  | {
      readonly pixels: Uint8Array<ArrayBuffer>;
      readonly rows: number;
      readonly columns: number;
      readonly channels: number;
    }
  | Strokes
);

/** A {@link Drawing} as src/vit.h has it. */
export interface Strokes {
  /** (points, 3): x, y, width */
  readonly points: Float32Array<ArrayBuffer>;
  /** Points of each stroke. */
  readonly lengths: readonly number[];
  readonly rows: number;
  readonly columns: number;
}

/** Of a `vit_point`. */
export const POINT_FLOATS = 3;

/** What a picture holds, to be handed over. */
export function memoryOf(picture: Picture): Float32Array<ArrayBuffer> | Uint8Array<ArrayBuffer> {
  if ("values" in picture) return picture.values;
  return "points" in picture ? picture.points : picture.pixels;
}

/** (C,H,W) of the model. */
export type ImageShape = readonly [channels: number, rows: number, columns: number];

/** How to wait for a DOM source and ask its size, by its class's name in any realm. */
const DRAWABLES: Readonly<Record<string, (source: never) => Promise<Size> | Size>> = {
  HTMLCanvasElement: ({ width, height }: HTMLCanvasElement) => ({ width, height }),
  OffscreenCanvas: ({ width, height }: OffscreenCanvas) => ({ width, height }),
  ImageBitmap: ({ width, height }: ImageBitmap) => ({ width, height }),
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

const imageSize = ({ naturalWidth, naturalHeight }: HTMLImageElement): Size => ({
  width: naturalWidth,
  height: naturalHeight,
});

/** Any image source → a picture that nobody else can change. */
export async function toPicture(
  image: ImageInput,
  shape: ImageShape,
  name: string,
): Promise<Picture> {
  if (image instanceof Float32Array) return fromValues(image, shape, name);
  const kind = Object.prototype.toString.call(image).slice(8, -1);
  if (image instanceof Blob) return fromBlob(image, name);
  if (Object.hasOwn(DRAWABLES, kind)) return fromDrawable(image as CanvasImageSource, kind, name);
  if (typeof image === "object" && image !== null && "strokes" in image) {
    return fromDrawing(image as Drawing, name);
  }
  if (typeof image === "object" && image !== null && "data" in image && "width" in image) {
    return fromPixels(image as Pixels, shape, name);
  }
  throw new VitError(
    "bad_image",
    `${name}: expected ImageData, {data, width, height}, {strokes, width, height}, a canvas, ` +
      `ImageBitmap, image, video, VideoFrame, Blob or Float32Array, got ${kind}`,
  );
}

function fromValues(values: Float32Array, shape: ImageShape, name: string): Picture {
  const [channels, rows, columns] = shape;
  const count = channels * rows * columns;
  if (values.length !== count) {
    throw new VitError(
      "bad_image",
      `${name}: expected a Float32Array of ${count} values (${channels}×${rows}×${columns}), ` +
        `got ${values.length}; pass pixels as {data, width, height} to have them prepared`,
    );
  }
  for (let index = 0; index < count; index++) {
    if (Number.isFinite(values[index])) continue;
    throw new VitError(
      "bad_image",
      `${name}: expected finite values, got ${values[index]} at ${index}; check how it was made`,
    );
  }
  return { name, values: values.slice() };
}

/** What src/pixels.c takes: refused here, so that the wasm heap does not grow for nothing. */
const MAX_SIDE = 32768;
const MAX_PIXELS = 2 ** 28;

function fromPixels(image: Pixels, shape: ImageShape, name: string): Picture {
  const { data, width, height, channels } = image;
  if (data instanceof Float32Array) {
    if (height === shape[1] && width === shape[2] && (channels ?? shape[0]) === shape[0]) {
      return fromValues(data, shape, name);
    }
    const got = `${channels ?? "?"}×${height}×${width}`;
    throw new VitError(
      "bad_image",
      `${name}: expected Float32Array data of ${shape.join("×")} values, got ${got}; ` +
        "pass bytes to have an image of another size prepared",
    );
  }
  if (!(data instanceof Uint8Array || data instanceof Uint8ClampedArray)) {
    const kind = Object.prototype.toString.call(data).slice(8, -1);
    throw new VitError(
      "bad_image",
      `${name}: expected data of bytes or a Float32Array, got ${kind}`,
    );
  }
  const depth = channels ?? data.length / (width * height);
  const good =
    [width, height, depth].every((side) => Number.isInteger(side) && side > 0) && depth <= 4;
  if (good) checkSize(width, height, name);
  if (!good || data.length !== width * height * depth) {
    throw new VitError(
      "bad_image",
      `${name}: expected width × height × channels bytes with 1 to 4 channels, got ` +
        `${data.length} bytes for ${width}×${height}×${channels ?? "?"}`,
    );
  }
  return { name, pixels: new Uint8Array(data), rows: height, columns: width, channels: depth };
}

function checkSize(width: number, height: number, name: string): void {
  if (Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS) return;
  throw new VitError(
    "bad_image",
    `${name}: expected at most ${MAX_SIDE} pixels a side and ${MAX_PIXELS} in all, got ` +
      `${width}×${height}; make it smaller`,
  );
}

function fromDrawing({ strokes, width, height }: Drawing, name: string): Picture {
  if (![width, height].every((side) => Number.isInteger(side) && side > 0)) {
    throw new VitError(
      "bad_image",
      `${name}: expected the pad's width and height in whole pixels, got ${width}×${height}`,
    );
  }
  checkSize(width, height, name);
  if (!Array.isArray(strokes) || !strokes.every(Array.isArray)) {
    throw new VitError("bad_image", `${name}: expected strokes, an array of arrays of points`);
  }
  const all = strokes.flat() as PenPoint[];
  const points = new Float32Array(all.length * POINT_FLOATS);
  all.forEach((point, index) => {
    const numbers = [point?.x, point?.y, point?.width];
    if (!numbers.every((number) => Number.isFinite(Math.fround(number))) || point.width < 0) {
      throw new VitError(
        "bad_image",
        `${name}: expected points {x, y, width} of finite numbers, got ` +
          `${numbers.map(String).join(", ")} at ${index}`,
      );
    }
    points.set(numbers, index * POINT_FLOATS);
  });
  const lengths = strokes.map(({ length }) => length);
  return { name, points, lengths, rows: height, columns: width };
}

async function fromBlob(blob: Blob, name: string): Promise<Picture> {
  if (typeof createImageBitmap !== "function") {
    throw new VitError(
      "unsupported",
      `${name}: this engine decodes no image files; pass pixels as {data, width, height}`,
    );
  }
  const bitmap = await createImageBitmap(blob).catch((cause: unknown) => {
    const what = `${blob.size} bytes of ${blob.type || "unknown type"}`;
    throw new VitError("bad_image", `${name}: expected an image file, got ${what}`, { cause });
  });
  try {
    return draw(bitmap, bitmap, "Blob", name);
  } finally {
    bitmap.close();
  }
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

let scratch: OffscreenCanvas | HTMLCanvasElement | undefined;

function draw(
  source: CanvasImageSource,
  { width, height }: Size,
  kind: string,
  name: string,
): Picture {
  if (!(width > 0 && height > 0)) {
    throw new VitError(
      "bad_image",
      `${name}: expected a ${kind} that shows something, got ${width}×${height} pixels; ` +
        "wait until it has loaded, and do not close it before",
    );
  }
  scratch ??=
    typeof OffscreenCanvas === "function"
      ? new OffscreenCanvas(width, height)
      : document.createElement("canvas");
  scratch.width = width; // this clears it as well
  scratch.height = height;
  const context = scratch.getContext("2d", { willReadFrequently: true }) as
    OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D | null;
  if (!context)
    throw new VitError("no_memory", `${name}: no canvas of ${width}×${height} to be had`);
  try {
    context.drawImage(source, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    const pixels = new Uint8Array(data.buffer);
    return { name, pixels, rows: height, columns: width, channels: 4 };
  } catch (cause) {
    throw new VitError(
      "bad_image",
      `${name}: the pixels of the ${kind} are not to be read (${reason(cause)}); ` +
        "one from another origin must be served with CORS and loaded with crossOrigin",
      { cause },
    );
  }
}
