/** Patch to token. */
import type { Messages } from "../../../../texts/sentences.ts";

export const texts = {
  lead: "The model cuts your drawing into {patches} squares, the patches. To the model a patch is a list of {pixels} numbers, from 0 for paper to 1 for ink. Each of {width} learnt filters turns this list into one number: multiply, add up, add a bias. The {width} numbers are the patch’s token, all that the model knows of it from here on.",
  stemLead: "This model passes your drawing through {convolutions} convolutions before it cuts it into {patches} patches. Each convolution makes new maps, in which a value is computed from 3 × 3 places of the maps before. So the {width} numbers that stand for a patch, its token, know of up to {side} pixels, not only of the patch’s own {pixels}.",
  chooser: "patch chooser",
  grid: "The image in patches",
  gridKeys: "Arrow keys choose the patch, for the whole page.",
  patch: "Patch in row {row}, column {column}: {ink} of it is ink.",
  numbers: "The numbers of the chosen patch",
  unrolled: "The patch in row {row}, column {column}, as {pixels} numbers",
  place: "{row},{column}",
  rows: { input: "pixel", weight: "× weight", product: "= product" },
  filterLegend: "The token: {count} numbers, each above its filter",
  filterBar: "Filter {filter}: {value}",
  filtersKey: "Bars end at ±{top} (linear). The colours of the weights are on a root scale.",
  filtersMissing: "The filters did not load: {why}. Choose a patch to try again.",
  filtersLoading: "Loading the filters…",
  added: "Filter {filter}: products added",
  addAll: "Add them up",
  addedOf: "{added} of {all} products",
  sum: "{added} of {all} products: {sum}. Plus the bias, {bias}: {value}.",
  model: "The model’s own number: {value}.",
  shapes: "Shapes: the image {rows} × {columns} → patches {patches} × {pixels} → times the filters {pixels} × {width} → tokens {patches} × {width}",
  question: "Two patches of empty paper: are their tokens equal?",
  options: { yes: "yes, number by number", no: "no, each is different" },
  equal: "At {one} and at {other} all {width} numbers are the same: with no ink each product is 0, and only the biases are left. Nothing says yet where a patch lies.",
  unequal: "At {one} and at {other} they differ by up to {most}: the convolutions see beyond a patch, to ink nearby and to the border.",
  token: "The patch’s token: {width} numbers",
  classTitle: "the class token, a token without a patch",
  classToken: "One more token goes in, which belongs to no square. Its {width} numbers are learnt, and the same for every drawing. In the blocks it gathers what the patches tell it, and the answer is read from it. With it there are {tokens} × {width} numbers.",
  classBars: "The class token’s {width} numbers; bars end at ±{top}",
  cite: "The paper calls it the linear projection of flattened patches: Dosovitskiy et al., section 3.1, arXiv:2010.11929.",
  stemCite: "Convolutions before the patches: Xiao et al., arXiv:2106.14881.",
} as const;

export type Words = Messages<typeof texts>;
