/** Starts a trainer's module and threads, and opens the weights that it begins from. */
import type { Folder } from "../load/location.js";
import type { WeightsSource } from "../load/read-config.js";
import { identify } from "../load/identify.js";
import type { Fetch, ReadOptions, Source } from "../load/source.js";
import { resolveSource } from "../load/resolve-source.js";
import { openWeights } from "../load/weights.js";
import type { BuildPlan } from "./choose.js";
import { sharedMemory } from "./instance.js";
import { Running } from "./running.js";
import type { TrainingSession } from "./training-session.js";

/** The most memory that threads share, the first that the engine gives. */
const MOST_BYTES = [2 ** 31, 2 ** 30, 2 ** 29, 2 ** 28];

export async function startTrainer(plan: BuildPlan<TrainingSession>): Promise<Running<TrainingSession>> {
  const running = await Running.start(plan, {
    int8: async () => false,
    full: async () => false, // there is one edition
    likelySmall: true,
    memory: async () => MOST_BYTES.reduce<WebAssembly.Memory | undefined>((got, most) => got ?? sharedMemory(most), undefined),
  });
  try {
    return await running.gather();
  } catch (error) {
    running.close();
    throw error;
  }
}

/** Opens a model to begin from. Returns its config as JSON. */
export async function openModel(
  engine: Running<TrainingSession>,
  from: Source | Folder | WeightsSource,
  { signal, onProgress, fetch }: ReadOptions & { readonly fetch?: Fetch | undefined },
  call = "create",
): Promise<string> {
  const { weights, config: callerConfig, prepare, withAdvice } = await resolveSource(call, from, signal, fetch);
  const file = await openWeights(weights, { signal, onProgress }).catch(async (error: unknown) => {
    throw await withAdvice(error);
  });
  try {
    const { config, map, file: weights } = await identify(file, await callerConfig, prepare);
    return await engine.read(weights, config, map);
  } catch (error) {
    file.cancel();
    throw file.rootCause(error);
  }
}
