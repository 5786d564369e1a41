/** The attention map that the options ask for. */
import type { Attention, Head, VitConfig } from "vitrine";
import { type Options, oneOf, textOf, UsageError, type Values, whole } from "./options.ts";

const MAPS = ["class", "rollout", "patch"] as const;

export const VIEW_OPTIONS: Options = {
  map: { value: "MAP", help: "class (the default; all patches' mean if no class token), patch or rollout" },
  patch: { value: "ROW,COLUMN", help: "the patch of --map patch; both count from 0" },
  layer: { value: "N", help: "counts from 0, or last (the default)" },
  head: { value: "N", help: "counts from 0, or mean (the default)" },
};

type Patch = readonly [row: number, column: number];

/** A rollout has no layer and no head. Only the map of a patch has a patch. */
export interface View {
  readonly map: (typeof MAPS)[number];
  readonly layer?: number;
  readonly head?: Head;
  readonly patch?: Patch;
}

/** Refuses values that no model has. The returned function checks the rest for one model. */
export function readView(values: Values): (config: Readonly<VitConfig>) => View {
  const map = oneOf("--map", textOf(values, "map") ?? MAPS[0], MAPS);
  const [layer, head, patch] = ["layer", "head", "patch"].map((name) => textOf(values, name));
  if ((map === "patch") !== (patch !== undefined)) {
    throw new UsageError("--patch: expected ROW,COLUMN with --map patch, and only there");
  }
  if (map === "rollout" && (layer ?? head) !== undefined) {
    throw new UsageError("--map rollout: expected neither --layer nor --head, because it mixes all of them");
  }
  const at = patch === undefined ? undefined : readPatch(patch);
  const fixedLayer = numberOr("last", "--layer", layer);
  const fixedHead = numberOr("mean", "--head", head);
  return (config) => {
    if (map === "rollout") return { map };
    const { depth, heads, image_size, patch_size, patch_stride } = config;
    const view = {
      map,
      layer: within("--layer", fixedLayer ?? depth - 1, depth),
      head: fixedHead === undefined ? ("mean" as const) : within("--head", fixedHead, heads),
    };
    if (!at) return view;
    const inGrid = (name: string, axis: 0 | 1) =>
      within(`--patch: ${name}`, at[axis], Math.floor((image_size[axis] - patch_size[axis]) / patch_stride[axis]) + 1);
    return { ...view, patch: [inGrid("row", 0), inGrid("column", 1)] };
  };
}

function readPatch(text: string): Patch {
  const [row, column, ...more] = text.split(",");
  if (column === undefined || more.length > 0) {
    throw new UsageError(`--patch: expected ROW,COLUMN such as 3,5, got "${text}"`);
  }
  return [whole("--patch: row", row!, 0), whole("--patch: column", column, 0)];
}

/** undefined where the text is `word`, the default. */
function numberOr(word: string, name: string, text = word): number | undefined {
  return text === word ? undefined : whole(name, text, 0);
}

function within(name: string, index: number, count: number): number {
  if (index < count) return index;
  throw new UsageError(`${name}: expected 0 to ${count - 1} for this model, got ${index}`);
}

/** The layers to keep for a view. */
export const layersOf = ({ layer }: View): true | number[] => (layer === undefined ? true : [layer]);

/** (rows · columns) */
export function mapOf(attention: Attention, { map, layer, head, patch }: View): Float32Array {
  if (map === "rollout") return attention.rollout();
  return patch
    ? attention.fromPatch(patch[0], patch[1], layer, head)
    : attention.fromClass(layer, head);
}
