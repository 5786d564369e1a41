export interface Part {
  /** A class's number for each image. */
  readonly labels: Uint8Array;
  image(index: number): Float32Array<ArrayBuffer>;
}
export interface Digits {
  readonly train: Part;
  readonly test: Part;
}
interface Raw {
  images: Uint8Array;
  labels: Uint8Array;
}
export const COUNTS: { readonly train: number; readonly test: number };
export const PIXELS: number;
export function packDigits(digits: { train: Raw; test: Raw }): Uint8Array;
export function unpackDigits(bytes: Uint8Array): Digits;
