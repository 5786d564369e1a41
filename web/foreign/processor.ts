/**
 * Translates how transformers prepares photos (`preprocessor_config.json`) into our `prepare`.
 * Pixels come out as in transformers. A key that cannot be translated is refused by its name.
 */
import type { Prepare } from "../config.js";
import { isObject, type Json } from "../base/json.js";
import { show } from "../errors.js";
import type { ModelType } from "./family.js";
import { Refusal } from "./refusal.js";
import { meaning, objectOr, pair, wordOf } from "./words.js";

export type Photo = Extract<Prepare, { kind: "photo" }>;
export type Pair = readonly [number, number];

const HALF = [0.5, 0.5, 0.5];

/** A size as the core takes it: one number if both are equal. */
export const side = ([rows, columns]: Pair) => (rows === columns ? rows : [rows, columns] as const);

/** The defaults of a class of processors, for keys that its file lacks. */
interface Processor {
  readonly size: unknown;
  /** Whether a size of one number means a square. Otherwise it means the shorter side. */
  readonly square: boolean;
  /** The size that is cut from the middle, unless the file switches that off. */
  readonly crop?: number;
  readonly resample: number;
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

export const CLIP: Processor = {
  size: { shortest_edge: 224 },
  square: false,
  crop: 224,
  resample: 3,
  mean: [0.48145466, 0.4578275, 0.40821073],
  std: [0.26862954, 0.26130258, 0.27577711],
};
const VIT: Processor = { size: 224, square: true, resample: 2, mean: HALF, std: HALF };
const DEIT: Processor = { size: 256, square: true, crop: 224, resample: 3, mean: HALF, std: HALF };
export const IMAGENET = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };
const YOLOS: Processor = { size: { shortest_edge: 800, longest_edge: 1333 }, square: false, resample: 2, ...IMAGENET };
const CONVNEXT: Processor = { size: 384, square: false, resample: 3, mean: HALF, std: HALF };

/** The processors by the part of their name before FeatureExtractor or ImageProcessor. */
const PROCESSORS = {
  ViT: VIT,
  DeiT: DEIT,
  CLIP,
  Siglip: { ...VIT, resample: 3 },
  Bit: CLIP,
  Beit: DEIT,
  Blip: { ...VIT, size: 384, resample: 3, mean: CLIP.mean, std: CLIP.std },
  DINOv3ViT: { ...VIT, ...IMAGENET }, // it resizes after it divides by 255
  Yolos: YOLOS,
  ConvNext: CONVNEXT,
} as const;

