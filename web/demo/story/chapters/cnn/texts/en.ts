/** Beside a convolutional network. */
import type { Messages } from "../../../../texts/sentences.ts";

export const texts = {
  lead: "A convolution looks through a small window, which each further convolution widens. Attention may mix any patches. Here is a network of each kind, almost alike in size, trained on the same digits. Every square of your drawing is inverted in turn: its colour says how much that changes what the network holds at the chosen patch.",
  names: { convolutions: "Convolutions", vit: "Transformer" },
  question: "After its first block, how many of the 49 squares reach the Transformer’s token?",
  options: { own: "1: its own", near: "2 to 9: those around it", many: "10 to 48", all: "all 49" },
  truth: "After block 1, {reached} of {all} squares change the token; its own by {own}, the weakest by {least}. The convolutions’ unit hears {window}.",
  figure: "What reaches the chosen patch: {network}",
  depth: "The Transformer after",
  embedding: "the embedding",
  block: "block {n}",
  measuring: "Measuring: {done} of {all} squares",
  convolutions: "{reached} of {all} squares reach the unit after all convolutions: its window is {side}×{side} pixels.",
  vit: "{reached} of {all} squares reach the token.",
  scale: "Colour: how far the numbers move, by their length. One root scale for both networks, so that small changes show.",
  table: "Size, accuracy, speed",
  reads: "Reads your drawing as",
  parameters: "Learned numbers",
  products: "Multiplications for a digit",
  million: "{count} million",
  right: "Right on MNIST’s {images} test digits",
  wrong: "Wrong",
  time: "Time for your digit, here",
  milliseconds: "{ms} ms",
  measure: "Measure the speed",
  timing: "Measuring…",
  speed: "{slower}: {ratio} times as long. Median of {rounds} rounds of {calls} digits each, in turn.",
  why: "{convolutions} wrong answers against {vit}: that neighbours belong together is built into a convolution. The Transformer has to learn it, and 55,000 small pictures are few.",
  when: "when which is better",
  papers: {
    data: "Few pictures, convolutions; very many, attention: pre-trained on 9 million photos a Transformer was much worse than a ResNet of about its cost, on 90 million and more it was better (Dosovitskiy et al., arXiv:2010.11929, section 4.3).",
    middle: "A middle way helps where data is scarce: attention that starts as a convolution and may unlearn it needs fewer examples than a plain Transformer (d’Ascoli et al., arXiv:2103.10697).",
    sight: "They see differently: a Transformer’s lowest layers look near and far at once, and with too few pictures they do not learn to look near (Raghu et al., arXiv:2108.08810).",
    hidden: "Where much is hidden, attention holds out longer: Transformers still named up to 60 % of photos of which 80 % was covered, and bore shuffled patches better than convolutions did (Naseer et al., arXiv:2105.10497).",
    ideas: "It is not attention alone: a convolutional network built and trained with the Transformers’ other ideas equals them on photos (Liu et al., ConvNeXt, arXiv:2201.03545).",
  },
} as const;

export type Words = Messages<typeof texts>;
