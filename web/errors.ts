export { VitError, type VitErrorCode } from "./vit-error.js";
import { isA } from "./base/kind.js";
import { VitError } from "./vit-error.js";

/** A message shows at most this many characters of a value, because one may be a whole file. */
const MOST_CHARACTERS = 400;

const cut = (text: string) => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text);

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
export function reason(error: unknown): string {
  try {
    const message = typeof error === "object" && error !== null && (error as { message?: unknown }).message;
    return show(typeof message === "string" ? message : error);
  } catch {
    return kindOf(error);
  }
}

/** @internal Advice where a value has the right type but cannot be used. */
export const RAW = "if it is behind a framework's Proxy, pass the object itself, which Vue's toRaw gives";

/** Whether a value is an AbortSignal that can be read: not a Proxy of one. */
function isSignal(value: unknown): boolean {
  try {
    return isA(value, "AbortSignal") && typeof value.aborted === "boolean";
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
  names: readonly (keyof Options & string)[],
): Options {
  const what = `${call}: expected an object with any of ${names.join(", ")} as options`;
  if (typeof options !== "object" || options === null) {
    throw new VitError("bad_option", `${what}, got ${show(options)}`);
  }
  const own: Partial<Options> = {};
  let unknown: string | undefined;
  try {
    unknown = Object.keys(options).find((name) => !names.includes(name as keyof Options & string));
    for (const name of names) {
      const value = options[name];
      if (value !== undefined) own[name] = value;
    }
  } catch (cause) {
    throw new VitError("bad_option", `${what}, got one that cannot be read (${reason(cause)})`, { cause });
  }
  const { signal, ...functions } = own as { signal?: unknown; onProgress?: unknown; fetch?: unknown; onToken?: unknown };
  if (signal != null && !isSignal(signal)) {
    throw new VitError("bad_option", `signal: expected an AbortSignal, got ${kindOf(signal)}; ${RAW}`);
  }
  for (const name of ["onProgress", "fetch", "onToken"] as const) {
    if (functions[name] == null || typeof functions[name] === "function") continue;
    throw new VitError("bad_option", `${name}: expected a function, got ${kindOf(functions[name])}`);
  }
  if (unknown !== undefined) throw new VitError("bad_option", `${what}, got "${cut(unknown)}"`);
  return own as Options;
}

/**
 * Runs a call of the public API. It throws a VitError, or an error of the caller's own, which
 * `isCallerError` recognises: the signal's reason, for example.
 * @internal
 */
export async function guarded<Value>(
  call: string,
  isCallerError: (error: unknown) => boolean,
  work: () => Promise<Value>,
): Promise<Value> {
  const caller = new Error();
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof VitError) throw withFrames(cause, caller);
    if (isCallerError(cause)) throw cause;
    throw new VitError(
      "bad_argument",
      `${call}: expected arguments that can be read and copied, got one that cannot (${reason(cause)}); ${RAW}`,
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
