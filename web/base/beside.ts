/** The address of the package's files beside its code, and the advice when they are missing. */
import { VitError } from "../errors.js";

/** Advice for the usual reasons: a build left the files out, or a server answered with a page. */
export const BESIDE =
  "its files (vit.*.wasm, worker.js) belong beside its code: copy them along, or in Vite set " +
  'optimizeDeps: { exclude: ["vitrine"] }, or pass their folder as wasm: "/vitrine/"; ' +
  "from a CDN import its dist/vit.js, not an on-demand copy such as jsDelivr's +esm";

/** @throws {VitError} code `bad_option` in a bundle that is not a module and so lacks import.meta.url. */
export function beside(find: () => URL): URL {
  try {
    return find();
  } catch (cause) {
    const what = "wasm: expected the folder of its files in a bundle without import.meta.url, got none";
    throw new VitError("bad_option", `${what}; ${BESIDE}`, { cause });
  }
}
