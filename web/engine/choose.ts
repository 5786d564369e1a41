/** Chooses the module that runs, its memory and the number of threads. */
import { beside, BESIDE } from "../base/beside.js";
import { cores, inNode } from "../base/node.js";
import { reason, show, VitError } from "../errors.js";
import { compiled, isModule, type WasmSource } from "./compile.js";
import { type ModuleKind, readWasm, type WasmFiles, type WasmModules } from "./files.js";
import { isThreaded } from "./instance.js";
import type { CompiledModule, Variant } from "./module.js";
import { Probe, tinyModule } from "./probe.js";
import type { ModuleSource } from "./session.js";
import { Team } from "./team.js";
import { NO_WORKER } from "./thread.js";

/** The threads and the module that a model, or a trainer, needs. */
export interface BuildPlan<Target> extends WasmModules {
  readonly kind: ModuleKind<Target>;
  readonly variant: Variant | "auto";
  readonly threads: number;
  readonly worker: boolean;
}

interface BuildOptions {
  readonly wasm?: WasmSource | WasmFiles;
  readonly variant?: Variant | "auto";
  readonly worker?: boolean;
  readonly threads?: number;
}

/** Copies the options that choose a build. */
export function buildPlan<Target>(
  kind: ModuleKind<Target>,
  { wasm, variant = "auto", worker = false, threads = 1 }: BuildOptions,
): BuildPlan<Target> {
  if (!(Number.isInteger(threads) && threads >= 1)) {
    throw new VitError("bad_option", `threads: expected a whole number from 1, got ${show(threads)}`);
  }
  return { ...readWasm(wasm, kind), kind, variant, worker: Boolean(worker), threads };
}

/** The limit of src/wasm/team.c. */
const MOST_THREADS = 64;

export interface Needs {
  /** Whether the model has int8 weights. */
  int8(): Promise<boolean>;
  /** Whether the model needs the full edition of the module, and whether the small one is worth loading before that is known. */
  full(): Promise<boolean>;
  readonly likelySmall: boolean;
  /** Memory that threads share; undefined if the engine gives none. */
  memory(): Promise<WebAssembly.Memory | undefined>;
}

/** Chooses a build for threads if they are wanted and possible, else one for a single thread. */
export async function chooseBuild(
  plan: BuildPlan<unknown>,
  { int8, full, likelySmall, memory: memoryOf }: Needs,
): Promise<ModuleSource & { readonly threads: number }> {
  const load = (threads: boolean, edition: Edition) => loadModule(plan, (variants) => firstOf(variants, threads, edition, plan), int8);
  const choose = async (threads: boolean) => {
    const [small, needsFull] = await Promise.all([likelySmall && load(threads, ""), full()]);
    return needsFull ? load(threads, "full.") : small || load(threads, "");
  };
  const threads = plan.threads > 1 ? Math.min(plan.threads, await cores(), MOST_THREADS) : 1;
  const why = threads > 1 ? whySingleThread(plan.variant, await inNode()) : undefined;
  const module = await choose(threads > 1 && !why);
  const inPairs = (await int8()) && dotInPairs();
  const alone = { module, memory: undefined, threads: 1, inPairs };
  if (!isThreaded(module)) {
    if (threads > 1) warn(plan, why ?? whySingleThreadModule(plan));
    return alone;
  }
  const memory = await memoryOf();
  if (memory) return { module, memory, threads, inPairs };
  const none = "there is no shared memory of the size that the model needs";
  if (plan.wasm) throw new VitError("unsupported", `wasm: a build for threads, and ${none}`);
  warn(plan, none);
  return { ...alone, module: await choose(false) };
}

/** Starts the helpers of a build. Without them one thread works, and a warning says why. */
export async function gather(
  plan: BuildPlan<unknown>,
  source: ModuleSource,
  threads: number,
): Promise<Team | undefined> {
  if (threads === 1) return undefined;
  const { kind, files } = plan;
  return Team.gather(source, threads - 1, kind.script, files.worker).catch((error: unknown) => {
    warn(plan, reason(error));
    return undefined;
  });
}

function whySingleThread(variant: Variant | "auto", node: boolean): string | undefined {
  if (variant === "scalar") return "the scalar build runs one";
  if (!node && typeof Worker !== "function") return NO_WORKER;
  const { crossOriginIsolated } = globalThis;
  if (typeof SharedArrayBuffer === "function" && crossOriginIsolated !== false) return;
  if (crossOriginIsolated) return "the page is isolated, yet this engine has no SharedArrayBuffer";
  return (
    "the page is not cross-origin isolated; serve it with Cross-Origin-Opener-Policy: " +
    "same-origin and Cross-Origin-Embedder-Policy: require-corp"
  );
}

