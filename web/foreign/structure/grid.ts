/** The sizes of image and patches, which the numbers of positions and of a patch's pixels tell, or the caller. */
import type { Tensor } from "../family.js";
import { rootOf, type Size } from "../sizes.js";
import { refuse, shown } from "./layers.js";
import { type Model, SIZES } from "./model.js";
import type { Patches } from "./outside.js";

export interface Grid {
  /** Undefined while the caller is asked for it. */
  readonly image: Size | undefined;
  readonly patch: Size | undefined;
  /** From one patch to the next, if not a patch. */
  readonly stride: Size | undefined;
  readonly channels: number;
  /** How many patches; 0 while a size is open. */
  readonly count: number;
}

/** @param prefix how many tokens stand before the patches. */
export function gridOf({ matrix, tensor, isConvolution }: Patches, position: Tensor | undefined, width: number, prefix: number, model: Model): Grid {
  const { given } = model;
  let patch = given.patch_size as Size | undefined;
  let channels = given.channels as number | undefined;
  if (isConvolution) {
    const [, depth, rows, columns] = tensor.shape as [number, number, number, number];
    [channels, patch] = [depth, [rows, columns]];
  } else {
    channels ??= patch ? matrix.columns / (patch[0] * patch[1]) : [3, 1, 4, 2].find((count) => rootOf(matrix.columns / count)) ?? 0;
    const side = rootOf(matrix.columns / channels);
    if (!patch && side) {
      patch = [side, side];
      model.assume("channels", channels);
    }
    patch ??= model.ask("patch_size", [], `${shown(tensor)} does not show it`, SIZES);
  }
  const positions = position ? position.count / width : 0;
  const side = rootOf(positions - prefix) || (prefix ? rootOf(positions) : 0);
  let stride = given.patch_stride as Size | undefined;
  let image = given.image_size as Size | undefined;
  if (!image && patch && side) {
    const usual = patch.map((length, axis) => (side - 1) * (stride?.[axis] ?? length) + length) as unknown as Size;
    // Overlapping patches make more positions, so an image of an odd size may be a smaller one.
    if (stride || usual[0] === 28 || usual[0] % 32 === 0) image = model.assume("image_size", usual);
  }
  image ??= model.ask("image_size", [], side ? "no tensor shows whether patches overlap" : position ? `${positions} positions do not make a square` : "the file has no positions", SIZES);
  if (!image || !patch) return { image, patch, stride, channels, count: 0 };
  const [whole, part] = [image, patch];
  const cells = (step: Size) => [0, 1].reduce((product, axis) => product * (Math.floor((whole[axis]! - part[axis]!) / step[axis]!) + 1), 1);
  const fits = (step: Size) => [positions, positions - prefix].includes(cells(step));
  if (!stride && position && !fits(part)) {
    const step = Array.from({ length: part[0] - 1 }, (_, at) => [at + 1, at + 1] as const).find(fits);
    if (step) stride = model.assume("patch_stride", step);
  }
  const count = cells(stride ?? part);
  if (position && positions < count) throw refuse(`${shown(position)}: expected positions for ${count} patches`);
  return { image, patch, stride, channels, count };
}
