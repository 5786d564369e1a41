export function headerBytes(rank: number): number;
export function bytesIn(shape: readonly number[]): number;
export function shapeOf(path: string, start: Uint8Array, rank: number): number[];
export function checkCount(path: string, got: number, count: number): void;
export function idxIn(path: string, file: Uint8Array, rank: number): { shape: number[]; bytes: Uint8Array };
export function checkPairs(path: string, images: number, labels: number): void;
export function mostIn(labels: Uint8Array): number;
export function classesIn(path: string, labels: Uint8Array): number;
