/** An instance of the module, with its functions and its memory. */
import { VitError } from "../errors.js";

/** The functions that both kinds of modules have. */
export const HEAP_EXPORTS = [
  "vitw_alloc",
  "vitw_free",
  "vitw_allocations",
  "vitw_variant",
  "vitw_pixels",
  "vitw_ink",
  "vitw_points",
  "vitw_stroke",
  "vitw_session",
  "vitw_begin",
  "vitw_feed",
  "vitw_end",
  "vit_status_name",
] as const;

/** The further functions of builds for threads. */
export const THREAD_EXPORTS = ["vitw_team", "vitw_stack", "vitw_help", "vitw_dismiss"] as const;

export type Functions<Names extends readonly string[]> = Record<
  Names[number],
  (...words: number[]) => number
>;
export type HeapExports = Functions<typeof HEAP_EXPORTS> & {
  readonly memory: WebAssembly.Memory;
  readonly _initialize?: () => void;
};
export type ThreadExports = Functions<typeof THREAD_EXPORTS> & { readonly __stack_pointer: WebAssembly.Global };

/** The module's -sINITIAL_MEMORY. */
const INITIAL_BYTES = 2 ** 20;
/** The unit of WebAssembly.Memory's sizes. */
const PAGE_BYTES = 2 ** 16;

/** Advice if there is no memory for the module at all: engines reserve gigabytes of addresses for it. */
const CROWDED = "close other tabs; where addresses are limited, as by ulimit -v, Node needs --disable-wasm-trap-handler";

/** The functions that the module may import. A build for threads imports its memory, too. */
const ENV = { emscripten_notify_memory_growth: () => {} };

/** Whether a module is a build for threads. */
export function isThreaded(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
}

/** Memory that threads share, of at most `maximum` bytes; undefined if the engine gives none. */
export function sharedMemory(maximum: number): WebAssembly.Memory | undefined {
  const initial = INITIAL_BYTES / PAGE_BYTES;
  const pages = Math.min(Math.ceil(maximum / PAGE_BYTES), 2 ** 16);
  try {
    return new WebAssembly.Memory({ initial, maximum: pages, shared: true });
  } catch {
    return undefined;
  }
}

/**
 * @param names the functions that the module must have.
 * @throws {VitError} code `bad_wasm`, `no_memory`; `internal` if the engine refuses the module.
 */
export async function instantiate<Exports extends HeapExports & ThreadExports>(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory | undefined,
  names: readonly string[],
): Promise<Exports> {
  checkModule(module, names);
  const env = memory ? { ...ENV, memory } : ENV;
  const instance = await withRetries(() => WebAssembly.instantiate(module, { env })).catch((cause: unknown) => {
    throw cause instanceof RangeError ? noMemory(INITIAL_BYTES, "the module", CROWDED) : trap(cause);
  });
  return { ...instance.exports, ...(memory && { memory }) } as unknown as Exports;
}

/** Milliseconds before each retry. */
const PAUSES = [50, 200, 800];

/** Retries after a RangeError: a worker's addresses come free some time after it has ended. */
async function withRetries<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (const pause of PAUSES) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      await new Promise((resume) => setTimeout(resume, pause));
    }
  }
  return attempt();
}

/** Refuses a module that is not one of ours, with a clearer message than the engine gives. */
function checkModule(module: WebAssembly.Module, names: readonly string[]): void {
  const threads = isThreaded(module);
  const known = [...Object.keys(ENV), ...(threads ? ["memory"] : [])];
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  const wrong =
    WebAssembly.Module.imports(module)
      .filter(({ module: space, name }) => space !== "env" || !known.includes(name))
      .map(({ module: space, name }) => `it imports ${space}.${name}`)[0] ??
    [...names, ...(threads ? THREAD_EXPORTS : [])]
      .filter((name) => !exported.has(name))
      .map((name) => `it does not export ${name}`)[0];
  if (wrong === undefined) return;
  throw new VitError(
    "bad_wasm",
    `wasm: expected a module of this version of vitrine, but ${wrong}; use the one beside vit.js`,
  );
}

/** The error for a trap in the module. It is our fault, and the instance is unusable afterwards. */
export function trap(cause: unknown): VitError {
  return new VitError(
    "internal",
    `the WebAssembly module failed (${String(cause)}); the next call starts it anew; ` +
      "please report this",
    { cause },
  );
}

export function noMemory(size: number, what: string, advice = "use something smaller"): VitError {
  const amount = `${(size / 2 ** 20).toFixed(1)} MiB of WebAssembly memory`;
  return new VitError(
    "no_memory",
    `expected ${amount} for ${what}, got none; ${advice}`,
  );
}
