/** The story's words in English. Each language has a file with the same keys. */

type Cell = { row: string; column: string; value: string };

const grid = {
  kind: "grid of numbers",
  keys: "Arrow keys move from cell to cell. Enter chooses a cell.",
  picture: "Save as PNG",
  signed: (top: string) => `Blue: down to −${top}. Red: up to ${top}.`,
  tick: (uniform: string) => `tick: all equal, ${uniform}`,
  cell: ({ row, column, value }: Cell) => `${row}, ${column}: ${value}`,
  largest: ({ row, column, value }: Cell) => `Largest: ${row}, ${column}, ${value}`,
};

/** Common to all chapters. */
const story = {
  title: "Inside: your drawing, step by step",
  rail: "Your drawing and the answer",
  railPad: "Draw here too",
  layer: "Layer",
  head: "Head",
  blank: "blank pad",
  clear: "Clear",
  chosen: (row: number, col: number) => `Patch: row ${row}, column ${col}`,
  patch: (row: number, col: number) => `row ${row}, column ${col}`,
  classToken: "class token",
  prefixToken: (n: number) => `prefix token ${n}`,
  loading: "Loading…",
};

/** 1. Patch to token. */
const patches = {};

/** 2. Where am I? */
const positions = {};

/** 3. One score by hand. */
const score = {};

/** 4. Layer by layer. */
const layers = {};

/** 5. While you drew. */
const strokes = {};

/** 6. Softmax and doubt. */
const doubt = {};

/** 7. How it learnt. */
const learning = {};

/** 8. Beside a convolutional network. */
const cnn = {};

/** 9. Encoder, decoder. */
const masks = {};

/** 10. Which patches spoke for this class? */
const why = {};

export const en = { grid, story, patches, positions, score, layers, strokes, doubt, learning, cnn, masks, why };

export type Texts = typeof en;
export type GridTexts = Texts["grid"];
