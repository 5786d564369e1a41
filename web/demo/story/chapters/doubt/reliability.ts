/** How often the model that tells the story was right on MNIST's test images, by how sure it was. */
import type { VitConfig } from "vitrine";
import { once } from "../../../once.ts";
import { bytesOf } from "../../bytes.ts";
import address from "./reliability.json?url"; // by weights/tools/reliability.mjs

export interface Measured {
  model: string;
  images: number;
  temperature: number;
  uncertain_below: number;
  worst: number[]; // the test images of the greatest loss
  at: { temperature: number; bins: [count: number, right: number, sure: number][] }[];
}

export const loadMeasured = once(async (): Promise<Measured> =>
  JSON.parse(new TextDecoder().decode(await bytesOf(address, "the measured answers"))));

/** The answers that were about equally sure. */
export interface Bin {
  count: number;
  right: number;
  sure: number; // the mean probability of the answers; 0 in an empty bin
}

/** The bin of an answer: bin m holds (m/M, (m+1)/M], as in Guo et al., arXiv:1706.04599, section 2. */
export const binOf = (p: number, bins: number): number => Math.min(bins, Math.max(1, Math.ceil(p * bins))) - 1;

/** The bins at the measured temperature that is nearest by its ratio. */
export function binsAt(temperature: number, measured: Measured): Bin[] {
  const far = (other: number) => Math.abs(Math.log(other / temperature));
  const nearest = measured.at.reduce((a, b) => (far(b.temperature) < far(a.temperature) ? b : a));
  return nearest.bins.map(([count, right, sure]) => ({ count, right, sure }));
}

/** Expected calibration error: the mean of |sure − right|, each bin by its count; equation 3. */
export function calibrationError(bins: readonly Bin[]): number {
  const all = bins.reduce((sum, { count }) => sum + count, 0);
  return bins.reduce((sum, { count, right, sure }) => sum + Math.abs(right - sure * count), 0) / all;
}

/** How sure all answers are on average, and how many are right. */
export function overall(bins: readonly Bin[]): { sure: number; right: number } {
  const all = bins.reduce((sum, { count }) => sum + count, 0);
  const mean = (of: (bin: Bin) => number) => bins.reduce((sum, bin) => sum + of(bin), 0) / all;
  return { sure: mean(({ sure, count }) => sure * count), right: mean(({ right }) => right) };
}

const Z = 1.96; // for 95 %

/** Wilson's interval for a share of `right` in `count` (1927). It also fits small counts. */
export function wilson(right: number, count: number): [low: number, high: number] {
  const p = right / count, z2 = (Z * Z) / count;
  const half = Z * Math.sqrt((p * (1 - p)) / count + z2 / (4 * count));
  return [(p + z2 / 2 - half) / (1 + z2), (p + z2 / 2 + half) / (1 + z2)];
}

/** Whether a model is the measured one: calibrated models do not share both numbers. */
export const isMeasured = ({ temperature, uncertain_below }: Readonly<VitConfig>, measured: Measured): boolean =>
  temperature === measured.temperature && uncertain_below === measured.uncertain_below;

/** The measured temperatures, four to an octave, with the model's own instead of the measured model's. */
export function temperaturesFor({ temperature }: Readonly<VitConfig>): number[] {
  const others = Array.from({ length: 17 }, (_, k) => 2 ** (k / 4 - 2));
  return [...new Set([...others, temperature])].sort((a, b) => a - b);
}
