/** What all chapters share. */
import type { Messages } from "../../texts/sentences.ts";

export const texts = {
  rail: "Your drawing and the answer",
  railPad: "Draw here too",
  layer: "Layer",
  head: "Head",
  blank: "blank pad",
  clear: "Clear",
  chosen: "Patch: row {row}, column {col}",
  patch: "row {row}, column {col}",
  row: "row {n}",
  column: "column {n}",
  classToken: "class token",
  prefixToken: "prefix token {n}",
  loading: "Loading…",
  grid: {
    kind: "grid of numbers",
    keys: "Arrow keys move from cell to cell. Enter chooses a cell.",
    signed: "Blue: down to −{top}. Orange-red: up to {top}. Root scale.",
    tick: "tick: all equal, {uniform}; root scale",
    hidden: "masked",
    cell: "{row}, {column}: {value}",
    largest: "Largest: {row}, {column}, {value}",
  },
  step: "Step {n} of {all}",
  steps: "The steps",
  reader: "Read by",
  readers: {
    plain: "a plain ViT",
    stem: "one with convolutions",
  },
  notLoaded: "The plain model did not load: {why}. The page’s own reads here.",
  example: "the pad is blank: this is an example",
  save: "Save a figure",
  offset: { up: "{n} up", down: "{n} down", left: "{n} left", right: "{n} right", row: "same row", column: "same column" },
  more: "More: {title}",
  guess: {
    before: "Before you look:",
    right: "You were right.",
    wrong: "It is otherwise.",
    next: "Next: {title}",
    done: "{n} of {all} steps done",
    again: "Begin again",
  },
} as const;

export type Words = Messages<typeof texts>;
