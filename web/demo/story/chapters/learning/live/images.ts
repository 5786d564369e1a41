/** Where the images come from: MNIST, or files of the visitor's own, which stay in the tab. */
import address from "virtual:mnist-digits"; // see web/demo/mnist.mjs
import { COUNTS, PIXELS, unpackDigits } from "../../../../../base/digits.mjs";
import { chips, h, onChosen } from "../../../../dom.ts";
import { inWords } from "../../../../status.ts";
import { once } from "../../../../once.ts";
import { bytesOf } from "../../../bytes.ts";
import type { Words } from "../texts/en.ts";
import type { Column } from "./column.ts";
import { type Grey, photosIn, readIdx, type Source, sourceOf } from "./own.ts";

// ---- MNIST's, which load once, when a visitor trains --------------------------

export const haveDigits = address !== undefined;

const MNIST: Source = { ...COUNTS, open: once(async () => unpackDigits(await bytesOf(address!, "MNIST’s images"))) };

// ---- The visitor's own --------------------------------------------------------

type Prepared = (done: number, all: number) => void;

/** As the package prepares photos, so that the saved model reads those that it has not seen. */
const PHOTO = { kind: "photo", resize: 28, crop: 28, mean: [0], std: [1], interpolation: "bilinear" };

const READ = {
  async folder(files: readonly File[], prepared: Prepared): Promise<Source> {
    const { names, photos, labels } = photosIn(files);
    const pixels = await shrinkPhotos(photos, (done) => prepared(done, photos.length));
    return sourceOf({ names, labels, pixels }, PHOTO);
  },
  async idx(files: readonly File[]): Promise<Source> {
    return sourceOf(shrinkGrey(await readIdx(files)));
  },
};
type SourceKind = keyof typeof READ;
const KINDS = Object.keys(READ) as SourceKind[];

/**
 * `column` is the run that the buttons act on; it tells how far the files are read. `changed` is called when there
 * are other images to train on. Files that are refused change nothing.
 */
export function buildImages(words: Words["live"], column: () => Pick<Column, "say" | "prepared">, changed: () => void) {
  let source: Source = MNIST, turns = 0;
  const says = h("p", { id: "learning-live-own", className: "grid-legend" });
  const use = (next: Source) => {
    source = next;
    says.textContent = next.names ? words.own({ classes: next.names.join(", "), train: next.train, test: next.test }) : "";
    changed();
  };
  const read = async (kind: SourceKind, files: readonly File[]) => {
    const turn = ++turns, { say, prepared } = column();
    say(words.loading);
    try {
      const next = await READ[kind](files, (done, all) => turn === turns && prepared(done, all));
      if (turn !== turns) return;
      use(next);
      say(says.textContent);
    } catch (error) {
      if (turn === turns) say(words.refused({ why: inWords(error) }));
    }
  };
  const picks = KINDS.map((kind) => {
    const input = h("input", { type: "file", id: `live-${kind}`, multiple: true, webkitdirectory: kind === "folder" });
    onChosen(input, (files) => void read(kind, files));
    return h("label", { hidden: true, data: { kind } }, words.pick[kind], input);
  });
  const how = h("p", { hidden: true }, words.shrunk);
  const choose = (chosen: SourceKind | "mnist") => {
    for (const pick of picks) pick.hidden = pick.dataset.kind !== chosen;
    how.hidden = chosen === "mnist";
    if (chosen !== "mnist") return;
    turns++;
    use(MNIST);
  };
  const names = (["mnist", ...KINDS] as const).map((kind) => [kind, words.sources[kind]] as const);
  return {
    root: h("div", { className: "live-from" }, chips(words.from, names, "mnist", choose).root, ...picks, how, says),
    get source() {
      return source;
    },
  };
}

// ---- 28×28 grey pixels: the middle square, made smaller -------------------------

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
async function shrinkPhotos(photos: readonly File[], prepared: (done: number) => void): Promise<Uint8Array> {
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
function shrinkGrey(grey: Grey): Grey {
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
