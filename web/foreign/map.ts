/** Writes the map by which the core finds the tensors of each parameter (src/file/map.h). */
import type { Json } from "../base/json.js";
import { MOST_DEPTH } from "../generated/config.js";
import type { Mapping } from "../config.js";
import { BLOCK_TENSORS, TENSORS } from "../generated/tensors.js";
import { bytesIn, type Checkpoint } from "./checkpoint.js";
import type { Decoder } from "./decoders.js";
import type { Tensor } from "./family.js";

/** The most bytes of a name in a map, as in src/file/map.h. */
const MOST_NAME = 384;

const both = (name: string) => [`${name}.weight`, `${name}.bias`];
const ALL = TENSORS.flatMap((name) => (name.endsWith(".*") ? both(name.slice(0, -2)) : [name]));

export interface TensorMap {
  readonly map: string;
  /** The tensors that each of our parameters is made of. */
  readonly mapping: Mapping;
  /** The tensors that the model does not need, in the order of the file. */
  readonly skipped: readonly string[];
}

/** @param config whole, but not yet checked. */
export function mapOf(checkpoint: Checkpoint, config: Json, decoder?: Decoder): TensorMap {
  const { family } = checkpoint;
  const depth = Number.isInteger(config.depth) ? Math.min(Math.max(config.depth as number, 0), MOST_DEPTH) : 0;
  const int8 = checkpoint.tensor("blocks.0.attn.qkv.weight")?.dtype === "I8"; // else there are no scales
  const block = BLOCK_TENSORS.filter((name) => int8 || !name.endsWith(".scale"));
  const absent = absentOf(checkpoint, config);
  const used = new Set<string>();
  const tensors: [string, readonly string[]][] = [];
  /** Maps a parameter that the model may have; the core looks up what it needs. Returns whether the file has it. */
  const add = (ours: string) => {
    const names = checkpoint.sources(ours).map(({ name }) => name);
    if (names.some((name) => used.has(name))) return true; // the core refuses the file
    names.forEach((name) => used.add(name));
    tensors.push([ours, names.length > 0 ? names : checkpoint.missingNames(ours)]);
    return names.length > 0;
  };
  ALL.filter((name) => !absent.has(name)).forEach(add);
  for (let at = 0; at < depth; at++) {
    const found = block.filter((name) => add(`blocks.${at}.${name}`));
    if (found.length === 0) break; // here the core refuses the file
  }
  const added = [...checkpoint.added, ...decoder?.added ?? []];
  const there = new Set([...checkpoint.tensors, ...added].map(({ name }) => name));
  for (const [ours, names] of decoder?.tensors ?? []) {
    if (names.every((name) => there.has(name))) names.forEach((name) => used.add(name));
    tensors.push([ours, names]);
  }
  const ignores = (tensor: Tensor) => decoder?.ignores(tensor) || (checkpoint.ignores(tensor) && !(decoder && tensor.name.includes("decoder.")));
  const skipped = checkpoint.tensors.filter((tensor) =>
    !used.has(tensor.name) && (family.strict || tensor.count > 0) && ignores(tensor))
    .map(({ name }) => name).filter((name) => bytesIn(name) <= MOST_NAME);
  const parts = new Set(added.flatMap(({ replaces, from }) => (replaces ? from : [])).map(({ name }) => name));
  const map = {
    family: family.name,
    strict: family.strict === true,
    matrix_patches: family.patchOrder !== undefined,
    tensors: Object.fromEntries(tensors),
    transposed: family.headTransposed ? ["head.weight"] : [],
    skipped: [...skipped, ...[...parts].filter((name) => !used.has(name))],
  };
  const made = new Map(added.map(({ name, replaces, from }) => [name, replaces ? from.map((tensor) => tensor.name) : []]));
  const mapping = tensors.filter(([, [first]]) => first !== undefined && used.has(first))
    .map(([ours, names]) => [ours, names.flatMap((name) => made.get(name) ?? name)]);
  return { map: JSON.stringify(map), mapping: Object.fromEntries(mapping) as Mapping, skipped };
}

/** Parameters that the model lacks although a tensor has their name, because some libraries use one name for two of our parameters. */
function absentOf(checkpoint: Checkpoint, config: Json): ReadonlySet<string> {
  const norm = checkpoint.tensor("norm.weight");
  const fcNorm = checkpoint.tensor("fc_norm.weight");
  const pool = config.pool ?? "class";
  const last = !fcNorm || pool === "class_mean" || (norm === fcNorm && pool === "class") ? ["fc_norm"] : norm && norm !== fcNorm ? [] : ["norm"];
  const stem = Array.isArray(config.stem) && config.stem.length > 0;
  const normsPixels = !stem && checkpoint.tensor("patch_embed.norm_in.weight")?.shape.length === 1;
  return new Set([...last, ...(normsPixels ? [] : ["patch_embed.norm_in", "patch_embed.norm"])].flatMap(both));
}
