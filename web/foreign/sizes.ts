/** Completes a config by the shapes of a file's tensors and by what its family fixes. */
import type { Json } from "../base/json.js";
import { hasOwn, show } from "../errors.js";
import type { Checkpoint } from "./checkpoint.js";
import type { Tensor } from "./family.js";
import { Refusal } from "./refusal.js";

type Size = readonly [number, number];

/** A config with all keys that have no default, and the keys that were guessed. */
export interface Completed {
  readonly config: Json;
  readonly assumed: readonly string[];
}

/** The keys that every config has. */
const REQUIRED = ["image_size", "patch_size", "channels", "width", "depth", "heads", "mlp_width", "classes"];

export const isWhole = (config: Json) => REQUIRED.every((key) => hasOwn(config, key));

/** The limits of src/config.def. A config that exceeds them is refused there. */
export const MOST_DEPTH = 1024;
const MOST_REGISTERS = 1024;
const MOST_SIDE = 16384;

const ROTARY = "rotary (DINOv3, PE) is not known yet";

const shown = (shape: readonly number[]) => `(${shape.join()})`;

/** Asks for a key that neither the file nor its family tells. */
const ask = (key: string, values: string, more = "") => new Refusal(`config: ${key}: tell ${values}; nothing in this file does${more}`);

const misshapen = ({ name }: Tensor, what: string) => new Refusal(`tensor "${show(name)}": ${what}`, "bad_tensor");

const rootOf = (square: number) => (Number.isInteger(Math.sqrt(square)) && square < 2 ** 32 ? Math.sqrt(square) : 0);

/** A given size. One that makes no sense becomes 1 here; the core refuses it later. */
const sizeOf = (value: unknown) => (Number.isInteger(value) && (value as number) > 0 && (value as number) < 2 ** 31 ? (value as number) : 1);

function pairOf(value: unknown): Size {
  const good = Array.isArray(value) && value.length === 2 ? value : [1, 1];
  const [rows, columns] = good.map((length) => (sizeOf(length) > MOST_SIDE ? 1 : sizeOf(length)));
  return [rows!, columns!];
}

interface Prefix {
  readonly classes: number;
  readonly distillations: number;
  readonly registers: number;
}

function prefixOf(prefix: unknown): Prefix {
  const tokens = Array.isArray(prefix) ? prefix : [];
  const count = (word: string) => tokens.filter((token) => token === word).length;
  return { classes: count("class"), distillations: count("distillation"), registers: count("register") };
}

/** How many vectors of this width a tensor has. */
const vectors = (tensor: Tensor | undefined, width: number) => (tensor && width ? Math.floor(tensor.count / width) : 0);

/** Completes a given config. What is given stays as it is. */
export function complete(checkpoint: Checkpoint, given: Json): Completed {
  const assumed: string[] = [];
  const isGiven = (key: string) => hasOwn(given, key);
  const assume = (...keys: string[]) => void assumed.push(...keys.filter((key) => !isGiven(key)));
  const own = isWhole(given) ? {} : sizes(checkpoint, given, assume);
  const fixed = fixes(checkpoint, given, sizeOf(own.channels ?? given.channels), assume);
  const inferred = Object.entries({ ...own, ...fixed, prepare: null }); // no tensor tells how to prepare pixels
  const missing = inferred.filter(([key, value]) => value !== undefined && !isGiven(key));
  return { config: { ...Object.fromEntries(missing), ...given }, assumed };
}

// ---- Sizes -------------------------------------------------------------------

type Assume = (...keys: string[]) => void;

