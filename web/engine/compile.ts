/** Compiles modules, each of them once. */
import { absolute } from "../base/address.js";
import { isA } from "../base/kind.js";
import { reason, VitError } from "../errors.js";
import { bytesOf, Incoming } from "../load/incoming.js";
import { open, type Source } from "../load/source.js";
import type { CompiledModule } from "./module.js";

/** A caller's own module: its address, its bytes, or a compiled module. */
export type WasmSource = Source | CompiledModule;

/** The most bytes of a module. Our own are about a thousand times smaller. */
const MOST_BYTES = 2 ** 26;

/** The compiled modules, by their address or by the object that was given. */
const byAddress = new Map<unknown, Promise<CompiledModule>>();
const bySource = new WeakMap<WeakKey, Promise<CompiledModule>>();

/** @internal Compiles a module once. A failure is forgotten, so the next call tries again. */
export function compiled(from: WasmSource): Promise<CompiledModule> {
  const key = isA(from, "URL") ? absolute(from).href : from;
  const modules: Pick<typeof byAddress, "get" | "set" | "delete"> =
    typeof key === "object" && key ? (bySource as never) : byAddress;
  let module = modules.get(key);
  if (!module) {
    module = compile(from);
    modules.set(key, module);
    module.catch(() => modules.delete(key));
  }
  return module;
}

async function compile(source: WasmSource): Promise<CompiledModule> {
  if (isModule(source)) return source;
  const opened = await open(source);
  try {
    if (opened.response && isWasm(opened.response)) {
      return await WebAssembly.compileStreaming(opened.response);
    }
    // The server's type may be wrong, so the bytes are compiled. A wrong file is refused.
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

/** @internal Whether it is a compiled module, of any realm. */
export function isModule(source: WasmSource | undefined): source is CompiledModule {
  try {
    return WebAssembly.Module.exports(source as CompiledModule).length >= 0;
  } catch {
    return false;
  }
}

function isWasm(response: Response): boolean {
  const type = response.headers.get("content-type") ?? "";
  return "compileStreaming" in WebAssembly && /^application\/wasm\s*$/i.test(type);
}
