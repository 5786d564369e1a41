/** Finds the WebAssembly module that runs, and compiles it. */
import { absolute } from "../base/address.js";
import { beside, BESIDE } from "../base/beside.js";
import { isA } from "../base/kind.js";
import { reason, show, takeOptions, VitError } from "../errors.js";
import { open, type Source, steady } from "../load/source.js";
import { bytesOf, Incoming } from "../load/incoming.js";
import { isPlain } from "../base/json.js";
import { inNode } from "../base/node.js";
import type { CompiledModule, Variant } from "./module.js";
import { WORKER } from "./models.js";
import type { Script } from "./thread.js";
import { Probe, tinyModule } from "./probe.js";

/** A caller's own module: its address, its bytes, or a compiled module. */
export type WasmSource = Source | CompiledModule;

/** The names of the modules. Each variant with SIMD has a second module, for threads. */
type Build = Variant | "relaxed-threads" | "simd128-threads";

/** @internal One kind of module, and the script of its threads. */
export interface Kind {
  /** The modules' addresses. Each is written out, so that bundlers find the file and include it. */
  readonly here: Readonly<Record<Build, () => URL>>;
  readonly script: Script;
}

/** @internal The modules that run models. */
export const MODELS: Kind = {
  here: {
    relaxed: () => new URL("./vit.relaxed.wasm", import.meta.url),
    simd128: () => new URL("./vit.simd128.wasm", import.meta.url),
    scalar: () => new URL("./vit.scalar.wasm", import.meta.url),
    "relaxed-threads": () => new URL("./vit.relaxed-threads.wasm", import.meta.url),
    "simd128-threads": () => new URL("./vit.simd128-threads.wasm", import.meta.url),
  },
  script: WORKER,
};
const BUILDS = Object.keys(MODELS.here) as Build[];

/**
 * The addresses of the package's files. If any module is named, only the named ones are used; if
 * none is named, those beside this code are. Without `worker`, the `worker.js` beside this code is
 * used.
 */
export type WasmFiles = { readonly [build in Build]?: WasmSource } & {
  readonly worker?: string | URL;
};

/** @internal The option `wasm`: one module, or several files. */
export interface Given {
  /** A module to run instead of one of our files. */
  readonly wasm: WasmSource | undefined;
  readonly files: WasmFiles;
}

/**
 * Copies the option `wasm`. An address with a slash at its end is the files' folder.
 *
 * @param prefix what a module's name begins with, before the build's name
 * @internal
 */
export function takeWasm(wasm: WasmSource | WasmFiles | undefined, prefix = "vit", script = "worker.js"): Given {
  const base = typeof wasm === "string" || isA(wasm, "URL") ? String(wasm) : "";
  if (base.endsWith("/")) {
    const builds = BUILDS.map((build) => [build, `${base}${prefix}.${build}.wasm`] as const);
    return { wasm: undefined, files: { ...Object.fromEntries(builds), worker: base + script } };
  }
  if (!isPlain(wasm)) return { wasm: steady(wasm as WasmSource | undefined), files: {} };
  const own = takeOptions<WasmFiles>("wasm", wasm, [...BUILDS, "worker"]);
  const { worker = "" } = own;
  if (!(typeof worker === "string" || isA(worker, "URL"))) {
    throw new VitError("bad_option", `wasm.worker: expected an address, got ${show(worker)}`);
  }
  const files = Object.entries(own).map(([name, source]) => [name, steady(source)] as const);
  return { wasm: undefined, files: Object.fromEntries(files) as WasmFiles };
}

/** The most bytes of a module. Our own are about a thousand times smaller. */
const MOST_BYTES = 2 ** 26;

/** @internal */
export interface Choice extends Given {
  readonly kind: Kind;
  readonly variant: Variant | "auto";
  /** Whether a build is wanted whose memory threads can share. */
  readonly threads: boolean;
  /** Whether the model has int8 weights. It is called only if the answer matters. */
  int8(): Promise<boolean>;
}

/** A module whose f() is lane 3 of splat(6) · splat(7). That shows more than validation does. */
const SIMD_PROBE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0],
  ...[7, 5, 1, 1, 102, 0, 0, 10, 18, 1, 16, 0],
  ...[65, 6, 253, 17, 65, 7, 253, 17, 253, 181, 1, 253, 27, 3, 11],
);

/**
 * @throws {VitError} code `no_wasm`, `no_simd`, `unsupported`, `bad_option`, `network` or
 *   `bad_wasm`.
 * @internal
 */
