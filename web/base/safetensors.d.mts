import type { Piece } from "./bytes.js";

export interface Tensor {
  shape: number[];
  data: Float32Array | Int8Array;
}
export interface Contents {
  config: unknown;
  tensors: Map<string, Tensor>;
}
export interface TensorInfo {
  readonly dtype: string;
  readonly shape: readonly number[];
  /** In bytes. */
  readonly size: number;
}
export const LENGTH_BYTES: number;
export function headerLength(start: Uint8Array): number;
export function headerOf(tensors: Iterable<readonly [name: string, tensor: TensorInfo]>, metadata?: Record<string, string>): object;
export function headerBytes(header: object): Piece;
export function splitFile(file: Uint8Array): { header: Record<string, unknown>; data: Uint8Array };
export function joinFile(header: object, ...data: readonly Uint8Array[]): Piece;
export function readSafetensors(bytes: Uint8Array): Contents;
export function writeSafetensors(contents: Contents): Piece;
export function withKeys(file: Uint8Array, keys: Readonly<Record<string, unknown>>): Piece;
