/** What convolutions of 3×3 see. A stem's convolutions have padding 1 and their own strides. Needs no page. */
import type { VitConfig } from "vitrine";

/** From the first to the last place along one side, counted from 0. Beyond the image is only padding. */
export type Span = readonly [first: number, last: number];

export const stridesOf = ({ stem }: Pick<VitConfig, "stem">): number[] =>
  stem.map((layer) => (typeof layer === "number" ? 2 : layer[1]));

/** How many pixels a place is wide after convolutions of these strides. */
export const unitOf = (strides: readonly number[]): number => strides.reduce((product, stride) => product * stride, 1);

export const lengthOf = ([first, last]: Span): number => last - first + 1;

/** The pixels that some places of a map see through the convolutions before it, which have these strides. */
export const seenBy = (places: Span, strides: readonly number[]): Span =>
  strides.reduceRight<Span>(([first, last], stride) => [first * stride - 1, last * stride + 1], places);