function sizes(checkpoint: Checkpoint, given: Json, assume: Assume): Json {
  refuseRotary(checkpoint);
  const { family } = checkpoint;
  const { width, channels, patch } = patchesOf(checkpoint, given, assume);
  const prefix = hasOwn(given, "prefix") ? prefixOf(given.prefix) : tokensOf(checkpoint, width);
  if (prefix.registers > MOST_REGISTERS) {
    throw new Refusal(`expected at most ${MOST_REGISTERS} registers, got ${prefix.registers}`, "bad_tensor");
  }
  const image = imageOf(checkpoint, given, { width, patch, prefix }, assume);
  if (checkpoint.has("pos_embed")) {
    if (checkpoint.has("blocks.0.gamma_1")) assume("position"); // some of timm's rotary models look like a DeiT III
  } else if (!hasOwn(given, "position")) {
    throw ask("position", "none, sincos1d, sincos2d or relative", `; ${ROTARY}`);
  }
  const { heads, headWidth } = headsOf(checkpoint, given, assume);
  const head = checkpoint.tensor("head.weight");
  const classes = head?.shape[family.headTransposed ? 1 : 0] ?? 0;
  const mlp = checkpoint.rows("blocks.0.mlp.fc1.weight");
  if (mlp === 0) throw missing(checkpoint, "blocks.0.mlp.fc1.weight");
  const depth = depthOf(checkpoint);
  if (depth === 0) throw missing(checkpoint, "blocks.0.norm1.weight");
  const { pool, pool_prefix } = poolOf(checkpoint, given, { width, prefix }, assume);
  return {
    image_size: image,
    patch_size: patch,
    channels,
    width,
    depth,
    heads,
    head_width: headWidth * heads === width ? undefined : headWidth || undefined,
    mlp_width: mlp,
    classes,
    final_norm: checkpoint.has("fc_norm.weight") || checkpoint.has("norm.weight"),
    position: "learned",
    pool,
    pool_prefix: pool_prefix || undefined,
    attention: isBare(checkpoint) ? "per_head" : "standard", // per_head has no projection
    qkv_bias: checkpoint.has("blocks.0.attn.qkv.bias"),
    qk_norm: checkpoint.has("blocks.0.attn.q_norm.weight"),
    layer_scale: checkpoint.has("blocks.0.ls1.gamma"),
    prefix: [
      ...Array<string>(prefix.classes).fill("class"),
      ...Array<string>(prefix.distillations).fill("distillation"),
      ...Array<string>(prefix.registers).fill("register"),
    ],
  };
}

function missing(checkpoint: Checkpoint, ours: string): Refusal {
  return new Refusal(`tensor "${checkpoint.missingNames(ours)[0]}", as ${checkpoint.family.name} names it: is missing`, "bad_tensor");
}

/** The beginnings of the names of tables of rotary positions. */
const TABLES = /(^|\.)(rope|rotary|freqs|inv_freq|periods)/;

/** Refuses models with rotary positions, whose other tensors are named and shaped like those of known models. */
function refuseRotary(checkpoint: Checkpoint): void {
  const table = () => checkpoint.tensors
    .filter((tensor) => TABLES.test(tensor.name) && !checkpoint.ignores(tensor))
    .reduce<Tensor | undefined>((first, tensor) => (first && first.name < tensor.name ? first : tensor), undefined);
  const found = checkpoint.family.rotary?.(checkpoint) ?? table();
  if (found) throw misshapen(found, `is of a model with rotary positions; ${ROTARY}`);
}

/** The shape (D,C,P,Q) tells all sizes, (D,C·P·Q) only their product. */
function patchesOf(checkpoint: Checkpoint, given: Json, assume: Assume) {
  const proj = checkpoint.tensor("patch_embed.proj.weight");
  if (!proj) throw missing(checkpoint, "patch_embed.proj.weight");
  const { shape } = proj;
  const [width = 0, C = 0, P = 0, Q = 0] = shape;
  const told = hasOwn(given, "patch_size") ? pairOf(given.patch_size) : undefined;
  if (shape.length === 4) {
    const known = hasOwn(given, "stem") || (hasOwn(given, "channels") && sizeOf(given.channels) === C); // a stem's last maps are channels
    if (!known && isChannelsLast(shape)) {
      throw misshapen(proj, `expected (D,C,P,Q), got ${shown(shape)}, which is MLX's order (D,P,Q,C): save its transpose(0, 3, 1, 2)`);
    }
    return { width, channels: C, patch: told ?? ([P, Q] as const) }; // after a stem the tensor does not tell the patch
  }
  const linear = shape.length === 2 ? linearPatches(C, given, told, assume) : { channels: 0, patch: told };
  if (linear.patch) return { width, channels: linear.channels, patch: linear.patch };
  throw new Refusal(`config: patch_size: tell [rows, columns]; tensor "${show(proj.name)}" of shape ${shown(shape)} does not`);
}

/** Whether a convolution's weight is (D,P,Q,C), as MLX has it, for a square patch. */
const isChannelsLast = ([, P, Q, C]: readonly number[]) => P! > 1 && P === Q && C! <= 4 && P !== C;

/** Takes a matrix for one of three channels if the patch is then a square, else for one of a single channel. */
function linearPatches(pixels: number, given: Json, told: Size | undefined, assume: Assume) {
  const channels = hasOwn(given, "channels") ? sizeOf(given.channels) : undefined;
  if (told) {
    const area = told[0] * told[1];
    return { channels: channels ?? (pixels % area === 0 ? pixels / area : 0), patch: told };
  }
  const known = channels ?? [3, 1].find((count) => rootOf(pixels / count) > 0);
  const side = known ? rootOf(Math.floor(pixels / known)) : 0;
  assume("channels", "patch_size");
  return { channels: known ?? 0, patch: side > 0 ? ([side, side] as const) : undefined };
}

