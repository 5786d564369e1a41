/** From a choice of variant, or bytes of one's own, to a compiled WebAssembly.Module. */
import { hasOwn, reason, show, VitError } from "./errors.js";
import { open, type Source } from "./fetch.js";
import { bytesOf, Incoming } from "./incoming.js";
import { Probe, tinyModule } from "./probe.js";

/** Builds of the core, by the instructions they use. */
export type Variant = "relaxed" | "simd128" | "scalar";

/** WebAssembly.Module, which TypeScript knows together with the DOM alone. */
export type CompiledModule = typeof globalThis extends {
  WebAssembly: { Module: { prototype: infer Module } };
}
  ? Module
  : never;

/** A module of one's own: where it is, its bytes, or compiled. */
export type WasmSource = Source | CompiledModule;

/** Each spelt out, so that bundlers find the file and take it along. */
const FILES = {
  relaxed: () => new URL("./vit.relaxed.wasm", import.meta.url),
  simd128: () => new URL("./vit.simd128.wasm", import.meta.url),
  scalar: () => new URL("./vit.scalar.wasm", import.meta.url),
};
const THREADS_FILES = {
  relaxed: () => new URL("./vit.relaxed-threads.wasm", import.meta.url),
  simd128: () => new URL("./vit.simd128-threads.wasm", import.meta.url),
};

/** A module of ours has a thousandth of it. */
const MOST_BYTES = 2 ** 26;

export interface Choice {
  readonly variant: Variant | "auto";
  /** In place of a file of ours. */
  readonly wasm: WasmSource | undefined;
  /** A build whose memory threads can share. */
  readonly threads: boolean;
  /** Whether the model's weights are int8; asked for where it matters. */
  int8(): Promise<boolean>;
}

/** A module whose f() is lane 3 of splat(6) · splat(7). To validate it is not yet to compute. */
const SIMD_PROBE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0],
  ...[7, 5, 1, 1, 102, 0, 0, 10, 18, 1, 16, 0],
  ...[65, 6, 253, 17, 65, 7, 253, 17, 253, 181, 1, 253, 27, 3, 11],
);

/**
 * @throws {VitError} code `no_wasm`, `no_simd`, `unsupported`, `bad_option`, `network` or
 *   `bad_wasm`.
 */
export async function loadModule(choice: Choice): Promise<CompiledModule> {
  const { variant, wasm, threads } = choice;
  if (variant !== "auto" && !(typeof variant === "string" && hasOwn(FILES, variant))) {
    throw new VitError(
      "bad_option",
      `variant: expected "auto", "relaxed", "simd128" or "scalar", got "${show(variant)}"`,
    );
  }
  if (typeof WebAssembly !== "object") {
    throw new VitError("no_wasm", "this engine has no WebAssembly, or has it switched off");
  }
  if (wasm instanceof WebAssembly.Module) return wasm; // where bytes may not be compiled, it can run
  const probe = variant === "auto" || variant === "relaxed" ? relaxedSimd() : undefined;
  const simd = probe !== undefined || hasSimd();
  if (variant === "simd128" && !simd) {
    throw new VitError("no_simd", 'this engine has no WebAssembly SIMD; use variant "auto"');
  }
  if (variant === "relaxed" && !probe) {
    throw new VitError(
      "unsupported",
      'this engine has no relaxed SIMD, or computes it wrong; use variant "auto"',
    );
  }
  if (wasm !== undefined) return compiled(wasm);
  const files = threads ? { ...FILES, ...THREADS_FILES } : FILES;
  const file = (name: Variant) => compiled(files[name]()).catch(advised);
  if (variant !== "auto") return file(variant);
  if (!probe) return file(simd ? "simd128" : "scalar");
  if (!probe.fused || faster === false) {
    return file((await choice.int8()) ? "relaxed" : "simd128");
  }
  // The likely choice arrives, and the engine optimises the probe, while the weights begin.
  const likely = file("relaxed");
  probe.warm();
  await likely;
  const int8 = await choice.int8();
  if (int8) dotInPairs();
  else faster ??= probe.faster();
  return file(probe.right && (int8 || faster) ? "relaxed" : "simd128");
}

/** What most often takes a module of ours away: a build that left it, a server that answers a page. */
function advised(cause: unknown): never {
  if (!(cause instanceof VitError)) throw cause;
  const what = "its vit.*.wasm files belong beside its code: copy them along, or in Vite say " +
    'optimizeDeps: { exclude: ["vitrine"] }';
  throw new VitError(cause.code, `${cause.message}; ${what}`, { cause });
}

/** Opened once, measured once. */
let opened: Probe | undefined | null = null;
let faster: boolean | undefined;
let inPairs: boolean | undefined;

/** Undefined where there is no relaxed SIMD that computes right. */
function relaxedSimd(): Probe | undefined {
  if (opened === null) opened = Probe.open();
  return opened?.right ? opened : undefined;
}

/** Whether a relaxed build had better take int8 products in two steps. */
export function dotInPairs(): boolean {
  try {
    inPairs ??= relaxedSimd()?.inPairs() ?? false;
  } catch {
    inPairs = false; // no bytes may be compiled here
  }
  return inPairs;
}

function hasSimd(): boolean {
  const exports = tinyModule<{ f(): number }>(SIMD_PROBE);
  return exports?.f() === 42;
}

/** Compiled modules by address. A failed one is forgotten, so that it can be tried again. */
const modules = new Map<string, Promise<CompiledModule>>();

function compiled(from: WasmSource): Promise<CompiledModule> {
  if (!(typeof from === "string" || from instanceof URL)) return compile(from);
  const key = String(from);
  let module = modules.get(key);
  if (!module) {
    module = compile(from);
    modules.set(key, module);
    module.catch(() => modules.delete(key));
  }
  return module;
}

async function compile(source: WasmSource): Promise<CompiledModule> {
  if (source instanceof WebAssembly.Module) return source;
  const opened = await open(source);
  try {
    if (opened.response && isWasm(opened.response)) {
      return await WebAssembly.compileStreaming(opened.response);
    }
    // A server that names another type is forgiven; one that sends another file is not.
    return await WebAssembly.compile(await bytesOf(await Incoming.from(opened), MOST_BYTES));
  } catch (cause) {
    if (cause instanceof VitError) throw cause;
    const wrong = cause instanceof WebAssembly.CompileError;
    throw new VitError(
      wrong ? "bad_wasm" : "network",
      `wasm: expected a module that this engine compiles, got: ${reason(cause)}`,
      { cause },
    );
  }
}

function isWasm(response: Response): boolean {
  const type = response.headers.get("content-type") ?? "";
  return "compileStreaming" in WebAssembly && /^application\/wasm\s*$/i.test(type);
}
