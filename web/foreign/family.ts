/** A family is a library's code for ViTs: how it names tensors, and what its checkpoints leave unsaid. */
import type { VitConfig } from "../config.js";
import type { Piece } from "../base/bytes.js";
import type { Json } from "../base/json.js";

type Resize = NonNullable<VitConfig["position_resize"]>;

export interface Family {
  /** The name in messages. */
  readonly name: string;
  /** Names of a tensor of the first block. What precedes such a name in a file is the prefix of all names. */
  readonly anchors: readonly string[];
  /** Tensors that must be there too. */
  readonly needs?: readonly string[];
  /** What else must be so. */
  fits?(tensors: Tensors): boolean;
  /** Whether it is a variant of another family. Messages never name it as the closest. */
  readonly variant?: boolean;
  /**
   * A line for each tensor: our name, a space, their name. `*` is the block's number, `#` any number,
   * and the rows of {a,b,c} follow each other. A name without its last part (.weight, .bias) stands
   * for all such names. Of several lines for one tensor of ours the first counts whose tensors are
   * in the file. Tensors without a line have our names, which are timm's.
   */
  readonly names: string;
  /** Beginnings of the names of tensors that no model here needs; after a `^` only outside the whole prefix. */
  readonly ignored?: readonly string[];
  /** Tensors that its files lack and that are made of others while they are read. */
  readonly added?: readonly Added[];
  /** Whether dimensions of 1 count in shapes, and empty tensors are refused. */
  readonly strict?: boolean;

  /** What its code does unless a config says otherwise. */
  readonly fixed: Partial<Pick<VitConfig, "norm" | "norm_eps" | "activation" | "position">>;
  /** The `norm_eps` of published models, by their width, where that is not its code's default. */
  readonly epsilons?: Readonly<Record<number, number>>;
  /** How its code turns queries and keys, and pools, if positions are rotary. */
  readonly rotary?: Rotary;
  /** Keys that only a config can set, and their values in words. */
  readonly open?: Readonly<Partial<Record<"norm" | "activation", string>>>;
  /** Further open keys of a model without class token and registers. */
  readonly openWithoutPrefix?: Family["open"];
  /** Keys that people choose although no tensor shows the choice. The usual value is used, and reported. */
  readonly assumed?: readonly ("image_size" | "norm_eps" | "activation" | "pool" | "norm" | "position" | "prepare" | "rotary_grid")[];
  /**
   * The heads of published models whose heads are not 64 wide, by their width; 0: the error asks
   * for them. Without this list it always asks.
   */
  readonly heads?: Readonly<Record<number, number>>;
  /** Whether a mean feeds the head although no tensor shows it. */
  readonly mean?: boolean;
  /** Whether what is pooled is normed again. */
  readonly normsTwice?: boolean;
  /** What makes its patches, if its code has more for that than a projection: `channels`, `patch_size`, and further keys. */
  readonly patches?: (tensors: Tensors) => { readonly channels: number; readonly patch_size: readonly [number, number] } & Json;
  /** How its code prepares photos. */
  readonly prepare?: (width: unknown, image: readonly [number, number]) => Json;
  /** The order of a patch's pixels, if the patches' projection may be a matrix. */
  readonly patchOrder?: VitConfig["patch_order"];
  /** Whether attention with one head as wide as the token has no projection, and means include the prefix. */
  readonly bare?: boolean;
  /** Whether the head's matrix is (D,K), not (K,D). */
  readonly headTransposed?: boolean;
  /** What is compared with texts: the head's output, or what feeds a head. */
  readonly projection?: "head" | "pooled";
  /** How its code resizes positions; undefined: unknown, so timm's way is assumed. */
  readonly resize: Resize | ((tensors: Tensors, config: Json) => Resize | undefined);
  /** The rows and columns of published models' positions that are no square, by their number. */
  readonly grids?: Readonly<Record<number, readonly [number, number]>>;
  /** Whether positions are a square grid whenever their number is a square. */
  readonly squares?: boolean;
  /** A tensor that shows that a model with this family's names has rotary positions that are not known here. */
  unknown?(tensors: Tensors): Tensor | undefined;
}

