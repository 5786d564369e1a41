/** Ranks what a file leaves open by photos of known classes. */
import { readFileSync } from "node:fs";
import { type ImageInput, Vit, VitError } from "vitrine";
import { parseObject } from "../base/json.ts";
import { jsonOf, modelOptions, type PlainCommand } from "./command.ts";
import { openHeldOutFolders } from "./folders.ts";
import { textOf, UsageError } from "./options.ts";
import type { Photo } from "./photos.ts";

/** More photos tell little more, and each is classified once for each answer. */
const MOST_PHOTOS = 100;
const MOST_ROWS = 10;

interface Ranked {
  readonly config: Readonly<Record<string, unknown>>;
  readonly right: number;
}

/** How training scripts scale pixels: not at all, to -1 … 1, by ImageNet's mean, by MNIST's. */
const SCALES: readonly { readonly mean: readonly number[]; readonly std: readonly number[] }[] = [
  { mean: [0], std: [1] },
  { mean: [0.5], std: [0.5] },
  { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] },
  { mean: [0.1307], std: [0.3081] },
];

export const identify: PlainCommand = {
  about: "rank what a model's file leaves open, such as its heads, by photos of known classes",
  operand: "",
  options: {
    examples: { value: "FOLDER", help: `a folder of photos for each class, in the order of the model's classes; ${MOST_PHOTOS} are used` },
    model: { value: "MODEL", help: "the file" },
  },
  plan(values) {
    const path = textOf(values, "examples");
    if (path === undefined) throw new UsageError("--examples: expected a folder of photos for each class, got none");
    if (textOf(values, "model") === undefined) throw new UsageError("--model: expected a model's file, got none");
    const { options } = modelOptions(values);
    const overrides = configOf(textOf(values, "config"));
    return async ({ terminal }) => {
      const data = await openHeldOutFolders(path, "validation", terminal);
      const photos = await takePhotos(data);
      const ranking: Ranked[] = [];
      const prepares = overrides.prepare === undefined ? preparesFor(photos.map(({ image }) => image)) : [overrides.prepare];
      for (const [at, prepare] of prepares.entries()) {
        terminal.status(`${at}/${prepares.length} ways to prepare the photos`);
        const candidates = await rank({ weights: textOf(values, "model")!, config: overrides, prepare }, options, photos);
        ranking.push(...candidates.map(({ config, right }) => ({ config: { ...config, prepare }, right })));
      }
      terminal.status("");
      ranking.sort((a, b) => b.right - a.right);
      if (ranking.length === 0) throw new Error(`${path}: expected photos that the model can read, got none; set prepare with --config`);
      if (jsonOf(values).json) terminal.printJson({ count: photos.length, ranking });
      else for (const { config, right } of ranking.slice(0, MOST_ROWS)) terminal.printRow([`${right}/${photos.length}`, JSON.stringify(config)]);
      terminal.complain("labels only rank, and a wrong answer can come first: images with their logits settle it (examples of Vit.load)");
      return true;
    };
  },
};

/** Keys as text, or in a file. */
const configOf = (text = "{}") => parseObject(/^\s*\{/.test(text) ? text : readFileSync(text, "utf8"), "--config");

interface LabelledImage {
  readonly image: ImageInput;
  readonly label: number;
}

/** As many photos of each class, up to MOST_PHOTOS. */
async function takePhotos({ labels, parts, path, groups }: Awaited<ReturnType<typeof openHeldOutFolders>>): Promise<LabelledImage[]> {
  const photos: LabelledImage[] = [];
  const step = Math.max(1, Math.floor(parts.length / MOST_PHOTOS));
  let at = 0;
  for await (const group of groups({} as never)) {
    for (const example of group) {
      if ("error" in example) throw new Error(`${example.name}: ${example.error}`);
      if (at++ % step === 0 && photos.length < MOST_PHOTOS) photos.push({ image: example.image, label: labels.indexOf(String(example.label)) });
    }
  }
  if (photos.length === 0) throw new Error(`${path}: expected photos, got none`);
  return photos;
}

function preparesFor(images: readonly ImageInput[]): unknown[] {
  const [{ width, height }] = images as [Photo];
  if (width !== height || images.some((image) => (image as Photo).width !== width || (image as Photo).height !== height)) {
    throw new Error('prepare: expected square photos of one size, got others; set prepare with --config, as in {"prepare": {"kind": "photo", …}}');
  }
  return [1, 3].flatMap((channels) => SCALES.filter(({ mean }) => mean.length === 1 || mean.length === channels).map(({ mean, std }) => {
    const each = (values: readonly number[]) => (values.length === channels ? values : values.flatMap((value) => Array<number>(channels).fill(value)));
    return { kind: "photo", resize: width, crop: width, interpolation: "bilinear", mean: each(mean), std: each(std) };
  }));
}

/** The answers by how many photos each reads rightly; none where the model does not take such photos. */
async function rank(source: object, options: Parameters<typeof Vit.load>[1], examples: readonly LabelledImage[]): Promise<readonly Ranked[]> {
  try {
    const vit = await Vit.load(source as never, { ...options, examples });
    vit.dispose();
  } catch (error) {
    const candidates = error instanceof VitError ? (error.cause as { ranking?: readonly Ranked[] } | undefined)?.ranking : undefined;
    if (candidates) return candidates;
    if (error instanceof VitError && /prepare|channels|mean/.test(error.message)) return [];
    throw error;
  }
  return [];
}
