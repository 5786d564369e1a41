/** What the sessions of both kinds of modules share. A session calls one instance and owns its heap. */
import { Heap } from "./heap.js";
import type { HeapExports, ThreadExports } from "./instance.js";
import type { CompiledModule, Variant } from "./module.js";

/** What a session is made of. It can be sent to a worker. */
export interface ModuleSource {
  readonly module: CompiledModule;
  /** Only for a build for threads. */
  readonly memory: WebAssembly.Memory | undefined;
  /** Whether int8 products are computed in two steps, if the module can. */
  readonly inPairs: boolean;
}

/** `Word`: the names of the words of the module's struct. A file's calls are begin, feed…, end. */
export abstract class Session<
  Word extends string = string,
  Exports extends HeapExports & ThreadExports = HeapExports & ThreadExports,
> {
  protected readonly exports: Exports;
  protected readonly heap: Heap<Word>;
  readonly #kernels: readonly number[];
  #hasTeam = false;

  /** @param kernels arguments of vitw_begin that choose kernels, if this kind of module has any */
  protected constructor(exports: Exports, words: readonly Word[], ...kernels: number[]) {
    this.exports = exports;
    this.heap = new Heap(exports, words);
    this.#kernels = kernels;
    this.heap.watched(() => this.heap.start());
  }

  /** True once the module trapped, and so is unusable. */
  get trapped(): boolean {
    return this.heap.trapped;
  }

  variant(): Variant {
    return this.heap.text(this.exports.vitw_variant()) as Variant;
  }

  /** Lets helpers take part, and returns a stack for each. `threads` counts this thread, too. */
  team(threads: number): number[] {
    const { vitw_team, vitw_stack } = this.exports;
    return this.heap.watched(() => {
      this.heap.check(vitw_team(threads, Number(maySleep())));
      this.#hasTeam = true;
      return Array.from({ length: threads - 1 }, (_, helper) => vitw_stack(helper + 1) >>> 0);
    });
  }

  /** Lets the helpers go. Maps that are read later are computed by this thread alone. */
  dismiss(): void {
    if (this.#hasTeam && !this.trapped) this.exports.vitw_dismiss();
    this.#hasTeam = false;
  }

  /**
   * @param size the file's, in bytes
   * @param config a config as JSON that replaces the file's own
   * @param map which tensors make which parameter, as the JSON of `vit_open_begin`; undefined: their names are ours
   */
  begin(size: number, config: string | undefined, map: string | undefined): void {
    this.heap.watched(() => this.heap.begin(size, config, map, ...this.#kernels));
  }

  /** Takes the file's next bytes. */
  feed(bytes: Uint8Array): void {
    this.heap.watched(() => this.heap.feed(bytes));
  }

  /** Opens the model after the file's last byte. */
  abstract end(): unknown;
}

/** Whether this thread may sleep. A page's main thread may not. */
function maySleep(): boolean {
  try {
    return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1) === "not-equal";
  } catch {
    return false;
  }
}