/** How a tensor is made of others. */
interface Made {
  readonly shape: readonly number[];
  /** Makes new bytes of the others'. */
  make(parts: readonly Piece[]): Piece;
}

/** A tensor of each block, or one alone if its name has no `*`. It is added if its name is not in the file and what it is made of is. */
export interface Added {
  /** As in `names`. */
  readonly name: string;
  readonly from: readonly string[];
  /** Whether the tensors in `from` are in the model only as parts of this one. */
  readonly replaces?: boolean;
  /** Undefined if it cannot be made, for a grid of patches that may be unknown, with or without a prefix, and this block. */
  plan(parts: readonly Tensor[], grid: readonly [number, number] | undefined, prefix: boolean, block: number): Made | undefined;
}

/** Whether the MLP's first layer makes a gate and a value. */
export const isGated = (tensors: Tensors) =>
  tensors.rows("blocks.0.mlp.fc1.weight") === 2 * (tensors.tensor("blocks.0.mlp.fc2.weight")?.shape[1] ?? 0);

export const zerosLike: Added["plan"] = ([first]) => ({ shape: first!.shape, make: ([bytes]) => new Uint8Array(bytes!.length) });
export const copyOf: Added["plan"] = ([first]) => ({ shape: first!.shape, make: ([bytes]) => bytes!.slice() });
/** A bias of queries, keys and values whose keys have none. */
export const withoutKeys: Added["plan"] = ([first]) => ({
  shape: first!.shape,
  make: ([bias]) => bias!.slice().fill(0, bias!.length / 3, (bias!.length / 3) * 2),
});

export type Rotary = { readonly [Key in keyof VitConfig as Key extends `rotary_${string}` | "pool_heads" | "pool_prefix" ? Key : never]?: VitConfig[Key] };

/** A `model_type` of transformers. Tensors that disagree are another model's. */
export interface ModelType {
  /** The defaults of its config. */
  readonly norm_eps: number;
  readonly hidden_act: string;
  readonly prefix: VitConfig["prefix"];
  /** How many registers follow the prefix unless the config says; undefined: none, ever. */
  readonly registers?: number;
  /** Our keys of positions, if its config says or its code fixes what no tensor shows. */
  readonly position?: (config: Json) => Json;
  /** undefined: the tensors show it. */
  readonly layer_scale: boolean | undefined;
  /** Its processor's class, without ImageProcessor. */
  readonly processor: "ViT" | "DeiT" | "Beit" | "Bit" | "CLIP" | "Siglip" | "DINOv3ViT" | "Blip" | "Yolos";
}

/** An entry of the file's header. */
export interface Tensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** How many numbers it has. */
  readonly count: number;
  /** Where its bytes begin and end, after the header. */
  readonly begin: number;
  readonly end: number;
}

/** A tensor that is added, where those end that it is made of. Its type is that of the first. */
export interface Appended extends Tensor, Made {
  readonly replaces: boolean;
  readonly from: readonly Tensor[];
}

/** The file's tensors by our names. */
export interface Tensors {
  /** What stands before all names. */
  readonly prefix: string;
  /** The first of the tensors that make a parameter of ours. */
  tensor(ours: string): Tensor | undefined;
  /** Whether it is there with numbers. vit-pytorch writes tensors without any. */
  has(ours: string): boolean;
  /** How many rows its matrix has. */
  rows(ours: string): number;
}

/** SO400M, ViT-H, ViT-g, ViT-G: arXiv:2305.13035; Dosovitskiy et al., table 1; arXiv:2106.04560, table 2. */
export const USUAL_HEADS = { 1152: 16, 1280: 16, 1408: 16, 1664: 16 };