const tokensOf = (checkpoint: Checkpoint, width: number): Prefix => ({
  classes: Number(checkpoint.has("cls_token")),
  distillations: Number(checkpoint.has("dist_token")),
  registers: vectors(checkpoint.tensor("reg_token"), width),
});

/** Takes the positions for those of a square of patches, with or without rows for the prefix. */
function imageOf(
  checkpoint: Checkpoint,
  given: Json,
  { width, patch, prefix }: { readonly width: number; readonly patch: Size; readonly prefix: Prefix },
  assume: Assume,
): Size {
  if (hasOwn(given, "image_size")) return pairOf(given.image_size);
  const rows = vectors(checkpoint.tensor("pos_embed"), width);
  const tokens = prefix.classes + prefix.distillations;
  const side = [tokens + prefix.registers, tokens, 0].map((extra) => rootOf(Math.max(0, rows - extra))).find(Boolean);
  if (side) {
    if (checkpoint.family.assumed?.includes("image_size")) assume("image_size");
    return [side * patch[0], side * patch[1]];
  }
  const why = `${rows} positions for patches of ${shown(patch)} pixels do not${rows ? "" : `; ${ROTARY}`}`;
  throw new Refusal(`config: image_size: tell [rows, columns]; ${why}`);
}

const isBare = (checkpoint: Checkpoint) => checkpoint.family.bare === true && !checkpoint.has("blocks.0.attn.proj.weight");

function headsOf(checkpoint: Checkpoint, given: Json, assume: Assume) {
  const width = Math.floor(checkpoint.rows("blocks.0.attn.qkv.weight") / 3); // of all heads
  let heads = hasOwn(given, "heads") ? sizeOf(given.heads) : isBare(checkpoint) ? 1 : normedHeads(checkpoint, width);
  if (!heads) {
    heads = usualHeads(checkpoint.family.heads, width);
    if (!heads) throw ask("heads", proposedHeads(width));
    assume("heads");
  }
  if (width % heads) throw new Refusal(`config: heads: expected a divisor of ${width}, got ${heads}`);
  return { heads, headWidth: width / heads };
}

/** If each head's queries are normed, that norm is as wide as a head. */
function normedHeads(checkpoint: Checkpoint, width: number): number {
  const count = checkpoint.tensor("blocks.0.attn.q_norm.weight")?.count ?? 0;
  return count > 0 && width % count === 0 ? width / count : 0;
}

function usualHeads(published: Readonly<Record<number, number>> | undefined, width: number): number {
  if (!published) return 0;
  return hasOwn(published, width) ? published[width]! : width % 64 ? 0 : width / 64;
}

/** Numbers that make heads 16 to 64 wide, or in a small model 4 to 64. */
function proposedHeads(width: number): string {
  const least = width < 64 ? 4 : 16;
  const numbers: number[] = [];
  for (let heads = Math.ceil(width / 64); heads > 0 && heads <= width / least && numbers.length < 8; heads++) {
    if (width % heads === 0) numbers.push(heads);
  }
  return numbers.join(", ").replace(/, (?=\d+$)/, " or ") || "a divisor of the width";
}

/**
 * In vit-pytorch a class token of rank 2 means that the head reads it. An older version has a class
 * token, of rank 3, also in models that pool by a mean, and it is part of that mean.
 */
function poolOf(
  checkpoint: Checkpoint,
  given: Json,
  { width, prefix }: { readonly width: number; readonly prefix: Prefix },
  assume: Assume,
) {
  const { family } = checkpoint;
  const isGiven = (key: string) => hasOwn(given, key);
  const head = checkpoint.tensor("head.weight");
  const attends = checkpoint.has("attn_pool.latent");
  const means = family.mean || checkpoint.has("fc_norm.weight");
  const both = prefix.classes > 0 && head?.shape.length === 2 && !family.headTransposed && Math.floor(head.shape[1]! / 2) === width;
  const pool = attends ? "attention" : both ? "class_mean" : prefix.classes > 0 && !means ? "class" : "mean";
  const pool_prefix = family.bare === true && prefix.classes > 0;
  if (pool_prefix && checkpoint.tensor("cls_token")?.shape.length === 3 && !isGiven("pool")) throw ask("pool", "class or mean");
  const tokens = prefix.classes + prefix.distillations + prefix.registers;
  // timm pooled the prefix too before 1.0.16, transformers the registers before 4.52.
  if (!isGiven("pool_prefix")) {
    if (attends && tokens > 0) throw ask("pool_prefix", "true or false, whether the prefix is pooled too");
    if (both && prefix.registers > 0) throw ask("pool_prefix", "true or false, whether registers are in the mean");
  }
  if (family.assumed?.includes("pool") && !both && !attends) {
    assume("pool");
    if (tokens > 0 && (isGiven("pool") ? given.pool : pool) !== "class") assume("pool_prefix");
  }
  return { pool, pool_prefix };
}

