/** Finds which image size learned positions fit, and how they and relative ones are resized. */
import type { Json } from "../base/json.js";
import { hasOwn } from "../errors.js";
import type { Checkpoint } from "./checkpoint.js";
import type { Tensor } from "./family.js";
import { type Completed, pairOf, prefixOf, rootOf, type Size, sizeOf } from "./sizes.js";

/**
 * Says how learned and relative positions are resized, as `size` of a call asks too, and which image size
 * learned ones fit, if that is not the image's own.
 */
export function withPositions(checkpoint: Checkpoint, { config, assumed }: Completed): Completed {
  const position = checkpoint.tensor("pos_embed"), kind = String(config.position ?? "learned");
  if (kind !== "relative" && !(position && ["learned", "rotary"].includes(kind))) return { config, assumed };
  const patch = pairOf(config.patch_size);
  const own = gridOf(pairOf(config.image_size), patch);
  const configGrid = hasOwn(config, "position_size") ? gridOf(pairOf(config.position_size), patch) : undefined;
  const grid = (position && positionsGrid(checkpoint, position, config, { own, configGrid })) ?? own;
  const { family } = checkpoint;
  const chosen = config.position_resize === "by_family" ? undefined : config.position_resize;
  const by = typeof family.resize === "function" ? family.resize(checkpoint, config) : family.resize;
  // DINOv2 with registers antialiases in every family.
  const resize = chosen ?? (prefixOf(config.prefix).register > 0 ? "antialias" : by);
  const resized = resize === undefined ? config : { ...config, position_resize: resize };
  if (grid[0] === own[0] && grid[1] === own[1]) return { config: resized, assumed };
  const guessed = !configGrid && !family.squares && family.assumed?.includes("image_size");
  return {
    config: { ...resized, ...(grid !== configGrid && { position_size: [grid[0] * patch[0], grid[1] * patch[1]] }) },
    assumed: [...assumed, ...(resize === undefined ? ["position_resize"] : []), ...(guessed ? ["position_size"] : [])],
  };
}

export const gridOf = (image: Size, patch: Size): Size => [Math.floor(image[0] / patch[0]), Math.floor(image[1] / patch[1])];

/**
 * The grid of patches that has this many positions: the one of position_size, the image's, or a
 * square. There may be rows for all tokens, for the patches alone, or, as in DINOv2, for the class
 * token and the patches but not for registers.
 */
function positionsGrid(
  checkpoint: Checkpoint,
  { shape, count }: Tensor,
  config: Json,
  { own, configGrid }: { readonly own: Size; readonly configGrid: Size | undefined },
): Size | undefined {
  const width = sizeOf(config.width);
  const [last = 0, before = count / width] = [...shape].reverse();
  const rows = last === width && before === count / width ? before : 0;
  const tokens = prefixOf(config.prefix ?? ["class"]);
  const detections = Number.isInteger(config.detections) ? (config.detections as number) : 0;
  const prefix = tokens.class + tokens.distillation + tokens.register + detections;
  const some = tokens.class > 0 && tokens.register > 0 && tokens.distillation === 0 ? 1 : 0;
  const extras = rows === own[0] * own[1] + prefix ? [prefix, 0, some] : [0, some, prefix];
  const counts = extras.map((extra) => rows - extra).filter((positions) => positions > 0);
  const has = (grid: Size) => (positions: number) => grid[0] * grid[1] === positions;
  if (configGrid && counts.some(has(configGrid))) return configGrid;
  for (const positions of counts) {
    const side = rootOf(positions);
    if (has(own)(positions) && !(checkpoint.family.squares && side)) return own;
    if (side) return [side, side];
    const grid = checkpoint.family.grids?.[positions];
    if (grid) return grid;
  }
  return undefined;
}
