import type { Attention, Class, DetectedObject, Detection, Placement } from "vitrine";
import type { Store } from "../reader.ts";
import type { MapKind, View } from "../state.ts";
import type { Photo } from "./photo.ts";

export interface Reading {
  /** The version of photo and checkpoint that was read. */
  version: number;
  result: { attention: Attention };
  /** The prepared image, (C,H,W). */
  input: Float32Array;
  milliseconds: number;
  placement: Placement;
  /** Of `input`, if detection chose it by the photo. */
  size?: Detection["size"];
  /** The most probable classes; undefined without a head. */
  classes?: Class[];
  /** What detection tokens found; undefined if the model has none. */
  objects?: DetectedObject[];
  /** Whether the model takes its answer for a guess. */
  uncertain?: boolean;
  /** (patches, width) after the last norm; undefined until something needs it. */
  patches?: Float32Array;
}

/** What a load is of: files, and how pixels become numbers; see checkpoint.ts. */
export interface Wanted {
  files: File[];
  pixels: string;
}

/** `similarity` compares the patches' vectors; the other maps show attention. */
export type OwnView = Omit<View, "map"> & { map: MapKind | "similarity" };

/** The page's second tab. Layers and heads count from 0. */
export interface OwnState extends Store<Reading, Wanted> {
  /** Names for the model's classes, if it has none of its own. */
  names?: string[];
  photo?: Photo;
  /** The object whose map is shown, by its place among the reading's. */
  object?: number;
  view: OwnView;
  dark: boolean;
  /** The seconds of the load, and the size of the files. */
  seconds: number;
  bytes: number;
}

export const state: OwnState = {
  phase: "idle",
  version: 0,
  view: { map: "class", layer: 0, head: "mean", patch: [0, 0], strength: 0.7 },
  dark: false,
  seconds: 0,
  bytes: 0,
  times: [],
};
