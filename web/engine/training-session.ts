/** Calls the functions of src/wasm/training.c. It gives values and copies. */
import type { Piece } from "../base/bytes.js";
import type { ImageShape, Picture } from "../images.js";
import { TRAINING_NUMBERS, TRAINING_WORDS } from "../generated/training-words.js";
import { assertInternal } from "./heap.js";
import { type Functions, HEAP_EXPORTS, type HeapExports, instantiate, type ThreadExports } from "./instance.js";
import type { Measured, Part } from "../train/log.js";
import { type ModuleSource, Session } from "./session.js";

/** The functions in src/wasm/exports.training. */
export const TRAINING_EXPORTS = [
  ...HEAP_EXPORTS,
  "vitt_recipe",
  "vitt_prepare",
  "vitt_add",
  "vitt_keep",
  "vitt_run",
  "vitt_step",
  "vitt_end_epoch",
  "vitt_model",
  "vitt_int8",
  "vitt_score",
  "vitt_checkpoint",
  "vitt_open",
  "vitt_restore",
  "vitt_resume",
] as const;

type Exports = HeapExports & Functions<typeof TRAINING_EXPORTS> & ThreadExports;

type Numbers = Record<(typeof TRAINING_NUMBERS)[number], number>;

/** The parts of the examples, as src/wasm/training.c counts them. */
export const PARTS: readonly Part[] = ["train", "validation"];

/** How far a run has come. */
export interface Progress {
  /** Finished epochs. */
  readonly epoch: number;
  /** Steps of the next epoch, taken and in all. */
  readonly step: number;
  readonly steps: number;
  /** Images of an epoch. */
  readonly images: number;
  /** So far in this epoch; after the end of an epoch, in that one. */
  readonly loss: number;
  readonly accuracy: number;
}

/** What a checkpoint holds besides weights and recipe. */
export interface Restored {
  /** The class of each example to train on; of texts something else, but as many. */
  readonly labels: Piece;
  /** Undefined without a run. */
  readonly progress: Progress | undefined;
}

/** A session that trains a model. */
export class TrainingSession extends Session<(typeof TRAINING_WORDS)[number], Exports> {
  /** The address of the open checkpoint. */
  #checkpoint = 0;

  /** @throws {VitError} code `bad_wasm`, `no_memory` or `internal`. */
  static async open({ module, memory }: ModuleSource): Promise<TrainingSession> {
    return new TrainingSession(await instantiate<Exports>(module, memory, TRAINING_EXPORTS), TRAINING_WORDS);
  }

  /** Returns the config of the model to start from, as JSON. */
  end(): string {
    return this.heap.watched(() => {
      this.heap.end();
      return this.heap.text(this.heap.word("json"), this.heap.word("json_size"));
    });
  }

  /** Sets the recipe, as JSON. Returns the whole config of its model, as JSON, and (C,H,W) of an image. */
  recipe(json: string): { readonly config: string; readonly shape: ImageShape } {
    const { heap } = this;
    return heap.watched(() => {
      heap.check(this.#withCopy(new TextEncoder().encode(json), "the recipe", this.exports.vitt_recipe));
      const config = heap.text(heap.word("config"), heap.word("config_size"));
      return { config, shape: [heap.word("channels"), heap.word("rows"), heap.word("columns")] };
    });
  }

  /** Adds examples: all of them, or none if one fails. A label is a class, or the tokens of a text. */
  add(pictures: readonly Picture[], labels: readonly Piece[], part: Part): void {
    const at = PARTS.indexOf(part);
    this.heap.watched(() => {
      const before = this.heap.words("examples", PARTS.length)[at]!;
      try {
        pictures.forEach((picture, index) => this.#add(picture, labels[index]!, at));
      } catch (error) {
        this.exports.vitt_keep(at, before);
        throw error;
      }
    });
  }

  #add(picture: Picture, label: Piece, part: number): void {
    const { vitt_prepare, vitt_add } = this.exports;
    if ("values" in picture) {
      const { length } = picture.values;
      assertInternal(length === this.#imageSize(), "values");
      this.heap.floats(this.heap.word("image"), length).set(picture.values);
    } else {
      const { rows, columns, channels } = this.heap.copyIn(picture);
      this.heap.check(vitt_prepare(rows, columns, channels), `${picture.name}: `);
    }
    this.heap.bytes(this.heap.word("label"), label.length).set(label);
    this.heap.check(vitt_add(part, label.length), `${picture.name}: `);
  }

  #imageSize(): number {
    return this.heap.word("channels") * this.heap.word("rows") * this.heap.word("columns");
  }

  /** Begins a run from the weights as they stand. */
  run(epochs: number, seed: number): Progress {
    return this.#watchedProgress(() => this.exports.vitt_run(epochs, ...words(seed)));
  }

  step(): Progress {
    return this.#watchedProgress(this.exports.vitt_step);
  }

  /** Ends an epoch whose steps are all taken. `validation`: only with examples to validate with. */
  endEpoch(): Progress & { readonly validation?: Measured } {
    const progress = this.#watchedProgress(this.exports.vitt_end_epoch);
    const { validation_loss: loss, validation_accuracy: accuracy } = this.#numbers();
    return { ...progress, ...(accuracy >= 0 && { validation: { loss, accuracy } }) };
  }

  #watchedProgress(work: () => number): Progress {
    return this.heap.watched(() => {
      this.heap.check(work());
      const [images, steps, epoch, step] = this.heap.words("images_in_epoch", 4);
      const { loss, accuracy } = this.#numbers();
      return { epoch: epoch!, step: step!, steps: steps!, images: images!, loss, accuracy };
    });
  }

