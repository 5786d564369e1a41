/** Image files ↔ pixels, by sharp: a package of the command's own, which the library never loads. */
import { open, stat } from "node:fs/promises";
import type { Metadata, Sharp, SharpOptions } from "sharp";
import type { Pixels } from "vitrine";
import { reason } from "../errors.ts";
import { STDIN } from "./files.ts";

type SharpModule = (input: Uint8Array, options?: SharpOptions) => Sharp;

/** RGB or RGBA bytes. */
export type Photo = Pixels & { readonly data: Uint8Array };

/** A file, and what it shows or why it shows nothing. */
export type Read =
  | { readonly file: string; readonly photo: Photo }
  | { readonly file: string; readonly error: string };

/** So many photos are in memory, and as many again that are being decoded meanwhile. */
const GROUP = 8;

/** As web/images.ts and src/image/pixels.c have it. */
const MAX_PIXELS = 2 ** 28;

/** So many pixels always, and so many for each byte of the file, as src/cli/png.c has it. */
const ALWAYS_PIXELS = 2 ** 23;
const PIXELS_A_BYTE = 32;

const MAX_BYTES = 2 ** 28;
const MAX_BYTES_OF_PIPE = 2 ** 25;

export class Photos {
  readonly #sharp: SharpModule;

  /** @throws where sharp is not installed, or does not run here. */
  static async load(): Promise<Photos> {
    try {
      return new Photos((await import("sharp")).default);
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

  private constructor(sharp: SharpModule) {
    this.#sharp = sharp;
  }

  /** In the order of the files, group by group; while one is worked on the next is decoded. */
  async *groups(files: readonly string[]): AsyncGenerator<readonly Read[]> {
    const start = (first: number) =>
      Promise.all(files.slice(first, first + GROUP).map((file) => this.#read(file)));
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

  #read(file: string): Promise<Read> {
    return this.#decode(file).then(
      (photo) => ({ file, photo }),
      (error: unknown) => ({ file, error: reason(error) }),
    );
  }

  /**
   * Upright, in 8-bit sRGB by the embedded profile as a browser shows it. Alpha is kept and no
   * pixel is resampled: that is src/image/pixels.c's part.
   */
  async #decode(file: string): Promise<Photo> {
    const bytes = await readUpTo(file).catch((cause: unknown) => {
      throw new Error(`expected an image file, got ${reason(cause)}`, { cause });
    });
    try {
      const image = this.#sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" });
      checkSize(await image.metadata(), bytes.length);
      const { data, info } = await image
        .rotate() // as EXIF says
        .toColourspace("srgb")
        .raw({ depth: "uchar" })
        .toBuffer({ resolveWithObject: true });
      const { width, height, channels } = info;
      return { data, width, height, channels };
    } catch (cause) {
      const got = `${bytes.length} bytes that cannot be decoded (${firstLine(cause)})`;
      throw new Error(`expected a whole PNG or JPEG, got ${got}`, { cause });
    }
  }
}

/** A small file can announce any size: refused before it is decoded. */
function checkSize({ width, height }: Metadata, bytes: number): void {
  const most = Math.min(MAX_PIXELS, Math.max(ALWAYS_PIXELS, PIXELS_A_BYTE * bytes));
  if (width * height <= most) return;
  throw new Error(`${width}x${height} pixels, past the pixel limit of a file so small, ${most}`);
}

/** A file or a pipe, whole; what has no end is not read to it. */
async function readUpTo(file: string): Promise<Buffer> {
  if (file === STDIN) return wholeOf(process.stdin, MAX_BYTES_OF_PIPE);
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

/** Why a photo was refused, without the API's word for it: the command names the file. */
export const withoutName = (error: unknown): string =>
  reason(error).replace(/^image( \d+)?: /, "");

const firstLine = (thrown: unknown): string => reason(thrown).trim().split("\n", 1)[0]!;
