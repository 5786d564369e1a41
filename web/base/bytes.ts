/**
 * Arrays from outside. Their own `length`, `slice` or species may be false. So these functions ask
 * the engine's own getters, and callers use only a copy.
 */

/** Some bytes of a file, in order. */
export type Piece = Uint8Array<ArrayBuffer>;

const { prototype: typed } = Object.getPrototypeOf(Uint8Array) as { prototype: object };
const asked = <Value>(from: object, name: PropertyKey) => {
  const { get } = Object.getOwnPropertyDescriptor(from, name)!;
  return (value: unknown) => get!.call(value) as Value;
};
const tagOf = asked<string | undefined>(typed, Symbol.toStringTag);
const lengthOfTyped = asked<number>(typed, "length");

const members = (from: object) => ({
  buffer: asked<ArrayBuffer>(from, "buffer"),
  byteOffset: asked<number>(from, "byteOffset"),
  byteLength: asked<number>(from, "byteLength"),
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

/** The number of elements as the engine knows it; 0 where the memory is detached. */
export function countOf(array: Arrays[keyof Arrays]): number {
  return lengthOfTyped(array);
}

const lengthOfBuffer = asked<number>(ArrayBuffer.prototype, "byteLength");

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
 * @throws {TypeError} where the memory is detached.
 */
export function viewOf(source: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  if (!ArrayBuffer.isView(source)) return new Uint8Array(source);
  const { buffer, byteOffset, byteLength } = tagOf(source) === undefined ? ofDataView : ofTyped;
  return new Uint8Array(buffer(source), byteOffset(source), byteLength(source));
}

/** The largest number that a word of the module holds. */
export const MAX_FILE_BYTES = 2 ** 32 - 1;
