/** Measures who reaches whom: changes one square after another, and looks at every unit. */
import type { Vit } from "vitrine";
import { slices } from "../../slices.ts";
import { changes, invert } from "./reach.ts";

const REST = 200; // milliseconds without a change of the drawing, because each change begins anew

/**
 * `stages` has a matrix (N,N) for the patches' embedding and for each block: row s, column u tells how
 * much unit u changes when square s is inverted. `measured` rows are there so far.
 */
export class Influence {
  stages: Float32Array[] = [];
  measured = 0;
  readonly #vit: Vit;
  #version = -1;

  constructor(vit: Vit) {
    this.#vit = vit;
  }

  get squares(): number {
    const { image_size, patch_size } = this.#vit.config;
    return (image_size[0] / patch_size[0]) * (image_size[1] / patch_size[1]);
  }

  /** Follows the drawing, an image (H,W). `changed` is called from time to time, and at the end. */
  async follow(version: number, image: Float32Array, changed: () => void): Promise<void> {
    if (version === this.#version) return;
    this.#version = version;
    this.measured = 0;
    await new Promise((rested) => setTimeout(rested, REST));
    if (this.#version !== version) return;
    const { squares: N } = this, { image_size, patch_size } = this.#vit.config;
    const columns = image_size[1], across = columns / patch_size[1];
    const before = await this.#units(image);
    if (this.#version !== version) return;
    this.stages = before.map(() => new Float32Array(N * N));
    const pause = slices();
    let drawn = performance.now();
    for (let square = 0; square < N; square++) {
      const place = [Math.floor(square / across), square % across] as const;
      const after = await this.#units(invert(image, columns, place, patch_size));
      if (this.#version !== version) return;
      after.forEach((units, stage) => {
        this.stages[stage]!.set(changes(before[stage]!, units, this.#vit.config.width), square * N);
      });
      this.measured++;
      await pause();
      if (this.#version !== version) return;
      if (performance.now() - drawn < 100) continue; // because drawing takes longer than measuring
      changed();
      drawn = performance.now();
    }
    changed();
  }

  /** The patches' tokens (N,D) at every stage. */
  async #units(image: Float32Array): Promise<Float32Array[]> {
    const { depth, prefix, width } = this.#vit.config;
    const { trace } = await this.#vit.classify(image, { trace: true });
    return Array.from({ length: depth + 1 }, (_, stage) => trace!.tokens(stage).subarray(prefix.length * width));
  }
}
