/** One model of a series, as bytes of safetensors in float32. */
export interface Packed {
  step: number;
  weights: Uint8Array<ArrayBuffer>;
}
export function unpack(bytes: Uint8Array): Record<string, Packed[]>;
