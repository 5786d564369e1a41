export interface Opened {
  config: unknown;
  tensors: Map<string, { shape: number[]; data: Float32Array | Int8Array }>;
}
export function readSafetensors(bytes: Uint8Array): Opened;
export function writeSafetensors(model: Opened): Uint8Array<ArrayBuffer>;
