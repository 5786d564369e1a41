/** The third tab. */
import type { Messages } from "../../texts/sentences.ts";

export const texts = {
  title: "Write a number.",
  pad: "Write a number, 0 to 9999",
  language: "Written in",
  digits: "digits",
  words: "The number in words. Arrow keys go from word to word, and the picture shows where the model looked for each.",
  waiting: "A decoder writes it in words while your pen moves.",
  rest: "Point at a word: the picture shows where the model looked when it wrote that.",
  looks: "“{word}” looks mostly at {place}: ",
  unknown: "no number it knows",
  none: "Sees no number",
  play: "Word by word",
  chapter: "How it writes, token by token",
} as const;

export type Words = Messages<typeof texts>;
