import { within } from "./attention.js";
import { keepSelf, throughProxies } from "./base/proxy.js";
import { type Class, rank } from "./classes.js";
import type { VitConfig } from "./config.js";
import { show, VitError } from "./errors.js";
import { traceArrays } from "./engine/trace.js";
import type { Shape } from "./engine/shape.js";

/**
 * What one run computed between patches and classes. Every method returns a copy. Layers and heads
 * count from 0, as in {@link Attention}. T is the number of tokens, the prefix first; D is the width,
 * d a head's width.
 *
 * @example
 * const { trace } = await vit.classify(image, { trace: true });
 * trace.lens(2)[0].label;         // what the head reads from the tokens after block 2
 * trace.scores(0, 3);             // of the first block's fourth head, before the softmax
 */
export class Trace {
  readonly #arrays: ReturnType<typeof traceArrays>;
  readonly #shape: Shape;
  readonly #config: Readonly<VitConfig>;

  /** @internal */
  constructor(values: Float32Array, shape: Shape, config: Readonly<VitConfig>) {
    this.#arrays = traceArrays(values, shape);
    this.#shape = shape;
    this.#config = config;
    keepSelf(this);
  }

  /**
   * The tokens (T,D): at stage 0 before the first block, at stage l after l blocks. `"embedded"`:
   * before positions are added to them.
   *
   * @throws {VitError} code `bad_argument`: no such stage. The other methods throw it too.
   */
  tokens(stage: number | "embedded"): Float32Array {
    if (stage === "embedded") return this.#arrays.embedded.slice();
    const { tokens, width } = this.#shape;
    return part(this.#arrays.stream, this.#stage(stage), tokens * width);
  }

  /** One head's queries (T,d), after `qk_norm` and rotary positions where the model has them. */
  queries(layer: number, head: number): Float32Array {
    return this.#qkvPart(layer, head, 0);
  }

  /** One head's keys (T,d), after `qk_norm` and rotary positions where the model has them. */
  keys(layer: number, head: number): Float32Array {
    return this.#qkvPart(layer, head, 1);
  }

  /** One head's values (T,d). */
  values(layer: number, head: number): Float32Array {
    return this.#qkvPart(layer, head, 2);
  }

  /**
   * One head's scores (T,T), before the softmax: q·k/√d, and the bias of relative positions. Row i
   * belongs to token i's query.
   */
  scores(layer: number, head: number): Float32Array {
    const { tokens, heads } = this.#shape;
    return part(this.#arrays.scores, this.#layer(layer) * heads + this.#head(head), tokens * tokens);
  }

  /** What a block's attention or MLP adds to the tokens (T,D), layer scale included. */
  added(layer: number, branch: "attention" | "mlp"): Float32Array {
    if (branch !== "attention" && branch !== "mlp") {
      throw new VitError("bad_argument", `branch: expected attention or mlp, got ${show(branch)}`);
    }
    const { tokens, width } = this.#shape;
    return part(this.#arrays.added, this.#layer(layer) * 2 + Number(branch === "mlp"), tokens * width);
  }

  /**
   * What the model's own head reads from the tokens of a stage, the most probable class first: the
   * logit lens (nostalgebraist, 2020). The last stage's are the model's answer.
   */
  lens(stage: number): Class[] {
    const { logits } = this.#shape;
    return rank(part(this.#arrays.lens, this.#stage(stage), logits), this.#config);
  }

  #qkvPart(layer: number, head: number, which: number): Float32Array {
    const { tokens, heads, headWidth: d } = this.#shape;
    const row = 3 * heads * d;
    const first = this.#layer(layer) * tokens * row + which * heads * d + this.#head(head) * d;
    const out = new Float32Array(tokens * d);
    for (let token = 0; token < tokens; token++) {
      const start = first + token * row;
      out.set(this.#arrays.qkv.subarray(start, start + d), token * d);
    }
    return out;
  }

  #stage = (stage: number) => within("stage", stage, this.#shape.depth + 1);
  #layer = (layer: number) => within("layer", layer, this.#shape.depth);
  #head = (head: number) => within("head", head, this.#shape.heads);
}

throughProxies(Trace);

const part = (array: Float32Array, index: number, size: number) => array.slice(index * size, (index + 1) * size);
