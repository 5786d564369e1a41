/** The sizes of image and patches, which the numbers of positions and of a patch's pixels tell, or the caller. */
import type { Tensor } from "../family.js";
import { rootOf, type Size } from "../sizes.js";
import { refuse, shown } from "./layers.js";
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
  const given = model.given as Partial<Grid>;
  let patch: Size | undefined = isWhole ? sides : given.patch_size;
  const channels = isWhole ? depth : model.assume("channels", patch ? columns / (patch[0] * patch[1]) : [3, 1, 4, 2].find((count) => rootOf(columns / count)) ?? 0);
  const root = rootOf(columns / channels);
  patch ??= root ? [root, root] : model.ask("patch_size", [], `${shown(reader)} does not show it`);
  const positions = position ? position.count / width : 0;
  const side = rootOf(positions - prefix) || rootOf(positions);
  let stride = given.patch_stride, image = given.image_size;
  if (!image && patch && side) {
    const usual = patch.map((length, axis) => (side - 1) * (stride?.[axis] ?? length) + length) as unknown as Size;
    // Overlapping patches make more positions, so an image of an odd size may be a smaller one.
    if (stride || usual[0] === 28 || usual[0] % 32 === 0) image = model.assume("image_size", usual);
  }
  image ??= model.ask("image_size", [], "no tensor shows it, because patches may overlap");
  let count = 0;
  if (image && patch) {
    const [whole, part] = [image, patch];
    const cells = (step: Size) => [0, 1].reduce((product, axis) => product * Math.floor((whole[axis]! - part[axis]!) / step[axis]! + 1), 1);
    const fits = (step: Size) => [positions, positions - prefix].includes(cells(step));
    if (!stride && position && !fits(part)) {
      const step = Array.from({ length: part[0] - 1 }, (_, at) => [at + 1, at + 1] as const).find(fits);
      if (step) stride = model.assume("patch_stride", step);
    }
    count = cells(stride ?? part);
    if (position && positions < count) throw refuse(`${shown(position)}: expected positions for ${count} patches`);
  }
  return [{ image_size: image, patch_size: patch, patch_stride: stride, channels }, count];
}
