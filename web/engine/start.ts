/** Starts a model from a source of weights. Every step begins as soon as possible. */
import type { Origin } from "../config.js";
import type { Foreign } from "../foreign/checkpoint.js";
import { type Header, readHeader } from "../load/header.js";
import { identify } from "../load/identify.js";
import type { Incoming } from "../load/incoming.js";
import type { Fetch, ReadOptions, Source, Tokenizer } from "../load/source.js";
import type { LoadSource } from "../load/resolve-source.js";
import { openWeights } from "../load/weights.js";
import type { BuildPlan } from "./choose.js";
import { sharedMemory } from "./instance.js";
import type { Model } from "./model.js";
import type { ModelSession } from "./model-session.js";
import { Running } from "./running.js";

/** A source that can be opened again, because a model is loaded again after a failure. */
export interface LoadPlan extends BuildPlan<ModelSession>, LoadSource {
  /** Adds the text tower to a model of another library; undefined: it is left out. */
  readonly tower?: (model: Foreign, header: Header) => Promise<Foreign>;
  /** See LoadOptions. */
  readonly tokenizer?: Tokenizer | Source | undefined;
  readonly fetch?: Fetch | undefined;
}

export interface Started {
  readonly running: Running<ModelSession>;
  readonly model: Model;
  readonly origin: Origin;
}

export async function start(plan: LoadPlan, options: ReadOptions = {}): Promise<Started> {
  const opening = openWeights(plan.weights, options);
  const identifying = Promise.all([opening, plan.config]).then(([file, config]) => identify(file, config, plan.prepare, plan.tower));
  const starting = Running.start(plan, {
    int8: async () => (await readHeader(await opening)).hasInt8,
    memory: async () => memoryFor(await opening),
    full: async () => (await identifying).needsFull,
    likelySmall: !plan.isFolder,
  });
  let opened: Incoming | undefined;
  try {
    const [running, { config, map, origin, file: weights }] = await Promise.all([
      starting,
      identifying,
      opening.then((incoming) => (opened = incoming)),
    ]);
    const model = await running.read(weights, config, map);
    return { running: await running.gather(), model, origin };
  } catch (error) {
    const ignore = () => {};
    void opening.then((file) => file.cancel(), ignore);
    void starting.then((running) => running.close(), ignore);
    throw await plan.withAdvice(opened ? opened.rootCause(error) : error);
  }
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
