/** Recognises the platform's objects of any realm: this one's, a frame's, a vm context's, jsdom's. */

interface Platform {
  AbortSignal: AbortSignal;
  Blob: Blob;
  FileList: ArrayLike<File>;
  Request: Request;
  Response: Response;
  URL: URL;
}

/**
 * The prototype of a value's class of this name. The class itself is not asked for: in
 * Node, naming Response loads code that compiles WebAssembly, for which there may be no memory.
 */
export function prototypeOf<Name extends keyof Platform>(value: unknown, name: Name): Platform[Name] | undefined {
  try {
    for (let at: unknown = value; at !== null && typeof at === "object"; ) {
      at = Object.getPrototypeOf(at) as unknown;
      const own: unknown = at && Object.getOwnPropertyDescriptor(at, "constructor")?.value;
      if (typeof own === "function" && own.name === name) return at as Platform[Name];
    }
  } catch {
    // a Proxy that refuses
  }
  return undefined;
}

/** Whether a value is of the platform's class of this name, or of one that extends it. */
export const isA = <Name extends keyof Platform>(value: unknown, name: Name): value is Platform[Name] =>
  prototypeOf(value, name) !== undefined;
