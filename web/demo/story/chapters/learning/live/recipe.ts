/** The panel's choices, and the recipe that they make. Needs no page. */
import type { VitConfig } from "vitrine";
import type { Recipe } from "vitrine/train";
import myvit from "../../../../../../weights/myvit.recipe.json";
import digits from "../../../../../../weights/digits.recipe.json";
import type { Source } from "./own.ts";

export type PresetName = "myvit" | "ours";

export interface Choices {
  kind: PresetName;
  width: number;
  depth: number;
  heads: number;
  patch: number;
  position: VitConfig["position"];
  residual: boolean;
  rate: number;
  augment: boolean;
  images: number;
  epochs: number;
}

export const PRESETS: Readonly<Record<PresetName, Choices>> = {
  myvit: { kind: "myvit", width: 8, depth: 2, heads: 2, patch: 4, position: "sincos1d", residual: true, rate: 0.005, augment: false, images: 10_000, epochs: 15 },
  ours: { kind: "ours", width: 32, depth: 3, heads: 4, patch: 7, position: "sincos2d", residual: true, rate: 0.004, augment: false, images: 10_000, epochs: 6 },
};

export const OFFERED = {
  width: [8, 16, 32, 48, 64],
  depth: [1, 2, 3, 4, 6],
  patch: [4, 7, 14],
  position: ["none", "sincos1d", "sincos2d", "learned", "relative"],
  images: [1_000, 3_000, 10_000],
  epochs: [2, 6, 10, 15, 30],
} as const;
const HEADS = [1, 2, 4, 8, 16];

/** The heads into which a width divides, with at least 2 numbers each. */
export const headsFor = (width: number): number[] => HEADS.filter((heads) => width % heads === 0 && width / heads >= 2);

export type Break = "positions" | "residual" | "rate" | "head";
export const BREAKS: Readonly<Record<Break, (choices: Choices) => Partial<Choices>>> = {
  positions: () => ({ position: "none" }),
  residual: () => ({ residual: false }),
  rate: ({ rate }) => ({ rate: Math.min(rate * 30, HIGHEST_RATE) }),
  head: () => ({ heads: 1 }),
};

export const LOWEST_RATE = 1e-5, HIGHEST_RATE = 10;
/** Hidden numbers of an MLP for each of a token. */
const MLP = 4;

/** Our plain model's training without what only a long run needs. */
const OURS = {
  batch: 64, optimizer: "muon", schedule: "cosine", min_learning_rate: 1e-5, warmup_epochs: 0.5,
  weight_decay: 0.1, beta1: 0.95, beta2: 0.98, clip_norm: 1, label_smoothing: 0.05,
};
const BASES = {
  myvit: { model: myvit.model, training: myvit.training },
  ours: { model: digits.model, training: OURS },
};
const SEED = 1;

/** @param source the images; without it MNIST's, whose classes the recipe has. */
export function recipeOf({ kind, width, depth, heads, patch, position, residual, rate, augment, epochs }: Choices, { names, prepare }: Partial<Source> = {}) {
  const { model, training } = BASES[kind];
  return {
    model: {
      ...model, patch_size: [patch, patch], width, depth, heads, mlp_width: MLP * width, position, residual,
      ...(names && { classes: names.length, labels: names }), ...(prepare && { prepare }),
    } as unknown as Recipe["model"],
    training: {
      ...training, epochs, validation: 0, seed: SEED, learning_rate: rate,
      augment: augment ? digits.training.augment : { probability: 0 },
    },
  } satisfies Recipe;
}
