/** The package's files beside its code, and what to say where they are not. */
import { VitError } from "../errors.js";

/** What most often takes them away: a build that left them, a server that answers a page. */
export const BESIDE =
  "its files (vit.*.wasm, worker.js) belong beside its code: copy them along, or in Vite say " +
  'optimizeDeps: { exclude: ["vitrine"] }, or tell their folder as wasm: "/vitrine/"';

/** @throws {VitError} code `bad_option` in a bundle that is no module: it does not know where it is. */
export function beside(find: () => URL): URL {
  try {
    return find();
  } catch (cause) {
    const what = "wasm: expected the folder of its files in a bundle without import.meta.url, got none";
    throw new VitError("bad_option", `${what}; ${BESIDE}`, { cause });
  }
}