/** Our filters by Pillow's numbers. */
const FILTERS = { 0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic" } as const;

/** Keys that do not change a classifier's pixels. */
const HARMLESS = new Set(["do_convert_rgb", "do_reduce_labels", "do_reduce_zero_label"]);
const STEPS = new Set(["do_resize", "do_center_crop", "do_rescale", "do_normalize"]);
/** What YOLOS's does beyond the others' steps: of one photo it pads nothing. */
const PADDING = new Set(["do_pad", "max_size", "do_convert_annotations"]);
const OTHER_STEPS = /^(do_|pad_|max_|size_divis)|^(offset|rescale_offset|use_square_size)$/;

/** @param type the model's, whose processor is used if the file names no class. */
export function prepareOf(p: Json, config: Json, type: ModelType | undefined): Photo {
  const name = className(p, config, type);
  for (const [key, value] of Object.entries(p)) {
    const other = OTHER_STEPS.test(key) && !STEPS.has(key) && !HARMLESS.has(key) && !(name === "Yolos" && PADDING.has(key));
    if (other && value !== false && value !== null && value !== 0) {
      throw refusal(key, "not known here: pass a `prepare` that does it");
    }
  }
  const processor = name ? meaning("image_processor_type", name, PROCESSORS, "preprocessor") : VIT;
  const own = processor === YOLOS ? yolosSizes : processor === CONVNEXT ? convNextSizes : undefined;
  if (own && !flag(p, "do_resize", true)) throw refusal("do_resize", "expected true, got false");
  const sizes = (own ?? sizesOf)(p, processor, config);
  const interpolation = meaning("resample", p.resample ?? processor.resample, FILTERS, "preprocessor");
  const photo: Photo = { kind: "photo", ...sizes, ...standardisationOf(p, processor, config), interpolation };
  if (!name) askForClass(p);
  return photo;
}

/** Asks for the class of a processor if its file relies on that class's defaults. */
function askForClass(p: Json): void {
  const missing = ["size", "image_mean", "image_std", "resample"].find((key) => p[key] == null);
  if (!missing && !isLength(p.size)) return;
  const names = Object.keys(PROCESSORS).map((each) => `${each}ImageProcessor`).join(", ");
  const what = missing
    ? `whether ${missing} is the default of one class or of another`
    : `whether size ${p.size as number} is of a square or of the shorter side`;
  const all = names.replace(/, (?=[^,]*$)/, " or ");
  throw new Refusal(`config: image_processor_type: set image_processor_type to ${all}, ${what}: the files do not say`);
}

/** The class, found as by AutoImageProcessor; undefined if neither file names it. */
function className(p: Json, config: Json, type: ModelType | undefined): string | undefined {
  const name = p.image_processor_type ?? p.feature_extractor_type ?? config.image_processor_type;
  if (name == null) return type?.processor;
  return wordOf(name).replace(/(FeatureExtractor|ImageProcessor(Fast|Pil)?)$/, "");
}

type Sizes = Pick<Photo, "resize" | "crop" | "crop_at" | "edges">;

function sizesOf(p: Json, processor: Processor): Sizes {
  const square = flag(p, "default_to_square", processor.square);
  const resize = flag(p, "do_resize", true) ? sizeOf("size", p.size ?? processor.size, square) : null;
  if (!flag(p, "do_center_crop", processor.crop !== undefined)) {
    if (resize !== null && typeof resize !== "number") return { resize, crop: side(resize) };
    const what = resize === null ? "nothing is resized" : "size gives only the shorter side";
    throw refusal("do_center_crop", `expected true, because ${what}, got false`);
  }
  const crop = sizeOf("crop_size", p.crop_size ?? processor.crop ?? 224, true);
  if (typeof crop === "number") throw refusal("crop_size", "expected a height and a width, got a shortest_edge");
  const least = typeof resize === "number" ? [resize, resize] : resize ?? crop;
  if (least.some((length, axis) => length < crop[axis]!)) {
    throw refusal("crop_size", `expected at most the size, ${least.join("x")}, got ${crop.join("x")}`);
  }
  return { resize, crop: side(crop), crop_at: "floor" };
}

/** A height and a width stretch the photo. Else each photo has a size of its own. */
function yolosSizes(p: Json, processor: Processor, config: Json): Sizes {
  const size = p.size ?? processor.size;
  if (isObject(size) && size.height != null) return sizesOf({ ...p, do_center_crop: false }, processor);
  const { shortest_edge, longest_edge } = isLength(size) ? { shortest_edge: size, longest_edge: p.max_size ?? 1333 } : objectOr(size, {});
  if (!isLength(shortest_edge) || !isLength(longest_edge)) {
    throw refusal("size", `expected a shortest_edge and a longest_edge, or a height and a width, got ${show(JSON.stringify(size))}`);
  }
  return withEdges(pair(config.image_size ?? [512, 864]) as Pair, [shortest_edge, longest_edge]);
}

/** Images of this size, but for photos whose own size follows from `edges`. */
export const withEdges = (image: Pair, edges: Pair): Sizes => ({ resize: image, crop: image, edges });

/** Below a size of 384, the middle is cut out. crop_pct is its share of the resized photo. */
function convNextSizes(p: Json, processor: Processor): Sizes {
  const size = sizeOf("size", p.size ?? processor.size, false);
  if (typeof size !== "number") throw refusal("size", "expected a shortest_edge, got a height and a width");
  if (flag(p, "do_center_crop", false)) throw refusal("do_center_crop", "expected none, got true");
  if (size >= 384) return { resize: [size, size], crop: size };
  return { resize: Math.floor(size / share("preprocessor", p.crop_pct ?? 0.875)), crop: size, crop_at: "floor" };
}

/** One number is the shorter side. Two numbers are rows and columns. */
function sizeOf(key: string, size: unknown, square: boolean): number | Pair {
  const entries = isObject(size) ? Object.entries(size).filter(([, value]) => value !== null) : [];
  const { shortest_edge, height, width } = Object.fromEntries(entries) as Json;
  const keys = entries.map(([name]) => name).sort().join();
  const [short, pair] =
    isLength(size) ? (square ? [0, [size, size]] : [size, []])
    : Array.isArray(size) ? [0, size]
    : keys === "shortest_edge" ? [shortest_edge, []]
    : keys === "height,width" ? [0, [height, width]]
    : [0, []];
  if (isLength(short)) return short;
  if (pair.length === 2 && pair.every(isLength)) return [pair[0], pair[1]] as Pair;
  const what = `expected a number, {"height", "width"} or {"shortest_edge"}`;
  throw refusal(key, `${what}, got ${show(JSON.stringify(size))}`);
}

export const isLength = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;

/** The mean and the deviation for bytes / 255, whatever factor the processor uses. */
function standardisationOf(p: Json, processor: Processor, config: Json): Pick<Photo, "mean" | "std"> {
  const vision = objectOr(config.vision_config, config);
  const channels = isLength(vision.num_channels) && vision.num_channels <= 4 ? vision.num_channels : 3;
  const normal = flag(p, "do_normalize", true);
  const times = 255 * (flag(p, "do_rescale", true) ? factor(p.rescale_factor ?? 1 / 255) : 1);
  const scale = Math.abs(times - 1) < 1e-6 ? 1 : times;
  const numbers = (key: string, value: unknown, none: number) => {
    const source = normal ? value : none;
    const all: unknown[] = Array.isArray(source) ? source : Array(channels).fill(source);
    if (!all.every((each) => typeof each === "number")) {
      throw refusal(key, `expected numbers, got ${show(JSON.stringify(value))}`);
    }
    const numbers = all.map((each) => each / scale);
    if (channels > 1 || numbers.length === 1) return numbers;
    if (new Set(numbers).size === 1) return numbers.slice(0, 1); // grey is prepared like each colour
    throw refusal(key, `expected one number for the model's one channel, got ${numbers.length}: pass a \`prepare\``);
  };
  return {
    mean: numbers("image_mean", p.image_mean ?? processor.mean, 0),
    std: numbers("image_std", p.image_std ?? processor.std, 1),
  };
}

function factor(value: unknown): number {
  if (typeof value === "number" && value > 0) return value;
  throw refusal("rescale_factor", `expected a number above 0, got ${show(JSON.stringify(value))}`);
}

function flag(p: Json, key: string, otherwise: boolean): boolean {
  const value = p[key] ?? otherwise;
  if (typeof value === "boolean") return value;
  throw refusal(key, `expected true or false, got ${show(JSON.stringify(value))}`);
}

const refusal = (key: string, what: string) => new Refusal(`preprocessor: ${key}: ${what}`);

export function share(where: string, value: unknown): number {
  if (typeof value === "number" && value > 0 && value <= 1) return value;
  const got = show(JSON.stringify(value));
  throw new Refusal(`${where}: crop_pct: expected a number above 0 and up to 1, got ${got}`);
}
