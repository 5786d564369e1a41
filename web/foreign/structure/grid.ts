/** The sizes of image and patches, which the numbers of positions and of a patch's pixels tell, or the caller. */
import type { Tensor } from "../family.js";
import { rootOf, type Size } from "../sizes.js";
import { refuse, signatures } from "./layers.js";
import type { Model } from "./model.js";
import type { Matrix } from "./numbers.js";
import { isConvolution, readerOf } from "./outside.js";

export interface Grid {
  /** Undefined while the caller is asked for it. */
  readonly image_size: Size | undefined;
  readonly patch_size: Size | undefined;
  /** From one patch to the next, if not a patch. */
  readonly patch_stride: Size | undefined;
  readonly channels: number;
}

/** @param prefix how many tokens stand before the patches. @returns a config's keys, and how many patches there are; 0 while a size is open. */
export function gridOf(patches: Matrix, position: Tensor | undefined, width: number, prefix: number, model: Model): readonly [Grid, number] {
  const { columns } = patches, reader = readerOf(patches), isWhole = isConvolution(patches), [, depth, ...sides] = reader.shape as [number, number, number, number];
  const answers = model.config as Partial<Grid>;
  const pixels = answers.patch_size?.reduce((product, length) => product * length, 1);
  const channels = isWhole ? depth : model.assume("channels", pixels ? columns / pixels : [3, 1, 4, 2].find((count) => rootOf(columns / count)) ?? 0);
  const root = rootOf(columns / channels);
  const patch = isWhole ? sides : model.ask<Size>("patch_size", root ? [[root, root]] : []);
  const positions = position ? position.count / width : 0;
  const side = rootOf(positions - prefix) || rootOf(positions);
  const usual = side ? patch?.map((length, axis) => (side - 1) * (answers.patch_stride?.[axis] ?? length) + length) : undefined;
  // Overlapping patches make more positions, so an image of an odd size may be a smaller one.
  const isUsual = usual && (answers.patch_stride || usual[0] === 28 || usual[0]! % 32 === 0);
  const image = isUsual ? model.assume("image_size", usual as unknown as Size) : model.ask<Size>("image_size", []);
  let count = 0, stride = answers.patch_stride;
  if (image && patch) {
    const cells = (step: Size) => patch.reduce((product, length, axis) => product * Math.floor((image[axis]! - length) / step[axis]! + 1), 1);
    const fits = (step: Size) => [positions, positions - prefix].includes(cells(step));
    if (position && !fits(patch)) {
      const step = Array.from({ length: patch[0] - 1 }, (_, at) => [at + 1, at + 1] as const).find(fits);
      if (step) stride = model.assume("patch_stride", step);
    }
    count = cells(stride ?? patch);
    if (position && positions < count) throw refuse(`${signatures(position)}: expected positions for ${count} patches`);
  }
  return [{ image_size: image, patch_size: patch, patch_stride: stride, channels }, count];
}
