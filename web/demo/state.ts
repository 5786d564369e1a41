import type { Classification } from "vitrine";
import { History, type Sheet } from "./history.ts";
import type { ModelFile } from "./models.ts";
import type { Store } from "./reader.ts";

/** A model's answer to one drawing. */
export interface Read<Result> {
  result: Result;
  version: number;
  unfinished: boolean; // the pen was down
}
export type Reading = Read<Classification>;

export type MapKind = "class" | "patch" | "rollout";

/** The choice of attention to show. Layers and heads count from 0. */
export interface View {
  map: MapKind;
  layer: number;
  head: number | "mean";
  patch: [row: number, col: number];
  strength: number;
}

/** A pad to draw on, of the first tab or the third, and its model. */
export interface Pad<Reading> extends Sheet, Store<Reading, ModelFile> {
  unfinished: boolean; // the pen is still down
  history: History;
  since: number; // the version at which this drawing replaced another
  example: boolean; // the pad's own opening drawing is still shown
  answered: number; // the version that the model answered last
  dark: boolean;
}

export interface State extends Pad<Reading> {
  choice?: ModelFile; // the choice that `model` came from
  modelBytes: number;
  view: View;
  firstPatch?: View["patch"]; // view.patch itself, until the visitor chooses another
  chapterChoices: Map<string, string>; // the visitor's, by name; another map when a link brings some
}

export const isBlank = ({ strokes, photo }: Sheet): boolean => strokes.length === 0 && !photo;

export const blankPad = () => ({
  phase: "idle" as const, strokes: [], unfinished: false, history: new History(), times: [], version: 0, since: 0, answered: -1, example: false, dark: false,
});

export const state: State = {
  ...blankPad(),
  phase: "loading",
  modelBytes: 0,
  view: { map: "class", layer: 0, head: "mean", patch: [3, 3], strength: 1 },
  chapterChoices: new Map(),
};
