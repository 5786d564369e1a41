/**
 * Arrays from outside. Their own `length`, `slice` or species may lie. So these functions call
 * the engine's own getters, and callers use only a copy.
 */

/** Some bytes of a file, in order. */
export type Piece = Uint8Array<ArrayBuffer>;

const { prototype: typed } = Object.getPrototypeOf(Uint8Array) as { prototype: object };
const getterOf = <Value>(from: object, name: PropertyKey) => {
  const { get } = Object.getOwnPropertyDescriptor(from, name)!;
  return (value: unknown) => get!.call(value) as Value;
};
const tagOf = getterOf<string | undefined>(typed, Symbol.toStringTag);
const lengthOfTyped = getterOf<number>(typed, "length");

const members = (from: object) => ({
  buffer: getterOf<ArrayBuffer>(from, "buffer"),
  byteOffset: getterOf<number>(from, "byteOffset"),
  byteLength: getterOf<number>(from, "byteLength"),
});
const ofTyped = members(typed);
const ofDataView = members(DataView.prototype);

/** The array types that an image's pixels or values may have. */
export interface Arrays {
  Uint8Array: Uint8Array;
  Uint8ClampedArray: Uint8ClampedArray;
  Float32Array: Float32Array;
}

/** Whether a value is truly such an array, of any realm or subclass. */
export function isArray<Name extends keyof Arrays>(value: unknown, name: Name): value is Arrays[Name] {
  return tagOf(value) === name;
}

/** The number of elements as the engine knows it; 0 if the memory is detached. */
export function countOf(array: Arrays[keyof Arrays]): number {
  return lengthOfTyped(array);
}

const lengthOfBuffer = getterOf<number>(ArrayBuffer.prototype, "byteLength");

/** Whether a value is truly memory or a view of memory, of any realm. */
export function isBytes(value: unknown): value is ArrayBuffer | ArrayBufferView {
  try {
    return ArrayBuffer.isView(value) || lengthOfBuffer(value) >= 0;
  } catch {
    return false;
  }
}

/**
 * A view of bytes as a plain Uint8Array.
 *
 * @throws {TypeError} if the memory is detached.
 */
export function viewOf(source: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  if (!ArrayBuffer.isView(source)) return new Uint8Array(source);
  const { buffer, byteOffset, byteLength } = tagOf(source) === undefined ? ofDataView : ofTyped;
  return new Uint8Array(buffer(source), byteOffset(source), byteLength(source));
}

/** The largest number that a word of the module holds. */
export const MAX_FILE_BYTES = 2 ** 32 - 1;
