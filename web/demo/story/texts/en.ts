/** What all chapters share. */
import type { Messages } from "../../texts/sentences.ts";

export const texts = {
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
