/** Decodes and encodes image files by the package sharp. Only the command loads sharp. */
import { open, stat } from "node:fs/promises";
import type { Metadata, Sharp, SharpOptions } from "sharp";
import type { Pixels } from "vitrine";
import { HEAD_BYTES, isHeic } from "../base/heic.ts";
import { reason } from "../errors.ts";
import { STDIN } from "./files.ts";
import type { Host } from "./terminal.ts";

type SharpModule = (input: Uint8Array, options?: SharpOptions) => Sharp;

/** RGB or RGBA bytes. */
export type Photo = Pixels & { readonly data: Uint8Array };

/** A file with its photo, or with the error of reading it. */
export type PhotoResult =
  | { readonly file: string; readonly photo: Photo }
  | { readonly file: string; readonly error: string };

/** Photos in a group. Two groups are in memory: one at work, and the next while it is decoded. */
const GROUP = 8;

/** The limit of web/images.ts and src/image/pixels.c. */
const MAX_PIXELS = 2 ** 28;

/** A photo may have this many pixels, or this many per byte of its file. */
const ALWAYS_PIXELS = 2 ** 23;
const PIXELS_A_BYTE = 32;

const MAX_BYTES = 2 ** 28;
const MAX_BYTES_OF_PIPE = 2 ** 25;

export class Photos {
  readonly #sharp: SharpModule;
  readonly #stdin: Host["stdin"];

  /** @throws where sharp is not installed or does not run on this machine. */
  static async load(stdin: Host["stdin"]): Promise<Photos> {
    try {
      return new Photos((await import("sharp")).default, stdin);
    } catch (cause) {
      const absent = (cause as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
      const got = absent ? "none" : `one that does not run here (${firstLine(cause)})`;
      throw new Error(
        `sharp: expected the package that decodes photos, got ${got}; ` +
          "run npm install sharp, or npx -p vitrine -p sharp vitrine …",
        { cause },
      );
    }
  }

  private constructor(sharp: SharpModule, stdin: Host["stdin"]) {
    this.#sharp = sharp;
    this.#stdin = stdin;
  }

  /** The photos in the files' order, in groups. The next group is decoded during work on one. */
  async *groups(files: readonly string[]): AsyncGenerator<readonly PhotoResult[]> {
    const start = (first: number) =>
      Promise.all(files.slice(first, first + GROUP).map((file) => this.read(file)));
    let next = start(0);
    for (let first = 0; first < files.length; first += GROUP) {
      const group = await next;
      next = start(first + GROUP);
      yield group;
    }
  }

  png({ data, width, height, channels }: Photo): Promise<Buffer> {
    const raw = { width, height, channels: (channels ?? 3) as 3 | 4 };
    return this.#sharp(data, { raw }).png().toBuffer();
  }

  /** A PNG with a drawing in SVG over the photo. */
  async withOverlay({ data, width, height, channels }: Photo, svg: string): Promise<Buffer> {
    const raw = { width, height, channels: (channels ?? 3) as 3 | 4 };
    return this.#sharp(data, { raw }).composite([{ input: Buffer.from(svg) }]).png().toBuffer();
  }

  read(file: string): Promise<PhotoResult> {
    return this.#decode(file).then(
      (photo) => ({ file, photo }),
      (error: unknown) => ({ file, error: reason(error) }),
    );
  }

  #bytes(file: string): Promise<Buffer> {
    return file === STDIN ? wholeOf(this.#stdin, MAX_BYTES_OF_PIPE) : readUpTo(file);
  }

  /**
   * A photo, turned as EXIF says, but for WebP, in 8-bit sRGB by its embedded profile, as a browser shows it.
   * Alpha is kept. No pixel is resampled here, because src/image/pixels.c does it.
   */
  async #decode(file: string): Promise<Photo> {
    const bytes = await this.#bytes(file).catch((cause: unknown) => {
      throw new Error(`expected an image file, got ${reason(cause)}`, { cause });
    });
    try {
      const image = this.#sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" });
      const metadata = await image.metadata();
      checkSize(metadata, bytes.length);
      const upright = metadata.format === "webp" ? image : image.rotate(); // as Chromium and Firefox do
      const { data, info } = await upright
        .toColourspace("srgb")
        .raw({ depth: "uchar" })
        .toBuffer({ resolveWithObject: true });
      const { width, height, channels } = info;
      return { data, width, height, channels };
    } catch (cause) {
      const got = `${bytes.length} bytes that cannot be decoded (${firstLine(cause)})`;
      const advice = isHeic(bytes.subarray(0, HEAD_BYTES)) ? ", a HEIC photo; convert it to JPEG" : "";
      throw new Error(`expected a whole PNG or JPEG, got ${got}${advice}`, { cause });
    }
  }
}

/** Refuses too many pixels before decoding, because a small file can announce any size. */
function checkSize({ width, height }: Metadata, bytes: number): void {
  const most = Math.min(MAX_PIXELS, Math.max(ALWAYS_PIXELS, PIXELS_A_BYTE * bytes));
  if (width * height <= most) return;
  throw new Error(`${width}x${height} pixels, above the pixel limit of ${most} for this file's size`);
}

/** Reads a file or a pipe whole, up to a limit, because some have no end. */
async function readUpTo(file: string): Promise<Buffer> {
  const kind = await stat(file);
  if (kind.isCharacterDevice() || kind.isBlockDevice()) throw new Error("a device");
  const most = kind.isFIFO() ? MAX_BYTES_OF_PIPE : MAX_BYTES;
  const handle = await open(file);
  try {
    return await wholeOf(handle.createReadStream({ autoClose: false }), most);
  } finally {
    await handle.close();
  }
}

async function wholeOf(stream: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > most) throw new Error(`more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An error's text without the API's name of the image, because the command names the file. */
export const withoutName = (error: unknown): string =>
  reason(error).replace(/^image( \d+)?: /, "");

const firstLine = (error: unknown): string => reason(error).trim().split("\n", 1)[0]!;
