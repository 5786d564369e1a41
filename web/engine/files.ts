/** Where the package's files are: beside this code, or where the option `wasm` says. */
import { isPlain } from "../base/json.js";
import { isA } from "../base/kind.js";
import { show, takeOptions, VitError } from "../errors.js";
import { snapshot } from "../load/source.js";
import type { WasmSource } from "./compile.js";
import type { Variant } from "./module.js";
import type { ModuleSource } from "./session.js";
import type { Script } from "./thread.js";

/**
 * The names of the builds. Each variant with SIMD has four: for threads or not, and in full, for all models, or small,
 * for ordinary ones. `scalar` is full.
 */
type BuildName = "scalar" | `${"" | "full."}${Exclude<Variant, "scalar">}${"" | "-threads"}`;

/** @internal One kind of module: those that run models, or those that train them. */
export interface ModuleKind<Target> {
  /** What a module's name begins with, before the build's name; and the script's name. */
  readonly prefix: string;
  readonly worker: string;
  /** The modules' addresses. Each is written out, so that bundlers find the file and include it. */
  readonly here: { readonly [build in BuildName]?: () => URL };
  /** The script of its threads. */
  readonly script: Script;
  /** Starts a session in this thread. */
  open(source: ModuleSource): Promise<Target>;
}

/**
 * The addresses of the package's files. If any module is named, only the named ones are used; if
 * none is named, those beside this code are. Without `worker`, the `worker.js` beside this code is
 * used.
 */
export type WasmFiles = { readonly [build in BuildName]?: WasmSource } & {
  readonly worker?: string | URL;
};

/** @internal The modules that the option `wasm` names: one module, or several files. */
export interface WasmModules {
  /** A module to run instead of one of our files. */
  readonly wasm: WasmSource | undefined;
  readonly files: WasmFiles;
}

/**
 * Copies the option `wasm`. An address with a slash at its end is the files' folder.
 *
 * @internal
 */
export function readWasm(wasm: WasmSource | WasmFiles | undefined, kind: ModuleKind<unknown>): WasmModules {
  const base = typeof wasm === "string" || isA(wasm, "URL") ? String(wasm) : "";
  if (base.endsWith("/")) {
    const builds = Object.keys(kind.here).map((build) => [build, `${base}${kind.prefix}.${build}.wasm`] as const);
    return { wasm: undefined, files: { ...Object.fromEntries(builds), worker: base + kind.worker } };
  }
  if (!isPlain(wasm)) return { wasm: snapshot(wasm as WasmSource | undefined), files: {} };
  const own = takeOptions<WasmFiles>("wasm", wasm, [...(Object.keys(kind.here) as BuildName[]), "worker"]);
  const { worker = "" } = own;
  if (!(typeof worker === "string" || isA(worker, "URL"))) {
    throw new VitError("bad_option", `wasm.worker: expected an address, got ${show(worker)}`);
  }
  const files = Object.entries(own).map(([name, source]) => [name, snapshot(source)] as const);
  return { wasm: undefined, files: Object.fromEntries(files) as WasmFiles };
}

