import type { Attention, Class, Vit } from "vitrine";
import type { MapKind, View } from "../state.ts";
import type { Photo } from "./photo.ts";

/** What the model said of one photo. */
export interface Reading {
  /** The photo and checkpoint it is about. */
  version: number;
  result: { attention: Attention };
  /** (C,H,W), prepared. */
  input: Float32Array;
  /** The most probable ones; undefined without a head. */
  classes?: Class[];
  /** (patches, width) after the last norm, once asked for. */
  patches?: Float32Array;
}

/** `similarity` is of the patches' vectors, not of attention. */
export type OwnView = Omit<View, "map"> & { map: MapKind | "similarity" };

/** The page's second tab. Layers and heads count from 0. */
export interface OwnState {
  model?: Vit;
  /** Of its classes, where it has none of its own. */
  names?: string[];
  photo?: Photo;
  reading?: Reading;
  /** Of photo and checkpoint together: grows with every change. */
  version: number;
  view: OwnView;
  dark: boolean;
  /** What loading took, and how large the files are. */
  seconds: number;
  bytes: number;
  /** Milliseconds of the last runs. */
  times: number[];
}

export const state: OwnState = {
  version: 0,
  view: { map: "class", layer: 0, head: "mean", patch: [0, 0], strength: 0.7 },
  dark: false,
  seconds: 0,
  bytes: 0,
  times: [],
};
