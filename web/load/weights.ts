/** A file of weights, whoever wrote it: safetensors as it is, PyTorch's own made into such. */
import { asVitError, isRefusal, pickleBundle } from "./bundles.js";
import type { Opener, Source } from "./source.js";
import { Incoming, type IncomingOptions } from "./incoming.js";

/** The number 0x1950a86a20f9469cfc6c as a pickle holds it, with which files before PyTorch 1.6 begin. */
const MAGIC = "\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.";
/** In a newer pickle a frame's size stands before it. */
const START_BYTES = 32;

/** By what a file holds, never by its name. */
async function isPyTorch(file: Incoming): Promise<boolean> {
  const start = String.fromCharCode(...(await file.peek(START_BYTES)));
  return start.startsWith("PK\x03\x04") || (start.startsWith("\x80") && start.includes(MAGIC));
}

/** @throws {VitError} as Incoming.open; code `bad_file` also for a file of PyTorch that is none. */
export async function openWeights(
  source: Source | Opener,
  options: IncomingOptions = {},
): Promise<Incoming> {
  const { signal, onProgress } = options;
  let told = 0;
  let through = false;
  const first = onProgress && ((loaded: number, total: number) => {
    if (!through) onProgress((told = loaded), total);
  });
  const file = await Incoming.open(source, { ...options, onProgress: first });
  try {
    if (!(await isPyTorch(file))) return file;
    through = file.slice !== undefined;
    const { translate } = await pickleBundle();
    const { size, body } = await translate(file);
    const opened = { size, body, ours: true, lost: (cause: unknown) => asVitError(cause, "bad_file") };
    const again = through && onProgress // of what is read in any order, what is passed on is told
      ? (loaded: number, total: number) => onProgress(Math.min(total, Math.max(loaded, told)), total)
      : undefined;
    return await Incoming.from(opened, { ...options, onProgress: again });
  } catch (cause) {
    file.cancel();
    if (signal?.aborted) throw signal.reason;
    throw isRefusal(cause) ? asVitError(cause, "bad_file") : cause;
  }
}