/** How many blocks the file has; one more than the most if it has too many. */
function depthOf(checkpoint: Checkpoint): number {
  let depth = 0;
  while (depth <= MOST_DEPTH && checkpoint.has(`blocks.${depth}.norm1.weight`)) depth++;
  return depth;
}

// ---- What the family fixes -----------------------------------------------------

function fixes(checkpoint: Checkpoint, given: Json, channels: number, assume: Assume): Json {
  const { family } = checkpoint;
  const prefix = checkpoint.has("cls_token") || checkpoint.has("reg_token");
  const open = { ...family.open, ...(!prefix && family.openWithoutPrefix) };
  for (const key of ["norm", "activation"] as const) {
    if (open[key] && !hasOwn(given, key)) throw ask(key, open[key]);
  }
  for (const key of ["norm", "norm_eps", "activation"] as const) if (family.assumed?.includes(key)) assume(key);
  const isMatrix = checkpoint.tensor("patch_embed.proj.weight")?.shape.length === 2;
  const patchOrder = isMatrix ? family.patchOrder ?? "channels_last" : undefined;
  if (patchOrder === "channels_first" && channels > 1) assume("patch_order");
  const normed = checkpoint.has("norm_pre.weight");
  return {
    ...family.fixed,
    patch_order: patchOrder,
    patch_bias: (normed || family.headTransposed) && !checkpoint.has("patch_embed.proj.bias") ? false : undefined,
    head_bias: (normed || family.projection) && !checkpoint.has("head.bias") ? false : undefined,
  };
}

// ---- Positions -----------------------------------------------------------------

/**
 * Says which image size the learned positions fit and how they are resized, if that is not the
 * image's own.
 */
export function withPositions(checkpoint: Checkpoint, { config, assumed }: Completed): Completed {
  const position = checkpoint.tensor("pos_embed");
  if (!position || (config.position ?? "learned") !== "learned") return { config, assumed };
  const patch = pairOf(config.patch_size);
  const own = gridOf(pairOf(config.image_size), patch);
  const told = hasOwn(config, "position_size") ? gridOf(pairOf(config.position_size), patch) : undefined;
  const grid = positionsGrid(checkpoint, position, config, { own, told }) ?? own;
  if (grid[0] === own[0] && grid[1] === own[1]) return { config, assumed };
  const { family } = checkpoint;
  const given = config.position_resize === "by_family" ? undefined : config.position_resize;
  const by = typeof family.resize === "function" ? family.resize(checkpoint, config) : family.resize;
  // DINOv2 with registers antialiases in every family.
  const resize = given ?? (prefixOf(config.prefix).registers > 0 ? "antialias" : by);
  const guessed = !told && !family.squares && family.assumed?.includes("image_size");
  return {
    config: {
      ...config,
      ...(grid !== told && { position_size: [grid[0] * patch[0], grid[1] * patch[1]] }),
      ...(resize !== undefined && { position_resize: resize }),
    },
    assumed: [...assumed, ...(resize === undefined ? ["position_resize"] : []), ...(guessed ? ["position_size"] : [])],
  };
}

const gridOf = (image: Size, patch: Size): Size => [Math.floor(image[0] / patch[0]), Math.floor(image[1] / patch[1])];

/**
 * The grid of patches that has so many positions: the one that the config tells, the image's, or a
 * square. There may be rows for all tokens, for the patches alone, or, as in DINOv2, for the class
 * token and the patches but not for registers.
 */
function positionsGrid(
  checkpoint: Checkpoint,
  { shape, count }: Tensor,
  config: Json,
  { own, told }: { readonly own: Size; readonly told: Size | undefined },
): Size | undefined {
  const width = sizeOf(config.width);
  const [last = 0, before = count / width] = [...shape].reverse();
  const rows = last === width && before === count / width ? before : 0;
  const { classes, distillations, registers } = prefixOf(config.prefix ?? ["class"]);
  const prefix = classes + distillations + registers;
  const some = classes > 0 && registers > 0 && distillations === 0 ? 1 : 0;
  const extras = rows === own[0] * own[1] + prefix ? [prefix, 0, some] : [0, some, prefix];
  const counts = extras.map((extra) => rows - extra).filter((positions) => positions > 0);
  const has = (grid: Size) => (positions: number) => grid[0] * grid[1] === positions;
  if (told && counts.some(has(told))) return told;
  for (const positions of counts) {
    const side = rootOf(positions);
    if (has(own)(positions) && !(checkpoint.family.squares && side)) return own;
    if (side) return [side, side];
  }
  return undefined;
}
