/** Writes the map by which the core finds the tensors of each parameter (src/file/map.h). */
import type { Json } from "../base/json.js";
import { bytesIn, type Checkpoint } from "./checkpoint.js";
import { MOST_DEPTH } from "./sizes.js";

/** The names of src/params.h without .weight and .bias. The core looks up what it needs. */
const PAIRS = [
  "patch_embed.norm_in", "patch_embed.proj", "patch_embed.norm", "norm_pre", "norm", "fc_norm", "attn_pool.qkv",
  "attn_pool.proj", "attn_pool.norm", "attn_pool.mlp.fc1", "attn_pool.mlp.fc2", "head", "head_dist",
  ...[0, 2, 4, 6, 8, 10].map((at) => `patch_embed.backbone.${at}`),
];
const BLOCK_PAIRS = ["norm1", "attn.qkv", "attn.q_norm", "attn.k_norm", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2"];
const SINGLES = ["cls_token", "dist_token", "reg_token", "pos_embed", "attn_pool.latent"];
const BLOCK_SINGLES = ["attn.rel_pos.relative_position_bias_table", "ls1.gamma", "ls2.gamma"];
const BLOCK_SCALES = ["attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"].map((name) => `${name}.weight.scale`);

/** The most bytes of a name in a map, as in src/file/map.h. */
const MOST_NAME = 384;

const both = (name: string) => [`${name}.weight`, `${name}.bias`];

function parameters(depth: number, int8: boolean): string[] {
  const block = [...BLOCK_PAIRS.flatMap(both), ...BLOCK_SINGLES, ...(int8 ? BLOCK_SCALES : [])];
  const blocks = Array.from({ length: depth }, (_, at) => block.map((name) => `blocks.${at}.${name}`)).flat();
  return [...SINGLES, ...PAIRS.flatMap(both), ...blocks];
}

export interface TensorMap {
  readonly map: string;
  /** The tensors that the model does not need, in the order of the file. */
  readonly skipped: readonly string[];
}

/** @param config whole, but not yet checked. */
export function mapOf(checkpoint: Checkpoint, config: Json): TensorMap {
  const { family } = checkpoint;
  const depth = Number.isInteger(config.depth) ? Math.min(Math.max(config.depth as number, 0), MOST_DEPTH) : 0;
  const int8 = checkpoint.tensor("blocks.0.attn.qkv.weight")?.dtype === "I8";
  const absent = absentOf(checkpoint, config);
  const used = new Set<string>();
  const tensors: [string, readonly string[]][] = [];
  for (const ours of parameters(depth, int8).filter((name) => !absent.has(name))) {
    const names = checkpoint.sources(ours).map(({ name }) => name);
    if (names.some((name) => used.has(name))) continue; // the core refuses the file
    names.forEach((name) => used.add(name));
    tensors.push([ours, names.length > 0 ? names : checkpoint.missingNames(ours)]);
  }
  const skipped = checkpoint.tensors.filter((tensor) =>
    !used.has(tensor.name) && (family.strict || tensor.count > 0) && checkpoint.ignores(tensor))
    .map(({ name }) => name).filter((name) => bytesIn(name) <= MOST_NAME);
  const map = {
    family: family.name,
    strict: family.strict === true,
    matrix_patches: family.patchOrder !== undefined,
    tensors: Object.fromEntries(tensors),
    transposed: family.headTransposed ? ["head.weight"] : [],
    skipped,
  };
  return { map: JSON.stringify(map), skipped };
}

/** Parameters that the model lacks although a tensor has their name, because some libraries use one name for two of our parameters. */
function absentOf(checkpoint: Checkpoint, config: Json): ReadonlySet<string> {
  const norm = checkpoint.tensor("norm.weight");
  const fcNorm = checkpoint.tensor("fc_norm.weight");
  const pool = config.pool ?? "class";
  const last = pool !== "class_mean" && fcNorm && (!norm || (norm === fcNorm && pool !== "class")) ? "norm" : "fc_norm";
  const stem = Array.isArray(config.stem) && config.stem.length > 0;
  const normsPixels = !stem && checkpoint.tensor("patch_embed.norm_in.weight")?.shape.length === 1;
  return new Set([last, ...(normsPixels ? [] : ["patch_embed.norm_in", "patch_embed.norm"])].flatMap(both));
}
