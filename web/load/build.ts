/** From a choice of variant, or bytes of one's own, to a compiled WebAssembly.Module. */
import { beside, BESIDE } from "../base/beside.js";
import { reason, show, takeOptions, VitError } from "../errors.js";
import { open, type Source, steady } from "./source.js";
import { bytesOf, Incoming } from "./incoming.js";
import { isPlain } from "../base/json.js";
import { isNode } from "../base/node.js";
import type { CompiledModule, Variant } from "../run/module.js";
import { Probe, tinyModule } from "./probe.js";

/** A module of one's own: where it is, its bytes, or compiled. */
export type WasmSource = Source | CompiledModule;

/** The modules: of each variant, and of those with SIMD one for threads. */
type Build = Variant | "relaxed-threads" | "simd128-threads";

/** Each spelt out, so that bundlers find the file and take it along. */
const HERE: Readonly<Record<Build, () => URL>> = {
  relaxed: () => new URL("./vit.relaxed.wasm", import.meta.url),
  simd128: () => new URL("./vit.simd128.wasm", import.meta.url),
  scalar: () => new URL("./vit.scalar.wasm", import.meta.url),
  "relaxed-threads": () => new URL("./vit.relaxed-threads.wasm", import.meta.url),
  "simd128-threads": () => new URL("./vit.simd128-threads.wasm", import.meta.url),
};
const BUILDS = Object.keys(HERE) as Build[];

/**
 * Where each of the package's files lies. Where a module is named no others run; where none is,
 * those beside this code do. So does its `worker.js`, unless another is named.
 */
export type WasmFiles = { readonly [build in Build]?: WasmSource } & {
  readonly worker?: string | URL;
};

/** @internal What `wasm` says: one module, or files. */
export interface Given {
  /** In place of a file of ours. */
  readonly wasm: WasmSource | undefined;
  readonly files: WasmFiles;
}

/** @internal As it is now. An address that ends with a slash is the files' folder. */
export function takeWasm(wasm: WasmSource | WasmFiles | undefined): Given {
  const base = typeof wasm === "string" || wasm instanceof URL ? String(wasm) : "";
  if (base.endsWith("/")) {
    const builds = BUILDS.map((build) => [build, `${base}vit.${build}.wasm`] as const);
    return { wasm: undefined, files: { ...Object.fromEntries(builds), worker: `${base}worker.js` } };
  }
  if (!isPlain(wasm)) return { wasm: steady(wasm as WasmSource | undefined), files: {} };
  const own = takeOptions<WasmFiles>("wasm", wasm, [...BUILDS, "worker"]);
  const { worker = "" } = own;
  if (!(typeof worker === "string" || worker instanceof URL)) {
    throw new VitError("bad_option", `wasm.worker: expected an address, got ${show(worker)}`);
  }
  const files = Object.entries(own).map(([name, source]) => [name, steady(source)] as const);
  return { wasm: undefined, files: Object.fromEntries(files) as WasmFiles };
}

/** A module of ours has a thousandth of it. */
const MOST_BYTES = 2 ** 26;

/** @internal */
export interface Choice extends Given {
  readonly variant: Variant | "auto";
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
  if (wasm instanceof WebAssembly.Module) return wasm; // where bytes may not be compiled, it can run
  const simd = hasSimd(); // or no bytes may be compiled, whosever they are
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

/** Builds that run here, the best first. The next is for where it does not arrive. */
async function ranked(choice: Choice): Promise<readonly Variant[]> {
  const probe = relaxedSimd();
  if (!probe) return hasSimd() ? ["simd128", "scalar"] : ["scalar"];
  const relaxed: Variant[] = ["relaxed", "simd128", "scalar"];
  const plain: Variant[] = ["simd128", "relaxed", "scalar"];
  faster ??= probe.fused ? recall() : false;
  if (faster === false) return (await choice.int8()) ? relaxed : plain;
  // The likely choice arrives, and the engine optimises the probe, while the weights begin.
  const likely = firstOf(["relaxed"], choice).catch(() => {});
  probe.warm();
  await likely;
  const int8 = await choice.int8();
  if (int8) dotInPairs();
  else faster ??= keep(probe.faster() && probe.right);
  if (!probe.right) return ["simd128", "scalar"];
  return int8 || faster ? relaxed : plain;
}

/** The first of these builds that arrives. */
async function firstOf(variants: readonly Variant[], { files, threads }: Choice): Promise<CompiledModule> {
  const named = BUILDS.some((build) => build in files);
  let lost: unknown;
  for (const variant of variants) {
    const build = threads && variant !== "scalar" ? (`${variant}-threads` as const) : variant;
    const given = files[build] ?? files[variant];
    if (!given && named) continue;
    try {
      return await compiled(given ?? beside(HERE[build]));
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

/** Opened once, measured once. */
let opened: Probe | undefined | null = null;
let faster: boolean | undefined;
let inPairs: boolean | undefined;

/** Undefined where there is no relaxed SIMD that computes right. */
function relaxedSimd(): Probe | undefined {
  if (opened === null) opened = Probe.open();
  return opened?.right ? opened : undefined;
}

/** @internal Whether a relaxed build had better take int8 products in two steps. */
export function dotInPairs(): boolean {
  try {
    inPairs ??= relaxedSimd()?.inPairs() ?? false;
  } catch {
    inPairs = false; // no bytes may be compiled here
  }
  return inPairs;
}

/** An earlier page's measurement: a cache has the build that it chose. Another engine's says nothing. */
const KEPT_AS = "vitrine.relaxed";
const note = (isFaster: boolean) => `${isFaster} ${navigator.userAgent}`;

function recall(): boolean | undefined {
  try {
    const kept = isNode ? undefined : localStorage.getItem(KEPT_AS);
    return [true, false].find((isFaster) => kept === note(isFaster));
  } catch {
    return undefined; // a page without storage, or a worker
  }
}

function keep(isFaster: boolean): boolean {
  try {
    if (!isNode) localStorage.setItem(KEPT_AS, note(isFaster));
  } catch {
    // it is measured again then
  }
  return isFaster;
}

/** @internal */
export function hasSimd(): boolean {
  const exports = tinyModule<{ f(): number }>(SIMD_PROBE);
  return exports?.f() === 42;
}

/** Compiled modules by address, and by what else they were given as. */
const byAddress = new Map<unknown, Promise<CompiledModule>>();
const bySource = new WeakMap<WeakKey, Promise<CompiledModule>>();

/** A failed one is forgotten, so that it can be tried again. */
function compiled(from: WasmSource): Promise<CompiledModule> {
  const key = from instanceof URL ? from.href : from;
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
