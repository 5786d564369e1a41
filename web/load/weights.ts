/** Opens a file of weights. PyTorch's own files are translated into safetensors. */
import { asVitError, bundle, isRefusal } from "./bundles.js";
import type { Opener, Source } from "./source.js";
import { Incoming, type IncomingOptions } from "./incoming.js";

/** The pickled number 0x1950a86a20f9469cfc6c, at the start of files from before PyTorch 1.6. */
const MAGIC = "\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.";
/** A newer pickle has a frame's size before the number, so more bytes are searched. */
const START_BYTES = 32;

/** Whether a file is PyTorch's, judged by its bytes and never by its name. */
async function isPyTorch(file: Incoming): Promise<boolean> {
  const start = String.fromCharCode(...(await file.peek(START_BYTES)));
  return start.startsWith("PK\x03\x04") || (start.startsWith("\x80") && start.includes(MAGIC));
}

/** @throws {VitError} like Incoming.open, and code `bad_file` for a bad file of PyTorch. */
export async function openWeights(
  source: Source | Opener,
  options: IncomingOptions = {},
): Promise<Incoming> {
  const { signal, onProgress } = options;
  let reported = 0;
  let countsTranslated = false;
  const first = onProgress && ((loaded: number, total: number) => {
    if (!countsTranslated) onProgress((reported = loaded), total);
  });
  const file = await Incoming.open(source, { ...options, onProgress: first });
  try {
    if (!(await isPyTorch(file))) return file;
    countsTranslated = file.slice !== undefined;
    const { translate } = await bundle("pickle");
    const { size, body } = await translate(file);
    const stream = { size, body, ours: true, lost: (cause: unknown) => asVitError(cause, "bad_file") };
    // If the file is not read in order, progress counts the translated bytes.
    const onTranslated = countsTranslated && onProgress
      ? (loaded: number, total: number) => onProgress(Math.min(total, Math.max(loaded, reported)), total)
      : undefined;
    return await Incoming.from(stream, { ...options, onProgress: onTranslated });
  } catch (cause) {
    file.cancel();
    if (signal?.aborted) throw signal.reason;
    throw file.rootCause(isRefusal(cause) ? asVitError(cause, "bad_file") : cause);
  }
}
