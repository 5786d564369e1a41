/** A decoder writes. */
import type { Messages } from "../../../../texts/sentences.ts";

export const texts = {
  lead: "Another model reads a number and writes it out. Its encoder reads the picture once; then each step of its decoder writes one token, and looks at the tokens before it (causal mask) and into the picture (cross-attention).",
  another: "Write another number",
  language: "It writes",
  step: "Step",
  play: "Play",
  picture: "Where the step looks in the picture",
  pictureIs: "cross-attention, last layer, mean of its heads",
  matrix: "Which tokens each step looks at",
  matrixIs: "self-attention; later tokens are masked",
  start: "language",
  end: "end",
  writes: "step {n}, “{token}”",
  reads: "“{token}”",
  cache: "Keys and values that are kept",
  layer: "layer {n}",
  ofPicture: "picture",
  kept: "Step {n} computes one key and one value in each layer and reads {kept} kept {kept|one|ones}; without this cache it would compute {n}. The picture’s {patches} were computed once.",
  order: "The order of looking",
  beside: "Beside it",
  back: "{language}: the eye goes left {n} {n|time|times}.",
  german: "German says units before tens: “dreiundsiebzig” is three-and-seventy. A dot marks a word with half of its attention in one place.",
  beams: "three beams",
  beamsIs: "Instead of the best token alone, a search keeps the three best beginnings. Percentages are of the whole beginning.",
  wrote: "It wrote “{text}”.",
  forcing: "It learnt by teacher forcing: every step was given the right tokens before it, never its own. So a mistake can lead it where it has never been; this is called exposure bias.",
  question: "The decoder writes its seventh token. Of how many tokens does it now compute keys and values?",
  options: { one: "of one", before: "of all seven", all: "of all and the picture" },
  truth: "Of the newest one. The {kept} before it are kept, and the picture’s {patches} too.",
} as const;

export type Words = Messages<typeof texts>;
