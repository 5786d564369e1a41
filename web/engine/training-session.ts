/** Calls the functions of src/wasm/training.c. It gives values and copies. */
import type { Piece } from "../base/bytes.js";
import type { ImageShape, Picture } from "../images.js";
import { assured, FLOAT_BYTES } from "./heap.js";
import { type Functions, HEAP_EXPORTS, type HeapExports, instantiate, type ThreadExports } from "./instance.js";
import type { Examples, Measured, Part } from "../train/log.js";
import { type ModuleSource, Session } from "./session.js";

/** The functions in src/wasm/exports.training. */
export const TRAINING_EXPORTS = [
  ...HEAP_EXPORTS,
  "vitt_recipe",
  "vitt_prepare",
  "vitt_add",
  "vitt_more",
  "vitt_keep",
  "vitt_run",
  "vitt_step",
  "vitt_end_epoch",
  "vitt_model",
  "vitt_int8",
  "vitt_checkpoint",
  "vitt_resume",
] as const;

type Exports = HeapExports & Functions<typeof TRAINING_EXPORTS> & ThreadExports;

/** The words of src/wasm/training.c's `struct training`, in its order. */
export const WORDS = [
  "channels",
  "rows",
  "columns",
  "classes",
  "json",
  "json_size",
  "why",
  "image",
  "examples",
  "validation_examples",
  "images",
  "validation_images",
  "labels",
  "validation_labels",
  "images_in_epoch",
  "steps",
  "epoch",
  "step",
  "out",
  "out_size",
  "numbers",
] as const;

/** src/wasm/training.c's `enum number`. */
const NUMBERS = 4;

/** The parts of the examples, as src/wasm/training.c counts them. */
export const PARTS: readonly Part[] = ["train", "validation"];

/** Where a run is. */
export interface Place {
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

/** A session that trains a model. */
export class TrainingSession extends Session<(typeof WORDS)[number], Exports> {
  /** @throws {VitError} code `bad_wasm`, `no_memory` or `internal`. */
  static async open({ module, memory }: ModuleSource): Promise<TrainingSession> {
    return new TrainingSession(await instantiate<Exports>(module, memory, TRAINING_EXPORTS), WORDS);
  }

  /** Returns the config of the model to start from, as JSON. */
  end(): string {
    return this.heap.watched(() => {
      this.heap.end();
      return this.heap.text(this.heap.word("json"), this.heap.word("json_size"));
    });
  }

  /** Sets the recipe, as JSON. Returns (C,H,W) of an image. */
  recipe(json: string): ImageShape {
    const { heap } = this;
    return heap.watched(() => {
      const text = new TextEncoder().encode(json);
      const room = heap.alloc(text.length, "the recipe");
      heap.bytes(room, text.length).set(text);
      heap.check(this.exports.vitt_recipe(room, text.length));
      this.exports.vitw_free(room);
      return [heap.word("channels"), heap.word("rows"), heap.word("columns")];
    });
  }

  /** Adds examples: all of them, or none if one fails. */
  add(pictures: readonly Picture[], labels: readonly number[], part: Part): void {
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

  #add(picture: Picture, label: number, part: number): void {
    const { vitt_prepare, vitt_add } = this.exports;
    if ("values" in picture) {
      const { length } = picture.values;
      assured(length === this.#imageSize(), "values");
      this.heap.floats(this.heap.word("image"), length).set(picture.values);
    } else {
      const { rows, columns, channels } = this.heap.copyIn(picture);
      this.heap.check(vitt_prepare(rows, columns, channels), `${picture.name}: `);
    }
    this.heap.check(vitt_add(part, label), `${picture.name}: `);
  }

  /** Puts back examples that {@link examples} gave. */
  fill(part: Part, { images, labels }: Examples): void {
    const at = PARTS.indexOf(part);
    this.heap.watched(() => {
      assured(images.length === labels.length * this.#imageSize(), "examples");
      this.heap.check(this.exports.vitt_more(at, labels.length));
      const last = this.heap.words("examples", PARTS.length)[at]! - labels.length;
      const [to, names] = this.#addresses(at);
      this.heap.bytes(to + last * this.#imageSize(), images.length).set(images);
      this.heap.bytes(names + last, labels.length).set(labels);
    });
  }

  examples(part: Part): Examples {
    const at = PARTS.indexOf(part);
    const count = this.heap.words("examples", PARTS.length)[at]!;
    const [images, labels] = this.#addresses(at);
    return {
      images: this.heap.bytes(images, count * this.#imageSize()).slice(),
      labels: this.heap.bytes(labels, count).slice(),
    };
  }

  #addresses(part: number): readonly [images: number, labels: number] {
    const of = (name: "images" | "labels") => this.heap.words(name, PARTS.length)[part]!;
    return [of("images"), of("labels")];
  }

  #imageSize(): number {
    return this.heap.word("channels") * this.heap.word("rows") * this.heap.word("columns");
  }

  /** Begins a run from the weights as they stand. */
  run(epochs: number, seed: number): Place {
    const low = seed % 2 ** 32;
    return this.#watchedPlace(() => this.exports.vitt_run(epochs, low, (seed - low) / 2 ** 32));
  }

  step(): Place {
    return this.#watchedPlace(this.exports.vitt_step);
  }

  /** Ends an epoch whose steps are all taken. `validation`: only with examples to validate with. */
  endEpoch(): Place & { readonly validation?: Measured } {
    const place = this.#watchedPlace(this.exports.vitt_end_epoch);
    const [, , loss, accuracy] = this.#numbers();
    return { ...place, ...(accuracy! >= 0 && { validation: { loss: loss!, accuracy: accuracy! } }) };
  }

  #watchedPlace(work: () => number): Place {
    return this.heap.watched(() => {
      this.heap.check(work());
      const [images, steps, epoch, step] = this.heap.words("images_in_epoch", 4);
      const [loss, accuracy] = this.#numbers();
      return { epoch: epoch!, step: step!, steps: steps!, images: images!, loss: loss!, accuracy: accuracy! };
    });
  }

  #numbers(): Float64Array {
    const bytes = this.heap.bytes(this.heap.word("numbers"), NUMBERS * 2 * FLOAT_BYTES).slice();
    return new Float64Array(bytes.buffer);
  }

  /** The weights as they stand, as a file of safetensors. */
  model(): Piece {
    return this.#watchedOut(this.exports.vitt_model);
  }

  /** The model that was fed, as a file of safetensors in int8. */
  int8(): Piece {
    return this.#watchedOut(this.exports.vitt_int8);
  }

  /** What the run needs to go on. */
  checkpoint(): Piece {
    return this.#watchedOut(this.exports.vitt_checkpoint);
  }

  #watchedOut(work: () => number): Piece {
    return this.heap.watched(() => {
      this.heap.check(work());
      return this.heap.bytes(this.heap.word("out"), this.heap.word("out_size")).slice();
    });
  }

  /** Goes on from a checkpoint of the run that {@link run} has begun again. */
  resume(checkpoint: Piece): Place {
    return this.heap.watched(() => {
      const room = this.heap.alloc(checkpoint.length, "the checkpoint");
      this.heap.bytes(room, checkpoint.length).set(checkpoint);
      const place = this.#watchedPlace(() => this.exports.vitt_resume(room, checkpoint.length));
      this.exports.vitw_free(room);
      return place;
    });
  }
}
