/**
 * The kind of failure, for programs. The message is for people.
 *
 * | code | meaning |
 * |---|---|
 * | `network` | a download failed, or ended too early |
 * | `bad_file` `bad_config` `bad_tensor` | weights that are unreadable or misfit their config |
 * | `bad_image` `blank_image` | the image has the wrong size, holds NaN, or is an empty drawing |
 * | `bad_option` `bad_argument` | a call with an unknown option or a value out of range |
 * | `no_wasm` `no_simd` `bad_wasm` `unsupported` | the engine or the given module cannot do it |
 * | `no_memory` | the model or the image does not fit |
 * | `worker_lost` `internal` | the worker died, or the module trapped: the next call starts anew |
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
 * The message says what was expected, what came instead and what to do.
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

  constructor(code: VitErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "VitError";
    this.code = code;
  }
}

/** A message shows at most this many characters of a value, because one may be a whole file. */
const MOST_SHOWN = 400;

const cut = (text: string) => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);

/** @internal A value's class by Object.prototype.toString, or its type when a Proxy refuses. */
export function kindOf(value: unknown): string {
  try {
    return cut(Object.prototype.toString.call(value).slice(8, -1));
  } catch {
    return typeof value;
  }
}

/** @internal Object.hasOwn, which Chrome lacks before version 93. */
export const hasOwn = (object: object, key: PropertyKey): boolean =>
  Object.prototype.hasOwnProperty.call(object, key);

/** @internal A value's text for a message. It never throws, whatever the value's own methods do. */
export function show(value: unknown): string {
  try {
    return Array.isArray(value) || ArrayBuffer.isView(value) ? kindOf(value) : cut(String(value));
  } catch {
    return kindOf(value);
  }
}

/** @internal The message of anything that can be thrown. */
export function reason(thrown: unknown): string {
  try {
    return show(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return kindOf(thrown);
  }
}

/** Whether a value is a true AbortSignal: an object may only look like one. */
function isSignal(value: unknown): boolean {
  try {
    Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")!.get!.call(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * A copy of a call's options. Each is read once, because a getter may answer differently the next
 * time. Unknown names are refused, because a misspelt option would otherwise do nothing.
 * @internal
 */
export function takeOptions<Options extends object>(
  call: string,
  options: Options,
  known: readonly (keyof Options & string)[],
): Options {
  const what = `${call}: expected an object with any of ${known.join(", ")} as options`;
  if (typeof options !== "object" || options === null) {
    throw new VitError("bad_option", `${what}, got ${show(options)}`);
  }
  const own: Partial<Options> = {};
  let unknown: string | undefined;
  try {
    unknown = Object.keys(options).find((name) => !known.includes(name as keyof Options & string));
    for (const name of known) {
      const value = options[name];
      if (value !== undefined) own[name] = value;
    }
  } catch (cause) {
    throw new VitError("bad_option", `${what}, got one that cannot be read (${reason(cause)})`, { cause });
  }
  const { signal, onProgress } = own as { signal?: unknown; onProgress?: unknown };
  if (signal != null && !isSignal(signal)) {
    throw new VitError("bad_option", `signal: expected an AbortSignal, got ${kindOf(signal)}`);
  }
  if (onProgress != null && typeof onProgress !== "function") {
    throw new VitError("bad_option", `onProgress: expected a function, got ${kindOf(onProgress)}`);
  }
  if (unknown !== undefined) throw new VitError("bad_option", `${what}, got "${cut(unknown)}"`);
  return own as Options;
}

/**
 * Runs a call of the public API. It throws a VitError, or an error of the caller's own, which
 * `isTheirs` recognises: the signal's reason, for example.
 * @internal
 */
export async function guarded<Value>(
  call: string,
  isTheirs: (error: unknown) => boolean,
  work: () => Promise<Value>,
): Promise<Value> {
  const asked = new Error();
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof VitError) throw withFrames(cause, asked);
    if (isTheirs(cause)) throw cause;
    throw new VitError(
      "bad_argument",
      `${call}: expected arguments that can be read and copied, got one that cannot (${reason(cause)})`,
      { cause },
    );
  }
}

/** Adds the caller's frames to the stack of an error that comes out of a worker or the queue. */
function withFrames(error: VitError, { stack = "" }: Error): VitError {
  const own = error.stack ?? "";
  const more = stack.split("\n").slice(1).filter((frame) => !own.includes(frame));
  if (more.length > 0) error.stack = [own, ...more].join("\n");
  return error;
}

/** @internal Whether an error is the reason that a signal was aborted with. */
export const isReasonOf = (signal: AbortSignal | undefined) => (error: unknown) =>
  signal?.aborted === true && Object.is(error, signal.reason);