  #numbers(): Numbers {
    const size = TRAINING_NUMBERS.length * Float64Array.BYTES_PER_ELEMENT;
    const values = new Float64Array(this.heap.bytes(this.heap.word("numbers"), size).slice().buffer);
    return Object.fromEntries(TRAINING_NUMBERS.map((name, index) => [name, values[index]])) as Numbers;
  }

  /** The weights as they stand, as a file of safetensors. */
  model(): Piece {
    return this.#watchedOut(this.exports.vitt_model);
  }

  /** The model that was fed, as a file of safetensors in int8. */
  int8(): Piece {
    return this.#watchedOut(this.exports.vitt_int8);
  }

  /** Scores `count` answers: their logits as floats, then their labels as words. `temperature`: 0 for the fitted one. */
  score(answers: Piece, count: number, temperature: number, accept: number, doubted: boolean): Numbers {
    const { vitt_score } = this.exports;
    return this.heap.watched(() => {
      this.heap.check(this.#withCopy(answers, "the answers", (at, size) => vitt_score(at, size, count, temperature, accept, Number(doubted))));
      return this.#numbers();
    });
  }

  /** The trainer's whole state, with its run if there is one. `text` holds what only JavaScript knows. */
  checkpoint(text: string, withRun: boolean): Piece {
    const { vitt_checkpoint } = this.exports;
    return this.#watchedOut(() =>
      this.#withCopy(new TextEncoder().encode(text), "the checkpoint", (at, size) => vitt_checkpoint(at, size, Number(withRun))));
  }

  #watchedOut(work: () => number): Piece {
    return this.heap.watched(() => {
      this.heap.check(work());
      return this.heap.bytes(this.heap.word("out"), this.heap.word("out_size")).slice();
    });
  }

  /** Continues from a checkpoint of the run that {@link run} has begun again. */
  resume(checkpoint: Piece): Progress {
    return this.#watchedProgress(() => this.#withCopy(checkpoint, "the checkpoint", this.exports.vitt_resume));
  }

  /** Opens a checkpoint to restore a trainer from. Its recipe follows, then {@link restore}. */
  openCheckpoint(checkpoint: Piece): void {
    this.heap.watched(() => {
      this.#checkpoint = this.#copy(checkpoint, "the checkpoint");
      this.heap.check(this.exports.vitt_open(this.#checkpoint, checkpoint.length));
    });
  }

  /** Restores the examples of the open checkpoint, of which the last `validation` are for validation, and its run of `epochs`. */
  restore(validation: number, epochs: number, seed: number): Restored {
    const progress = this.#watchedProgress(() => this.exports.vitt_restore(validation, epochs, ...words(seed)));
    this.exports.vitw_free(this.#checkpoint);
    const labels = this.heap.bytes(this.heap.word("labels"), this.heap.word("examples")).slice();
    return { labels, progress: epochs > 0 ? progress : undefined };
  }

  #copy(bytes: Uint8Array, what: string): number {
    const room = this.heap.alloc(bytes.length, what);
    this.heap.bytes(room, bytes.length).set(bytes);
    return room;
  }

  /** Calls the module with a copy of these bytes. */
  #withCopy(bytes: Uint8Array, what: string, call: (at: number, size: number) => number): number {
    const room = this.#copy(bytes, what);
    const status = call(room, bytes.length);
    this.exports.vitw_free(room);
    return status;
  }
}

/** A whole number as two words, the lower one first. */
const words = (value: number): [low: number, high: number] => [value % 2 ** 32, Math.floor(value / 2 ** 32)];
