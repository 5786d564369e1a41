/** Measures two models' speed in turn, in slices. */
import type { Vit } from "vitrine";
import { slices } from "../../slices.ts";

const ROUNDS = 25, CALLS = 8; // clocks of browsers are coarse, so a round times several calls together

export interface Speed {
  rounds: number;
  calls: number;
  /** Milliseconds a call, the median of the rounds, of each model. */
  median: number[];
}

const medianOf = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1]!;

export async function measure(models: readonly Vit[], image: Float32Array): Promise<Speed> {
  const times = models.map((): number[] => []);
  const pause = slices();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [at, vit] of models.entries()) {
      const begin = performance.now();
      for (let call = 0; call < CALLS; call++) await vit.classify(image);
      const took = (performance.now() - begin) / CALLS;
      if (round > 0) times[at]!.push(took); // the first round warms up
      await pause();
    }
  }
  return { rounds: ROUNDS, calls: CALLS, median: times.map(medianOf) };
}
