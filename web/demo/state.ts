import type { Classification } from "vitrine";
import { History, type Sheet } from "./history.ts";
import type { ModelFile } from "./models.ts";
import type { Store } from "./reader.ts";

/** The model's answer to one drawing. */
export interface Reading {
  result: Classification;
  version: number;
  unfinished: boolean; // the pen was down
}

export type MapKind = "class" | "patch" | "rollout";

/** The choice of attention to show. Layers and heads count from 0. */
export interface View {
  map: MapKind;
  layer: number;
  head: number | "mean";
  patch: [row: number, col: number];
  strength: number;
}

export interface State extends Sheet, Store<Reading, ModelFile> {
  choice?: ModelFile; // the choice that `model` came from
  modelBytes: number;
  unfinished: boolean; // the pen is still down
  history: History;
  since: number; // the version at which this drawing replaced another
  example: boolean; // the page's own opening drawing is still shown
  answered: number; // the version that the model answered last
  view: View;
  firstPatch?: View["patch"]; // view.patch itself, until the visitor chooses another
  chapterChoices: Map<string, string>; // the visitor's, by name; another map when a link brings some
  dark: boolean;
}

/** Whether there is nothing on the pad. */
export const isBlank = ({ strokes, photo }: Sheet): boolean => strokes.length === 0 && !photo;

export const state: State = {
  phase: "loading",
  modelBytes: 0,
  strokes: [],
  unfinished: false,
  history: new History(),
  times: [],
  version: 0,
  since: 0,
  answered: -1,
  example: false,
  view: { map: "class", layer: 0, head: "mean", patch: [3, 3], strength: 1 },
  chapterChoices: new Map(),
  dark: false,
};
