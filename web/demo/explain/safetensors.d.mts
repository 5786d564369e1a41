export interface Tensor {
  shape: number[];
  data: Float32Array | Int8Array;
}
export interface Contents {
  config: unknown;
  tensors: Map<string, Tensor>;
}
export function readSafetensors(bytes: Uint8Array): Contents;
export function writeSafetensors(contents: Contents): Uint8Array<ArrayBuffer>;
