/** Resolves addresses that may be only a path: a caller's, and those that bundlers make, such as /_next/static/a.wasm. */

/** The address that paths are resolved against; undefined in Node. A blob: address cannot be one, but its origin can. */
const baseAddress = (): string | undefined => {
  const { document, location } = globalThis;
  return location?.protocol === "blob:" ? location.origin : (document?.baseURI ?? location?.href);
};

/** @throws {TypeError} if it is not an address, or if it is a path and there is no address to resolve it against. */
export const absolute = (address: string | URL): URL => new URL(String(address), baseAddress());

/** Whether text is a whole address. In Node other text is a path, also with a ? or # in it. */
export const hasScheme = (text: string): boolean => /^[a-z][a-z0-9+.-]+:/i.test(text);
