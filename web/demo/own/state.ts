import type { Attention, Class, DetectedObject, Detection, Placement } from "vitrine";
import type { Store } from "../reader.ts";
import type { MapKind, View } from "../state.ts";
import type { Photo } from "./photo.ts";

export interface Reading {
  version: number; // the version of photo and checkpoint that was read
  result: { attention: Attention };
  input: Float32Array; // the prepared image, (C,H,W)
  milliseconds: number;
  placement: Placement;
  size?: Detection["size"]; // of `input`, if detection chose it by the photo
  classes?: Class[]; // the most probable classes; undefined without a head
  objects?: DetectedObject[]; // what detection tokens found; undefined if the model has none
  uncertain?: boolean; // whether the model takes its answer for a guess
  patches?: Float32Array; // (patches, width) after the last norm; undefined until something needs it
}

/** What a load is of: files, and how pixels become numbers; see checkpoint.ts. */
export interface LoadRequest {
  files: File[];
  pixels: string;
}

/** `similarity` compares the patches' vectors; the other maps show attention. */
type OwnView = Omit<View, "map"> & { map: MapKind | "similarity" };

/** The page's second tab. Layers and heads count from 0. */
export interface OwnState extends Store<Reading, LoadRequest> {
  names?: string[]; // names for the model's classes, if it has none of its own
  photo?: Photo;
  object?: number; // the object whose map is shown, by its place among the reading's
  view: OwnView;
  dark: boolean;
  seconds: number; // of the load
  bytes: number; // of the files
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
