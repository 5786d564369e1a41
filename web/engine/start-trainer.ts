/** Starts a trainer's module and threads, and opens the weights that it begins from. */
import { type BuildPlan, chooseBuild, gather, withPrepare } from "./start.js";
import type { Folder } from "../load/folder.js";
import type { WeightsSource } from "../load/given.js";
import { readHeader } from "../load/header.js";
import type { Fetch, ReadOptions, Source } from "../load/source.js";
import { takeSource } from "../load/take.js";
import { openWeights } from "../load/weights.js";
import { sharedMemory } from "./instance.js";
import type { Variant } from "./module.js";
import type { Team } from "./team.js";
import { type Backend, Local, Remote } from "./call.js";

/** A trainer's module, and the threads that help it. */
export class Started {
  readonly backend: Backend;
  readonly variant: Variant;
  readonly threads: number;
  readonly #team: Team | undefined;

  constructor(backend: Backend, variant: Variant, team: Team | undefined, threads: number) {
    this.backend = backend;
    this.variant = variant;
    this.threads = threads;
    this.#team = team;
  }

  get alive(): boolean {
    return this.backend.alive && this.#team?.alive !== false;
  }

  close(): void {
    this.backend.close();
    this.#team?.close();
  }
}

/** The most memory that threads share, the first that the engine gives. */
const MOST_BYTES = [2 ** 31, 2 ** 30, 2 ** 29, 2 ** 28];

export async function startTrainer(plan: BuildPlan & { readonly worker: boolean }): Promise<Started> {
  const build = await chooseBuild(plan, {
    int8: async () => false,
    memory: async () => MOST_BYTES.reduce<WebAssembly.Memory | undefined>((got, most) => got ?? sharedMemory(most), undefined),
  });
  const helpers = gather(plan, build);
  let backend: Backend | undefined;
  try {
    backend = plan.worker ? await (await Remote.start(plan.files.worker)).open(build) : await Local.open(build);
    const team = await helpers;
    const threads = team ? build.threads : 1;
    if (team) team.help(await backend.call("team", threads));
    return new Started(backend, await backend.call("variant"), team, threads);
  } catch (error) {
    backend?.close();
    void helpers?.then((team) => team?.close());
    throw error;
  }
}

/** Opens a model to begin from. Returns its config as JSON. */
export async function openModel(
  backend: Backend,
  from: Source | Folder | WeightsSource,
  { signal, onProgress, fetch }: ReadOptions & { readonly fetch?: Fetch | undefined },
  call = "create",
): Promise<string> {
  const { weights, config: apart, prepare, advised } = await takeSource(call, from, signal, fetch);
  const file = await openWeights(weights, { signal, onProgress }).catch(async (error: unknown) => {
    throw await advised(error);
  });
  try {
    const given = await apart;
    const config = prepare ? await withPrepare(prepare, given, file) : given;
    await backend.call("begin", (await readHeader(file)).size, config);
    for (let piece; (piece = await file.take()); ) await backend.call("feed", piece);
    return await backend.call("end");
  } catch (error) {
    file.cancel();
    throw file.explained(error);
  }
}
