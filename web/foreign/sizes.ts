/** Completes a config by the shapes of a file's tensors and by what its family fixes. */
import type { Json } from "../base/json.js";
import { hasOwn, show } from "../errors.js";
import { MOST_DEPTH, MOST_SIDE } from "../generated/config.js";
import type { Checkpoint } from "./checkpoint.js";
import { type Family, isGated, type Tensor } from "./family.js";
import { Refusal } from "./refusal.js";

export type Size = readonly [number, number];

/** A config with all keys that have no default, and the keys that were guessed. */
export interface Completed {
  readonly config: Json;
  readonly assumed: readonly string[];
}

/** The keys that every config has. */
const REQUIRED = ["image_size", "patch_size", "channels", "width", "depth", "heads", "mlp_width", "classes"];

export const isWhole = (config: Json) => REQUIRED.every((key) => hasOwn(config, key));

/** The limit of the core. A config that exceeds it is refused there. */
export const MOST_REGISTERS = 1024;

const POSITIONS = "none, sincos1d, sincos2d, relative or rotary";

const shapeText = (shape: readonly number[]) => `(${shape.join()})`;

/** Asks for a key that follows from neither the file nor its family. web/demo/own reads this message. */
const askFor = (key: string, text: string, why = "the file does not say") => {
  const words = text.replace(/, whether .*/, "").split(/, | or /);
  const values = words.every((word) => /^\w+$/.test(word)) ? words.map((word) => (/^(\d+|true|false)$/.test(word) ? JSON.parse(word) as unknown : word)) : [];
  return Object.assign(new Refusal(`config: ${key}: set ${key} to ${text}: ${why}`), { questions: [{ key, values }] });
};

const badShape = ({ name }: Tensor, what: string) => new Refusal(`tensor "${show(name)}": ${what}`, "bad_tensor");

export const rootOf = (square: number) => (Number.isInteger(Math.sqrt(square)) && square < 2 ** 32 ? Math.sqrt(square) : 0);

/** A size from a config. A bad one becomes 1 here, and the core refuses it later. */
export const sizeOf = (value: unknown) => (Number.isInteger(value) && (value as number) > 0 && (value as number) < 2 ** 31 ? (value as number) : 1);

export function pairOf(value: unknown): Size {
  const good = Array.isArray(value) && value.length === 2 ? value : [1, 1];
  const [rows, columns] = good.map((length) => (sizeOf(length) > MOST_SIDE ? 1 : sizeOf(length)));
  return [rows!, columns!];
}

/** How many tokens of each kind stand before the patches. */
type Prefix = Readonly<Record<"class" | "distillation" | "register", number>>;

export function prefixOf(prefix: unknown): Prefix {
  const tokens = Array.isArray(prefix) ? prefix : [];
  const count = (word: string) => tokens.filter((token) => token === word).length;
  return { class: count("class"), distillation: count("distillation"), register: count("register") };
}

/** How many vectors of this width a tensor has. */
const vectors = (tensor: Tensor | undefined, width: number) => (tensor && width ? Math.floor(tensor.count / width) : 0);

const RELATIVE = "blocks.0.attn.rel_pos.relative_position_bias_table";

/** The beginnings of the names of tables of rotary positions. */
const TABLES = /(^|\.)(rope|rotary|freqs|inv_freq|periods)/;

