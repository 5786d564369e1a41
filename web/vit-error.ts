/** For each parameter of the model, by our names, the tensors of the file that make it. */
export type Mapping = Readonly<Record<string, readonly string[]>>;

/**
 * The kind of failure, for programs. The message is for people.
 *
 * | code | meaning |
 * |---|---|
 * | `network` | a download failed, or ended too early |
 * | `bad_file` `bad_config` `bad_tensor` | weights that are unreadable or do not fit their config |
 * | `bad_image` `blank_image` | the image has the wrong size, holds NaN, or shows nothing |
 * | `bad_option` `bad_argument` | a call with an unknown option or a value out of range |
 * | `no_wasm` `no_simd` `bad_wasm` `unsupported` | the engine or the module cannot do it |
 * | `no_memory` | the model or the image does not fit |
 * | `worker_lost` `internal` | the worker died, or the module trapped: the next call starts over |
 * | `disposed` | a call after `dispose()` |
 */
export type VitErrorCode =
  | "network"
  | "bad_file"
  | "bad_config"
  | "bad_tensor"
  | "bad_image"
  | "blank_image"
  | "bad_option"
  | "bad_argument"
  | "no_wasm"
  | "no_simd"
  | "bad_wasm"
  | "unsupported"
  | "no_memory"
  | "worker_lost"
  | "internal"
  | "disposed";

/**
 * Every failure of this package except an abort. An abort rejects with the signal's reason.
 * The message says what was expected, what it got and what to do.
 *
 * @example
 * try {
 *   await vit.classify(canvas);
 * } catch (error) {
 *   if (!(error instanceof VitError) || error.code !== "blank_image") throw error;
 * }
 */
export class VitError extends Error {
  /** Stable across versions, unlike the message. */
  readonly code: VitErrorCode;

  /** All that a file leaves open, at once: `config: { [key]: value }` answers. */
  get questions(): readonly { readonly key: string; readonly values: readonly unknown[] }[] | undefined {
    return (this.cause as VitError | undefined)?.questions;
  }

  /** What the file's tensors were taken for, where {@link questions} stay open: `config: { map }` corrects it. */
  get mapping(): Mapping | undefined {
    return (this.cause as VitError | undefined)?.mapping;
  }

  constructor(code: VitErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "VitError";
    this.code = code;
  }
}
