/** Files → a model that runs in a worker, on all cores where the page may. */
import { Vit, type Prepare, type VitConfig } from "vitrine";

/** How pixels become numbers, where a checkpoint does not say. */
export const PIXELS: Readonly<Record<string, { title: string; mean: number[]; std: number[] }>> = {
  imagenet: {
    title: "ImageNet’s mean and deviation",
    mean: [0.485, 0.456, 0.406],
    std: [0.229, 0.224, 0.225],
  },
  half: { title: "from −1 to 1", mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] },
  clip: {
    title: "CLIP’s mean and deviation",
    mean: [0.48145466, 0.4578275, 0.40821073],
    std: [0.26862954, 0.26130258, 0.27577711],
  },
  unit: { title: "from 0 to 1", mean: [0, 0, 0], std: [1, 1, 1] },
};

interface Loading {
  signal: AbortSignal;
  onProgress: (loaded: number, total: number) => void;
}

const MOST_THREADS = 8;

export interface Loaded {
  model: Vit;
  /** Nobody said how pixels become numbers. */
  guessed: boolean;
}

/**
 * @param pixels one of {@link PIXELS}; what the checkpoint says, else ImageNet's, by default.
 * @param told JSON of what the checkpoint leaves open; may be empty.
 */
export async function loadCheckpoint(
  files: File[],
  pixels: string,
  told: string,
  options: Loading,
): Promise<Loaded> {
  const threads = crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, MOST_THREADS) : 1;
  const all = { ...options, threads, worker: true };
  const weights = told === "" ? { weights: files } : { weights: files, config: JSON.parse(told) };
  const model = await Vit.load(weights, all);
  const { config } = model;
  if (pixels === "" && config.prepare) return { model, guessed: false };
  model.dispose();
  const prepare = prepareBy(pixels || "imagenet", config);
  return { model: await Vit.load({ ...weights, prepare }, all), guessed: pixels === "" };
}

function prepareBy(pixels: string, { image_size, channels }: Readonly<VitConfig>): Prepare {
  const { mean, std } = PIXELS[pixels];
  return {
    kind: "photo",
    resize: image_size,
    fit: "cover",
    crop: image_size,
    mean: Array.from({ length: channels }, (_, channel) => mean[channel % 3]),
    std: Array.from({ length: channels }, (_, channel) => std[channel % 3]),
    interpolation: "bicubic",
  };
}