/** Adds the missing keys to a config. The keys that it has stay as they are. */
export function complete(checkpoint: Checkpoint, config: Json): Completed {
  const { family } = checkpoint;
  const gated = isGated(checkpoint);
  // timm's config names SwiGLU and its activation only if they are among model_args.
  const { activation, ...others } = config;
  const overrides = gated && !config.mlp && activation === "gelu" ? others : config;
  const assumed: string[] = [];

  const sizes = isWhole(overrides) ? {} : readSizes();
  const fixed = fixedKeys(sizeOf(sizes.channels ?? overrides.channels));
  const { width, image_size }: Json = { ...sizes, ...overrides };
  const prepare = family.prepare?.(width, pairOf(image_size)) ?? null; // no tensor shows it
  const entries = Object.entries({ ...sizes, ...fixed, prepare });
  const missing = entries.filter(([key, value]) => value !== undefined && !isSet(key));
  return { config: { ...Object.fromEntries(missing), ...overrides }, assumed };

  function isSet(key: string): boolean {
    return hasOwn(overrides, key);
  }

  /** Reports keys whose values are guesses, unless they are given. */
  function assume(...keys: string[]): void {
    assumed.push(...keys.filter((key) => !isSet(key)));
  }

  function assumes(key: NonNullable<Family["assumed"]>[number]): boolean {
    return family.assumed?.includes(key) ?? false;
  }

  function missingTensor(ours: string): Refusal {
    const name = checkpoint.missingNames(ours)[0]!;
    return new Refusal(`tensor "${name}", as ${family.name} names it: is missing`, "bad_tensor");
  }

  function readSizes(): Json {
    refuseRotary();
    const { width, channels, patch } = readPatches();
    const prefix = readPrefix(width);
    const detector = checkpoint.tensor("det_token"), detections = vectors(detector, width);
    if (detector && family.strict) throw badShape(detector, "is of a detector whose code is not known here");
    const image_size = readImageSize(width, patch, { ...prefix, register: prefix.register + detections });
    const relative = checkpoint.has(RELATIVE);
    if (checkpoint.has("pos_embed")) {
      const unsure = ["gamma_1", "attn.q_bias"].some((name) => checkpoint.has(`blocks.0.${name}`)); // some of timm's rotary models look like a DeiT III
      if (!relative && !family.fixed.position && unsure) assume("position");
    } else if (!relative && !isSet("position") && !family.fixed.position) {
      throw askFor("position", POSITIONS);
    }
    const { heads, head_width } = readHeads();
    const rows = checkpoint.rows("blocks.0.mlp.fc1.weight");
    const mlp_width = gated ? rows / 2 : rows;
    if (mlp_width === 0) throw missingTensor("blocks.0.mlp.fc1.weight");
    let depth = 0;
    while (depth <= MOST_DEPTH && checkpoint.has(`blocks.${depth}.norm1.weight`)) depth++;
    if (depth === 0) throw missingTensor("blocks.0.norm1.weight");
    return {
      image_size,
      patch_size: patch,
      channels,
      width,
      depth,
      heads,
      head_width: head_width * heads === width ? undefined : head_width || undefined,
      mlp_width,
      mlp: gated ? "gated" : "plain",
      mlp_norm: checkpoint.has("blocks.0.mlp.norm.weight"),
      classes: detections ? Math.max(0, checkpoint.rows("class_embed.layers.2.weight") - 1)
        : checkpoint.tensor("head.weight")?.shape[family.headTransposed ? 1 : 0] ?? 0,
      detections,
      mid_position: checkpoint.has("mid_pos_embed"),
      final_norm: checkpoint.has("fc_norm.weight") || checkpoint.has("norm.weight"),
      position: relative ? "relative" : "learned",
      ...readPool(width, prefix),
      attention: isBare() ? "per_head" : "standard", // per_head has no projection
      qkv_bias: checkpoint.has("blocks.0.attn.qkv.bias"),
      qk_norm: checkpoint.has("blocks.0.attn.q_norm.weight"),
      layer_scale: checkpoint.has("blocks.0.ls1.gamma"),
      prefix: (["class", "distillation", "register"] as const).flatMap((word) => Array<string>(prefix[word]).fill(word)),
    };
  }

  /** Refuses models with rotary positions, whose other tensors are named and shaped like those of known models. */
  function refuseRotary(): void {
    const { added, tensors } = checkpoint;
    const plain = isSet("position") && overrides.position !== "rotary";
    const found = (plain ? undefined : family.unknown?.(checkpoint)) ?? tensors.find((tensor) =>
      TABLES.test(tensor.name) && !added.some(({ from }) => from.includes(tensor)) && !checkpoint.ignores(tensor));
    if (found) throw badShape(found, "is of a model with rotary positions that are not known here");
  }

  /** The shape (D,C,P,Q) shows all sizes, (D,C·P·Q) only their product. */
  function readPatches(): { readonly width: number; readonly channels: number; readonly patch: Size } {
    const proj = checkpoint.tensor("patch_embed.proj.weight");
    if (!proj) throw missingTensor("patch_embed.proj.weight");
    const { shape } = proj;
    const made = family.patches?.(checkpoint);
    if (made) return { width: shape[0] ?? 0, channels: made.channels, patch: made.patch_size };
    const [width = 0, C = 0, P = 0, Q = 0] = shape;
    const patchSize = isSet("patch_size") ? pairOf(overrides.patch_size) : undefined;
    if (shape.length === 4) {
      const stem = isSet("stem"); // its last maps are the channels, and the tensor does not show the patch
      const isChannelsFirst = stem || (isSet("channels") && sizeOf(overrides.channels) === C);
      if (!isChannelsFirst && isChannelsLast(shape)) {
        throw badShape(proj, `expected (D,C,P,Q), got ${shapeText(shape)}, which is MLX's order (D,P,Q,C): save its transpose(0, 3, 1, 2)`);
      }
      return { width, channels: C, patch: patchSize ?? [P, Q] };
    }
    const { channels, patch } = shape.length === 2 ? readMatrix(C, patchSize) : { channels: 0, patch: patchSize };
    if (patch) return { width, channels, patch };
    throw askFor("patch_size", "[rows, columns]", `tensor "${show(proj.name)}" of shape ${shapeText(shape)} does not say`);
  }

  /** Assumes three channels if the patch is then a square, else one. */
  function readMatrix(pixels: number, patch: Size | undefined): { readonly channels: number; readonly patch: Size | undefined } {
    const override = isSet("channels") ? sizeOf(overrides.channels) : undefined;
    if (patch) {
      const channels = pixels / (patch[0] * patch[1]);
      return { channels: override ?? (Number.isInteger(channels) ? channels : 0), patch };
    }
    const channels = override ?? [3, 1].find((count) => rootOf(pixels / count) > 0) ?? 0;
    const side = channels ? rootOf(Math.floor(pixels / channels)) : 0;
    assume("channels", "patch_size");
    return { channels, patch: side > 0 ? [side, side] : undefined };
  }

  function readPrefix(width: number): Prefix {
    const prefix = isSet("prefix") ? prefixOf(overrides.prefix) : {
      class: Number(checkpoint.has("cls_token")),
      distillation: Number(checkpoint.has("dist_token")),
      register: vectors(checkpoint.tensor("reg_token"), width),
    };
    if (prefix.register <= MOST_REGISTERS) return prefix;
    throw new Refusal(`expected at most ${MOST_REGISTERS} registers, got ${prefix.register}`, "bad_tensor");
  }

  /**
   * Assumes that the positions are those of a square of patches, with or without rows for the prefix. Relative
   * ones have a row for each offset, and three for the prefix.
   */
  function readImageSize(width: number, patch: Size, prefix: Prefix): Size {
    if (isSet("image_size")) return pairOf(overrides.image_size);
    const rows = vectors(checkpoint.tensor("pos_embed"), width);
    const tokens = prefix.class + prefix.distillation;
    const offsets = (checkpoint.tensor(RELATIVE)?.shape[0] ?? 0) - (tokens + prefix.register > 0 ? 3 : 0);
    const side = [tokens + prefix.register, tokens, 0].map((extra) => rootOf(Math.max(0, rows - extra))).find(Boolean) ?? (rootOf(Math.max(0, offsets)) + 1) >> 1;
    const [height, columns] = family.grids?.[rows - tokens - prefix.register] ?? [side, side];
    if (height) {
      if (assumes("image_size")) assume("image_size");
      return [height * patch[0], columns * patch[1]];
    }
    const why = `${rows} positions for patches of ${shapeText(patch)} pixels do not say`;
    throw askFor("image_size", "[rows, columns]", why);
  }

  function isBare(): boolean {
    return family.bare === true && !checkpoint.has("blocks.0.attn.proj.weight");
  }

  function readHeads(): { readonly heads: number; readonly head_width: number } {
    const width = Math.floor(checkpoint.rows("blocks.0.attn.qkv.weight") / 3); // of all heads
    const norm = checkpoint.tensor("blocks.0.attn.q_norm.weight")?.count; // as wide as a head
    const normed = norm && width % norm === 0 ? width / norm : 0;
    const [, , turned, ...pairs] = checkpoint.tensor("rope.freqs")?.shape ?? []; // (2,L,h,d/2)
    let heads = isSet("heads") ? sizeOf(overrides.heads) : isBare() ? 1 : normed || (pairs.length && turned) || checkpoint.tensor(RELATIVE)?.shape[1];
    if (!heads) {
      heads = usualHeads(family.heads, width);
      if (!heads) throw askFor("heads", likelyHeads(width));
      assume("heads");
    }
    if (width % heads) throw new Refusal(`config: heads: expected a divisor of ${width}, got ${heads}`);
    return { heads, head_width: width / heads };
  }

  /**
   * In vit-pytorch a class token of rank 2 means that the head reads it. An older version has a class
   * token, of rank 3, also in models that pool by a mean, and it is part of that mean.
   */
  function readPool(width: number, prefix: Prefix): Json {
    const head = checkpoint.tensor("head.weight")?.shape ?? [];
    const attends = checkpoint.has("attn_pool.latent"), fc1 = checkpoint.tensor("attn_pool.mlp.fc1.weight");
    if (gated && fc1) throw badShape(fc1, "expected SwiGLU, as in the blocks");
    const means = family.mean || (!family.normsTwice && checkpoint.has("fc_norm.weight"));
    const both = prefix.class > 0 && head.length === 2 && !family.headTransposed && Math.floor(head[1]! / 2) === width;
    const pool = attends ? "attention" : both ? "class_mean" : prefix.class > 0 && !means ? "class" : "mean";
    const pool_prefix = (family.bare === true && prefix.class > 0) || undefined;
    if (pool_prefix && checkpoint.tensor("cls_token")?.shape.length === 3 && !isSet("pool")) throw askFor("pool", "class or mean");
    const tokens = prefix.class + prefix.distillation + prefix.register;
    // timm pooled the prefix too before 1.0.16, transformers the registers before 4.52.
    if (!isSet("pool_prefix")) {
      if (attends && tokens > 0 && !rotary()?.pool_prefix) throw askFor("pool_prefix", "true or false, whether the prefix is pooled too");
      if (both && prefix.register > 0) throw askFor("pool_prefix", "true or false, whether registers are in the mean");
    }
    if (assumes("pool") && !both && !attends) {
      assume("pool");
      if (tokens > 0 && (isSet("pool") ? overrides.pool : pool) !== "class") assume("pool_prefix");
    }
    if (pool_prefix && overrides.pool === "mean") assume("pool_prefix"); // copies of vit-pytorch's code leave the token out
    return { pool, pool_prefix, pool_mlp_width: fc1?.shape[0] || undefined };
  }

  /** What the family fixes for rotary positions, if these are. */
  function rotary(): Family["rotary"] {
    return (isSet("position") ? overrides.position : family.fixed.position) === "rotary" ? family.rotary : undefined;
  }

  /** What the family fixes, and biases that this file lacks because its family may leave them out. */
  function fixedKeys(channels: number): Json {
    const prefix = checkpoint.has("cls_token") || checkpoint.has("reg_token");
    const open = { ...family.open, ...(!prefix && family.openWithoutPrefix) };
    for (const key of ["norm", "activation"] as const) {
      if (gated && key === "activation") continue;
      if (open[key] && !isSet(key)) throw askFor(key, open[key]);
    }
    for (const key of ["norm", "norm_eps", "activation", "position", "prepare", "rotary_grid"] as const) if (assumes(key)) assume(key);
    const plain = (prefix || checkpoint.has("blocks.0.attn.qkv.bias")) && !checkpoint.has(RELATIVE);
    if (assumes("norm") && !isSet("norm") && !plain && !checkpoint.has("blocks.0.ls1.gamma")) {
      throw askFor("norm", "pre", "x + norm(f(x)), which is not computed, has the same tensors");
    }
    const isMatrix = checkpoint.tensor("patch_embed.proj.weight")?.shape.length === 2;
    const made = family.patches?.(checkpoint);
    const patch_order = isMatrix && !made ? family.patchOrder ?? "channels_last" : undefined;
    if (patch_order === "channels_first" && channels > 1) assume("patch_order");
    if (family.fixed.position !== "rotary") assume(...Object.keys(rotary() ?? {}));
    const normed = checkpoint.has("norm_pre.weight");
    const width = checkpoint.tensor("norm.weight")?.count ?? 0;
    return {
      ...made,
      ...family.fixed,
      ...(family.epsilons && hasOwn(family.epsilons, width) && { norm_eps: family.epsilons[width] }),
      ...rotary(),
      ...(gated && { activation: "silu" }),
      patch_order,
      patch_bias: (normed || family.headTransposed) && !checkpoint.has("patch_embed.proj.bias") ? false : undefined,
      head_bias: (normed || family.projection) && !checkpoint.has("head.bias") ? false : undefined,
    };
  }
}

/** Whether a convolution's weight is (D,P,Q,C), as MLX stores it, for a square patch. */
const isChannelsLast = ([, P, Q, C]: readonly number[]) => P! > 1 && P === Q && C! <= 4 && P !== C;

function usualHeads(published: Family["heads"], width: number): number {
  if (!published) return 0;
  return hasOwn(published, width) ? published[width]! : width % 64 ? 0 : width / 64;
}

/** Numbers that make heads 16 to 64 wide, or in a small model 4 to 64. */
function likelyHeads(width: number): string {
  const least = width < 64 ? 4 : 16;
  const numbers: number[] = [];
  for (let heads = Math.ceil(width / 64); heads > 0 && heads <= width / least && numbers.length < 8; heads++) {
    if (width % heads === 0) numbers.push(heads);
  }
  return numbers.join(", ").replace(/, (?=\d+$)/, " or ") || "a divisor of the width";
}