export async function loadModule(choice: Choice): Promise<CompiledModule> {
  const { variant, wasm } = choice;
  if (!["auto", "relaxed", "simd128", "scalar"].includes(variant)) {
    throw new VitError(
      "bad_option",
      `variant: expected "auto", "relaxed", "simd128" or "scalar", got "${show(variant)}"`,
    );
  }
  if (typeof WebAssembly !== "object") {
    throw new VitError("no_wasm", "this engine has no WebAssembly, or has it switched off");
  }
  if (isModule(wasm)) return wasm; // it needs no permission to compile
  const simd = hasSimd(); // throws if the page may not compile bytes
  if (variant === "simd128" && !simd) {
    throw new VitError("no_simd", 'this engine has no WebAssembly SIMD; use variant "auto"');
  }
  if (variant === "relaxed" && !relaxedSimd()) {
    throw new VitError(
      "unsupported",
      'this engine has no relaxed SIMD, or computes it wrong; use variant "auto"',
    );
  }
  if (wasm !== undefined) return compiled(wasm);
  return firstOf(variant === "auto" ? await ranked(choice) : [variant], choice);
}

/** The variants that run here, the fastest first. A later one is used if an earlier is missing. */
async function ranked(choice: Choice): Promise<readonly Variant[]> {
  const probe = relaxedSimd();
  if (!probe) return hasSimd() ? ["simd128", "scalar"] : ["scalar"];
  const relaxed: Variant[] = ["relaxed", "simd128", "scalar"];
  const plain: Variant[] = ["simd128", "relaxed", "scalar"];
  faster ??= probe.fused ? await recall() : false;
  if (faster === false) return (await choice.int8()) ? relaxed : plain;
  // While the weights begin to arrive, load the likely build and let the engine optimise the probe.
  const likely = firstOf(["relaxed"], choice).catch(() => {});
  probe.warm();
  await likely;
  const int8 = await choice.int8();
  if (int8) dotInPairs();
  else faster ??= await keep(probe.faster() && probe.right);
  if (!probe.right) return ["simd128", "scalar"];
  return int8 || faster ? relaxed : plain;
}

/** Loads the first of these builds that can be had. */
async function firstOf(variants: readonly Variant[], { kind, files, threads }: Choice): Promise<CompiledModule> {
  const named = BUILDS.some((build) => build in files);
  let lost: unknown;
  for (const variant of variants) {
    const build = threads && variant !== "scalar" ? (`${variant}-threads` as const) : variant;
    const given = files[build] ?? files[variant];
    if (!given && named) continue;
    try {
      return await compiled(given ?? beside(kind.here[build]));
    } catch (cause) {
      lost ??= cause;
    }
  }
  if (!lost) {
    throw new VitError("bad_option", `wasm: expected the build ${variants.join(" or ")}, got others`);
  }
  throw lost instanceof VitError && lost.code !== "bad_option"
    ? new VitError(lost.code, `${lost.message}; ${BESIDE}`, { cause: lost.cause })
    : lost;
}

/** The probe is opened once, and each of its measurements is made once. null: not opened yet. */
let opened: Probe | undefined | null = null;
let faster: boolean | undefined;
let inPairs: boolean | undefined;

/** The probe; undefined if the engine has no relaxed SIMD or computes wrong values with it. */
function relaxedSimd(): Probe | undefined {
  if (opened === null) opened = Probe.open();
  return opened?.right ? opened : undefined;
}

/** @internal Whether int8 products in two steps are faster in a relaxed build. */
export function dotInPairs(): boolean {
  try {
    inPairs ??= relaxedSimd()?.inPairs() ?? false;
  } catch {
    inPairs = false; // the page may not compile bytes
  }
  return inPairs;
}

/**
 * The key of an earlier page's measurement, whose build is probably in the browser's cache. The
 * value names the browser, because a measurement holds only for the browser that made it.
 */
const KEPT_AS = "vitrine.relaxed";
const note = (isFaster: boolean) => `${isFaster} ${navigator.userAgent}`;

async function recall(): Promise<boolean | undefined> {
  try {
    const kept = (await inNode()) ? undefined : localStorage.getItem(KEPT_AS);
    return [true, false].find((isFaster) => kept === note(isFaster));
  } catch {
    return undefined; // the page has no storage, or this is a worker
  }
}

async function keep(isFaster: boolean): Promise<boolean> {
  try {
    if (!(await inNode())) localStorage.setItem(KEPT_AS, note(isFaster));
  } catch {
    // the next page measures again
  }
  return isFaster;
}

/** @internal */
export function hasSimd(): boolean {
  const exports = tinyModule<{ f(): number }>(SIMD_PROBE);
  return exports?.f() === 42;
}

/** The compiled modules, by their address or by the object that was given. */
const byAddress = new Map<unknown, Promise<CompiledModule>>();
const bySource = new WeakMap<WeakKey, Promise<CompiledModule>>();

/** Compiles a module once. A failure is not kept, so that the next call tries again. */
function compiled(from: WasmSource): Promise<CompiledModule> {
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

/** Whether it is a compiled module, of any realm. */
function isModule(source: WasmSource | undefined): source is CompiledModule {
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
