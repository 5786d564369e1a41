/** Starts a trainer's module and threads, and opens the weights that it begins from. */
import type { Foreign } from "../foreign/checkpoint.js";
import type { Header } from "../load/header.js";
import type { Folder } from "../load/location.js";
import type { WeightsSource } from "../load/read-config.js";
import { identify } from "../load/identify.js";
import type { Fetch, ReadOptions, Source } from "../load/source.js";
import { type LoadSource, resolveSource } from "../load/resolve-source.js";
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

/**
 * Opens a model to begin from. Returns its config as JSON.
 *
 * @param tower adds the text tower to another library's model whose images are compared with texts.
 */
export async function openModel(
  engine: Running<TrainingSession>,
  from: Source | Folder | WeightsSource,
  { signal, onProgress, fetch }: ReadOptions & { readonly fetch?: Fetch | undefined },
  call = "create",
  tower?: (model: Foreign, header: Header, source: LoadSource) => Promise<Foreign>,
): Promise<string> {
  const source = await resolveSource(call, from, signal, fetch);
  const { weights, config: callerConfig, prepare, withAdvice } = source;
  const file = await openWeights(weights, { signal, onProgress }).catch(async (error: unknown) => {
    throw await withAdvice(error);
  });
  try {
    const { config, map, file: weights } = await identify(file, await callerConfig, prepare, tower && ((model, header) => tower(model, header, source)));
    return await engine.read(weights, config, map);
  } catch (error) {
    file.cancel();
    throw file.rootCause(error);
  }
}
