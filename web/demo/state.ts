import type { Classification, Vit } from "vitrine";
import { History } from "./history.ts";
import type { Ink, Stroke } from "./ink.ts";
import type { Choice } from "./models.ts";

/** What the model said about one drawing, and the ink it was said about. */
export interface Reading {
  result: Classification;
  ink: Ink;
  version: number;
}

export type MapKind = "class" | "patch" | "rollout";

/** Which attention is shown. Layers and heads count from 0. */
export interface View {
  map: MapKind;
  layer: number;
  head: number | "mean";
  patch: [row: number, col: number];
  strength: number;
}

export interface State {
  model?: Vit;
  choice?: Choice; // what `model` is
  modelBytes: number;
  strokes: Stroke[];
  history: History;
  version: number; // of the drawing: grows with every change
  since: number; // the version at which this drawing replaced another
  example: boolean; // the opening drawing is still the page's own
  answered: number; // the version that the model last answered for
  reading?: Reading;
  view: View;
  dark: boolean;
}

export const state: State = {
  modelBytes: 0,
  strokes: [],
  history: new History(),
  version: 0,
  since: 0,
  answered: -1,
  example: false,
  view: { map: "class", layer: 0, head: "mean", patch: [3, 3], strength: 0.8 },
  dark: false,
};
