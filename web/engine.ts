import { fullConfig, type VitConfig } from "./config.js";
import { VitError } from "./errors.js";
import type { Picture } from "./images.js";
import type { Variant } from "./module.js";
import { type Result, Session, type Shape, type Wants } from "./wasm.js";

/** All that it takes to open a model; it can be sent to a worker. */
export interface EngineSource {
  readonly module: WebAssembly.Module;
  readonly weights: ArrayBuffer;
  /** JSON, in place of the file's own. */
  readonly config: string | undefined;
  /** In place of the config's own, as JSON too. */
  readonly prepare: string | undefined;
}

/** What is known of an open model. */
export interface Model {
  readonly config: VitConfig;
  readonly variant: Variant;
  readonly shape: Shape;
}

export type Output = Result & { readonly milliseconds: number };

/** Where a model runs: this thread's Engine, or a Remote one in a worker. */
export interface Backend {
  readonly model: Model;
  /** False once it trapped, died or was closed: time for another. */
  readonly alive: boolean;
  run(pictures: readonly Picture[], wants: Wants): Promise<Output[]>;
  close(): void;
}

/** A model open in this thread. */
export class Engine implements Backend {
  readonly model: Model;
  #session: Session | undefined;

  static async open({ module, weights, config, prepare }: EngineSource): Promise<Engine> {
    const open = (json?: string) => trapped(() => Session.open(module, weights, json));
    const session = await open(config);
    if (prepare === undefined) return new Engine(session);
    const merged = { ...JSON.parse(session.config), prepare: JSON.parse(prepare) } as object;
    return new Engine(await open(JSON.stringify(merged)));
  }

  private constructor(session: Session) {
    const { variant, shape } = session;
    this.model = { config: fullConfig(session.config), variant, shape };
    this.#session = session;
  }

  get alive(): boolean {
    return this.#session !== undefined;
  }

  async run(pictures: readonly Picture[], wants: Wants): Promise<Output[]> {
    const session = this.#session;
    if (!session) throw closed();
    const timed = () => {
      const start = performance.now();
      const results = session.run(pictures, wants);
      const milliseconds = (performance.now() - start) / pictures.length;
      return results.map((result) => ({ ...result, milliseconds }));
    };
    return trapped(timed).catch((error: VitError) => {
      if (error.code === "internal") this.close();
      throw error;
    });
  }

  /** The module's memory goes with its instance, once nobody holds it. */
  close(): void {
    this.#session = undefined;
  }
}

export function closed(): VitError {
  return new VitError("disposed", "this Vit was disposed; load another");
}

/** A trap in the module is our error, not the caller's, and leaves the instance unusable. */
async function trapped<Value>(work: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof VitError) throw cause;
    throw new VitError(
      "internal",
      `the WebAssembly module failed (${String(cause)}); the next call starts it anew; ` +
        "please report this",
      { cause },
    );
  }
}
