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

/** The teacher's page. */
const teach = {
  lead:
    "Six exercises for a lesson of 45 minutes, from about the age of 15. Each needs only this page: no account, and no drawing leaves the tab. Once loaded, the page works without a network.",
  print: "Print this page",
  look: "What to look for",
  exercises: [
    {
      chapter: "positions",
      title: "Does order matter?",
      task: "Draw a 7. In “Where am I?” choose “none” and scramble the patches. Then choose “2-D sin-cos” and scramble again.",
      look: "Without positions no score changes, because attention adds up over a set and a set has no order. With positions the answer falls apart: the same patches now say that they are somewhere else.",
    },
    {
      chapter: "score",
      title: "One score by hand",
      task: "In “One score by hand” choose a patch on your ink and one beside it. Multiply the first four numbers of q and k on paper. Then let the page do all of them.",
      look: "The score is a sum of products divided by √d: large where q and k point the same way. Softmax makes shares of all scores, so a token can only look more at one patch by looking less at others.",
    },
    {
      chapter: "masks",
      title: "Who may look at whom?",
      task: "In “Encoder, decoder” switch from full to causal attention. Find the row of the first patch and the row of the last.",
      look: "With the causal mask the first row can only look at itself, and the last row still sees everything. A model that writes words one after another needs that; one that reads a whole picture does not.",
    },
    {
      chapter: "layers",
      title: "When does it know?",
      task: "Draw a 4 that nearly closes at the top. In “Layer by layer” read what the model would say after each block. Then leave out one head after another.",
      look: "The answer often forms in the last blocks, and most single heads can go without changing it: their work is shared (Michel et al., arXiv:1905.10650). Note which head your digit cannot do without.",
    },
    {
      chapter: "strokes",
      title: "Half a digit",
      task: "Draw a 9, beginning with its loop. In “While you drew” drag back to the moment when only the loop was there.",
      look: "The loop alone is a 0 or the start of a 6, 8 or 9. A good model spreads its probability there. Is this one honest? Compare with what you would have said.",
    },
    {
      chapter: "doubt",
      title: "What does 90 % mean?",
      task: "Draw something between a 4 and a 9. In “Softmax and doubt” move the temperature, then read the reliability diagram.",
      look: "Temperature never changes which class comes first, only how sure the model sounds. Calibrated means: of all answers at 90 %, about nine in ten are right, on digits like those it was measured on.",
    },
  ],
};

export const en = { grid, story, patches, positions, score, layers, strokes, doubt, learning, cnn, masks, why, teach };

export type Texts = typeof en;
export type GridTexts = Texts["grid"];
