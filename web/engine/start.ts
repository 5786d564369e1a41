/** Starts a model from a source of weights. Every step begins as soon as possible. */
import { type Backend, Engine } from "./engine.js";
import { DEFAULTS } from "../config.js";
import { reason, show, VitError } from "../errors.js";
import type { ReadOptions } from "../load/source.js";
import type { Taken } from "../load/take.js";
import { readHeader } from "../load/header.js";
import type { Incoming } from "../load/incoming.js";
import { isObject, parseJson, parseObject } from "../base/json.js";
import { dotInPairs, type Given, hasSimd, type Kind, loadModule } from "./choose.js";
import type { CompiledModule, Variant } from "./module.js";
import { cores, inNode } from "../base/node.js";
import { Remote } from "./remote.js";
import { Team } from "./team.js";
import { NO_WORKER } from "./thread.js";
import { isThreaded, sharedMemory } from "./instance.js";
import { openWeights } from "../load/weights.js";

/** The threads and the module that a model, or a trainer, needs. */
export interface BuildPlan extends Given {
  readonly kind: Kind;
  readonly variant: Variant | "auto";
  readonly threads: number;
}

/** A source that can be opened again, because a model is loaded anew after a failure. */
export interface Plan extends BuildPlan, Taken {
  readonly worker: boolean;
}

/** An open model, and the team of threads that helps it. */
export class Running {
  readonly backend: Backend;
  readonly #team: Team | undefined;
  readonly threads: number;

  constructor(backend: Backend, team: Team | undefined, threads: number) {
    this.backend = backend;
    this.#team = team;
    this.threads = threads;
  }

  /** False once the module trapped, or a thread ended. The next call then starts another model. */
  get alive(): boolean {
    return this.backend.alive && this.#team?.alive !== false;
  }

  close(): void {
    this.backend.close();
    this.#team?.close();
  }
}

export async function start(plan: Plan, options: ReadOptions = {}): Promise<Running> {
  const opening = openWeights(plan.weights, options);
  let opened: Incoming | undefined;
  const remote = plan.worker ? Remote.start(plan.files.worker) : undefined;
  let helpers: Promise<Team | undefined> | undefined;
  try {
    const [build, file, given] = await Promise.all([
      chooseBuild(plan, {
        int8: async () => (await readHeader(await opening)).hasInt8,
        memory: async () => memoryFor(await opening),
      }),
      opening.then((incoming) => (opened = incoming)),
      plan.config,
      remote,
    ]);
    const { module, memory, threads, inPairs } = build;
    helpers = gather(plan, build);
    const config = plan.prepare ? await withPrepare(plan.prepare, given, file) : given;
    const { size } = await readHeader(file);
    const source = { module, memory, size, config, inPairs };
    const engine: Backend = await (remote
      ? remote.then((worker) => worker.begin(source))
      : Engine.begin(source));
    for (let piece; (piece = await file.take()); ) await engine.feed(piece);
    const team = await helpers;
    const { stacks } = await engine.end(team ? threads : 1);
    team?.help(stacks);
    return new Running(engine, team, team ? threads : 1);
  } catch (error) {
    const ignore = () => {};
    void opening.then((file) => file.cancel(), ignore);
    void remote?.then((worker) => worker.close(), ignore);
    void helpers?.then((team) => team?.close());
    throw await plan.advised(opened ? opened.explained(error) : error);
  }
}

// ---- The build and its memory -----------------------------------------------

/** The option `threads`. */
export function takeThreads(threads: number): number {
  if (Number.isInteger(threads) && threads >= 1) return threads;
  throw new VitError("bad_option", `threads: expected a whole number from 1, got ${show(threads)}`);
}

/** The limit of src/wasm/team.c. */
const MOST_THREADS = 64;

export interface Build {
  readonly module: CompiledModule;
  /** Only for a module for threads. */
  readonly memory: WebAssembly.Memory | undefined;
  readonly threads: number;
  /** See {@link dotInPairs}. */
  readonly inPairs: boolean;
}

interface Needs {
  /** Whether the model has int8 weights. */
  int8(): Promise<boolean>;
  /** Memory that threads share; undefined if there is none. */
  memory(): Promise<WebAssembly.Memory | undefined>;
}

/** Chooses a build for threads if they are wanted and possible, else one for a single thread. */
export async function chooseBuild(plan: BuildPlan, { int8, memory: memoryOf }: Needs): Promise<Build> {
  const choose = (threads: boolean) => loadModule({ ...plan, threads, int8 });
  const wanted = plan.threads > 1 ? Math.min(plan.threads, await cores(), MOST_THREADS) : 1;
  const why = wanted > 1 ? whyAlone(plan.variant, await inNode()) : undefined;
  const module = await choose(wanted > 1 && !why);
  const inPairs = (await int8()) && dotInPairs();
  const alone = { module, memory: undefined, threads: 1, inPairs };
  if (!isThreaded(module)) {
    if (wanted > 1) warn(plan, why ?? whyOne(plan));
    return alone;
  }
  const memory = await memoryOf();
  if (memory) return { module, memory, threads: wanted, inPairs };
  const none = "there is no shared memory of the size that the model needs";
  if (plan.wasm) throw new VitError("unsupported", `wasm: a build for threads, and ${none}`);
  warn(plan, none);
  return { ...alone, module: await choose(false) };
}

/** Starts the helpers of a build. Without them one thread works, and a warning says why. */
export function gather(plan: BuildPlan, { module, memory, threads }: Build): Promise<Team | undefined> | undefined {
  if (!memory || threads <= 1) return undefined;
  const { kind, files } = plan;
  return Team.gather({ module, memory }, threads - 1, kind.script, files.worker).catch((error: unknown) => {
    warn(plan, reason(error));
    return undefined;
  });
}

function whyAlone(variant: Variant | "auto", node: boolean): string | undefined {
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

const whyOne = ({ wasm }: BuildPlan) =>
  wasm !== undefined || hasSimd()
    ? "the module given is a build for one"
    : "this engine has no WebAssembly SIMD, which builds for threads need";

function warn({ threads }: BuildPlan, why: string): void {
  console.warn(`vitrine: one thread in place of ${threads}: ${why}`);
}

/** Memory for the model and its images. The maximum is small, because phones refuse a large one. */
async function memoryFor(file: Incoming): Promise<WebAssembly.Memory | undefined> {
  const { hasHalves, size } = await readHeader(file);
  const weights = size * (hasHalves ? 2 : 1) * 1.2; // because halves become floats
  for (const room of [2 ** 28, 2 ** 27, 2 ** 26]) {
    const memory = sharedMemory(weights + room);
    if (memory) return memory;
  }
  return undefined;
}

/** The config with another `prepare`. If the file has no good header, the core will refuse it. */
export async function withPrepare(
  prepare: string,
  given: string | undefined,
  file: Incoming,
): Promise<string | undefined> {
  const own = given === undefined ? await ownConfig(file) : undefined;
  const config = given ?? own;
  if (config === undefined) return given;
  const defaults = own === undefined || own === NONE ? {} : DEFAULTS; // only for our own files
  return JSON.stringify({ ...defaults, ...parseObject(config, "config"), prepare: parseJson(prepare, "prepare") });
}

const NONE = "{}";

/** The file's config, or `{}` if it has none; undefined if it is no file of safetensors. */
async function ownConfig(file: Incoming): Promise<string | undefined> {
  const { tensors, metadata } = await readHeader(file);
  const config = isObject(metadata) ? metadata.vitrine : undefined;
  return tensors && (typeof config === "string" ? config : NONE);
}
