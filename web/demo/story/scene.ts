/** What the chapters of the story show, and what they may do. */
import type { Attention, Classification, ClassifyOptions, Trace, Vit, VitConfig } from "vitrine";
import type { Stroke } from "../ink.ts";
import type { PadEvents } from "../pad.ts";
import type { Shape } from "../pixels.ts";
import type { State } from "../state.ts";
import type { Choices } from "./choices.ts";
import type { Words } from "./texts/en.ts";
import type { Walk } from "./walk.ts";

/** The chosen patch, layer and head hold for the whole page. All count from 0. */
export interface Selection {
  patch: [row: number, col: number];
  layer: number;
  head: number;
}

export type Traced = Classification & { trace: Trace; attention: Attention };

/** The visitor's drawing, or on a blank pad the page's example, read by the story's model. A scene does not change. */
export interface Scene extends Selection {
  model: Vit;
  config: Readonly<VitConfig>;
  shape: Shape;
  file: string | Uint8Array<ArrayBuffer>; // the model's file, or its address
  photo?: Float32Array; // the model's image, where a photo lies on the pad
  strokes: Stroke[]; // beside a photo and on a blank pad, those of the page's own example
  unfinished: boolean; // the pen is still down
  version: number; // of the drawing
  result: Traced; // another one for each drawing and model
  token: number; // of the chosen patch, the prefix counted
  dark: boolean;
}

/** What the page lends the story. */
export interface Page {
  state: State;
  hand: PadEvents;
  redraw(): void;
  /** Puts a drawing on the pad, as if the visitor had drawn it, or drew it still. */
  draw(strokes: Stroke[], unfinished?: boolean): void;
  /** Clears the pad, as if the visitor had. */
  wipe(): void;
  /** Tells the screen reader something. */
  say(text: string): void;
}

/** Gives every chapter the same tools. */
export interface Story extends Pick<Page, "draw" | "say"> {
  readonly words: Words;
  readonly choices: Choices;
  readonly walk: Walk;
  choose(choice: Partial<Selection>): void;
  /** Runs a model on the scene's drawing; undefined if the pad is blank. */
  classify(scene: Scene, options?: ClassifyOptions, model?: Vit): Promise<Classification | undefined>;
  /** Waits for a model or a file. Undefined if it stopped or did not come, which the story's status line then says. */
  attempt<Answer>(answer: Promise<Answer>): Promise<Answer | undefined>;
  /** Draws all chapters near the screen again, in the next frame. */
  redraw(): void;
}

/** Fills a chapter below its heading. Returns what draws a scene in it. */
export type ChapterBuilder<ItsWords> = (root: HTMLElement, story: Story, words: ItsWords) => (scene: Scene) => void;