const whySingleThreadModule = ({ wasm }: BuildPlan<unknown>) =>
  wasm !== undefined || hasSimd()
    ? "the module given is a build for one"
    : "this engine has no WebAssembly SIMD, which builds for threads need";

function warn({ threads }: BuildPlan<unknown>, why: string): void {
  console.warn(`vitrine: one thread in place of ${threads}: ${why}`);
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
 */
async function loadModule({ variant, wasm }: BuildPlan<unknown>, load: Load, int8: Needs["int8"]): Promise<CompiledModule> {
  if (!["auto", "relaxed", "simd128", "scalar"].includes(variant)) {
    throw new VitError(
      "bad_option",
      `variant: expected "auto", "relaxed", "simd128" or "scalar", got "${show(variant)}"`,
    );
  }
  if (typeof WebAssembly !== "object") {
    throw new VitError("no_wasm", "this engine has no WebAssembly, or it is switched off");
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
  return load(variant === "auto" ? await ranked(load, int8) : [variant]);
}

/** What a build's name begins with. */
type Edition = "" | "full.";

/** {@link firstOf} for one plan. */
type Load = (variants: readonly Variant[]) => Promise<CompiledModule>;

/** The variants that run here, the fastest first. A later one is used if an earlier is missing. */
async function ranked(load: Load, isInt8: Needs["int8"]): Promise<readonly Variant[]> {
  const probe = relaxedSimd();
  if (!probe) return hasSimd() ? ["simd128", "scalar"] : ["scalar"];
  const relaxed: Variant[] = ["relaxed", "simd128", "scalar"];
  const plain: Variant[] = ["simd128", "relaxed", "scalar"];
  faster ??= probe.fused ? await recall() : false;
  if (faster === false) return (await isInt8()) ? relaxed : plain;
  // While the weights begin to arrive, load the likely build and let the engine optimise the probe.
  const likely = load(["relaxed"]).catch(() => {});
  probe.warm();
  await likely;
  const int8 = await isInt8();
  if (int8) dotInPairs();
  else faster ??= await remember(probe.faster() && probe.right);
  if (!probe.right) return ["simd128", "scalar"];
  return int8 || faster ? relaxed : plain;
}

/** Loads the first of these builds that is available. */
async function firstOf(
  variants: readonly Variant[],
  threads: boolean,
  edition: Edition,
  { kind: { here }, files }: BuildPlan<unknown>,
): Promise<CompiledModule> {
  const customFiles = Object.keys(here).some((build) => build in files);
  let failure: unknown;
  for (const variant of variants) {
    const build = threads && variant !== "scalar" ? (`${variant}-threads` as const) : variant;
    const names = [edition, "", "full."].flatMap((each) => [`${each}${build}`, `${each}${variant}`]) as (keyof typeof here)[];
    const source = names.map((name) => files[name]).find(Boolean);
    if (!source && customFiles) continue;
    try {
      return await compiled(source ?? beside(names.map((name) => here[name]).find(Boolean)!));
    } catch (cause) {
      failure ??= cause;
    }
  }
  if (!failure) {
    throw new VitError("bad_option", `wasm: expected the build ${variants.join(" or ")}, got others`);
  }
  throw failure instanceof VitError && failure.code !== "bad_option"
    ? new VitError(failure.code, `${failure.message}; ${BESIDE}`, { cause: failure.cause })
    : failure;
}

/** The probe is opened once, and each of its measurements is made once. null: not opened yet. */
let probe: Probe | undefined | null = null;
let faster: boolean | undefined;
let inPairs: boolean | undefined;

/** The probe; undefined if the engine has no relaxed SIMD or computes wrong values with it. */
function relaxedSimd(): Probe | undefined {
  if (probe === null) probe = Probe.open();
  return probe?.right ? probe : undefined;
}

/** Whether int8 products in two steps are faster in a relaxed build. */
function dotInPairs(): boolean {
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
const STORAGE_KEY = "vitrine.relaxed";
const note = (isFaster: boolean) => `${isFaster} ${navigator.userAgent}`;

async function recall(): Promise<boolean | undefined> {
  try {
    const record = (await inNode()) ? undefined : localStorage.getItem(STORAGE_KEY);
    return [true, false].find((isFaster) => record === note(isFaster));
  } catch {
    return undefined; // the page has no storage, or this is a worker
  }
}

async function remember(isFaster: boolean): Promise<boolean> {
  try {
    if (!(await inNode())) localStorage.setItem(STORAGE_KEY, note(isFaster));
  } catch {
    // the next page measures again
  }
  return isFaster;
}

function hasSimd(): boolean {
  const exports = tinyModule<{ f(): number }>(SIMD_PROBE);
  return exports?.f() === 42;
}
