/** From a choice of variant, or bytes of one's own, to a compiled WebAssembly.Module. */
import { reason, VitError } from "./errors.js";
import { open, read, type Source } from "./fetch.js";

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
const FILES: Readonly<Partial<Record<Variant, () => URL>>> = {
  simd128: () => new URL("./vit.simd128.wasm", import.meta.url),
  scalar: () => new URL("./vit.scalar.wasm", import.meta.url),
};

/** A module whose f() is lane 3 of splat(6) · splat(7). To validate it is not yet to compute. */
const SIMD_PROBE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0],
  ...[7, 5, 1, 1, 102, 0, 0, 10, 18, 1, 16, 0],
  ...[65, 6, 253, 17, 65, 7, 253, 17, 253, 181, 1, 253, 27, 3, 11],
);

/** @throws {VitError} code `no_wasm`, `no_simd`, `unsupported` or `bad_option`. */
export function chooseVariant(wanted: Variant | "auto"): Variant {
  if (wanted === "relaxed") {
    throw new VitError("unsupported", 'variant: "relaxed" is not built yet; use "auto"');
  }
  if (wanted !== "auto" && !Object.hasOwn(FILES, wanted)) {
    throw new VitError(
      "bad_option",
      `variant: expected "auto", "relaxed", "simd128" or "scalar", got ${JSON.stringify(wanted)}`,
    );
  }
  const simd = hasSimd();
  if (wanted === "simd128" && !simd) {
    throw new VitError("no_simd", 'this engine has no WebAssembly SIMD; use variant "auto"');
  }
  return wanted === "auto" ? (simd ? "simd128" : "scalar") : wanted;
}

function hasSimd(): boolean {
  if (typeof WebAssembly !== "object") {
    throw new VitError("no_wasm", "this engine has no WebAssembly, or has it switched off");
  }
  if (!WebAssembly.validate(SIMD_PROBE)) return false;
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(SIMD_PROBE));
    return (exports["f"] as () => number)() === 42;
  } catch (cause) {
    throw new VitError(
      "no_wasm",
      `this page may not compile WebAssembly (${reason(cause)}); ` +
        "its Content-Security-Policy needs 'wasm-unsafe-eval' in script-src",
      { cause },
    );
  }
}

/** Compiled modules by address. A failed one is forgotten, so that it can be tried again. */
const compiled = new Map<string, Promise<WebAssembly.Module>>();

/** @throws {VitError} also codes `network` and `bad_wasm`. */
export function loadModule(
  variant: Variant | "auto",
  source?: WasmSource,
): Promise<CompiledModule> {
  const chosen = chooseVariant(variant);
  const from = source ?? FILES[chosen]!();
  if (!(typeof from === "string" || from instanceof URL)) return compile(from);
  const key = String(from);
  let module = compiled.get(key);
  if (!module) {
    module = compile(from);
    compiled.set(key, module);
    module.catch(() => compiled.delete(key));
  }
  return module;
}

async function compile(source: WasmSource): Promise<CompiledModule> {
  if (source instanceof WebAssembly.Module) return source;
  const opened = await open(source);
  try {
    if (opened instanceof Response && opened.ok && isWasm(opened)) {
      return await WebAssembly.compileStreaming(opened);
    }
    // A server that names another type is forgiven; one that sends another file is not.
    const bytes = await (await read(opened)).arrayBuffer();
    return await WebAssembly.compile(bytes);
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
