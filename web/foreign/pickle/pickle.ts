/**
 * Translates PyTorch's own files, `.pt`, `.pth` and `.bin`, into safetensors: a header, then the
 * tensors in their order in the file. This is a bundle of its own, which is loaded only for such a
 * file.
 */
import type { Piece } from "../../base/bytes.js";
import { headerBytes, headerOf } from "../../base/safetensors.mjs";
import { Dict, Opaque, type Storage, Tensor, type Value } from "./pickled.js";
import { quoted, Refusal, SAVE_AGAIN } from "../refusal.js";
import { unpickle } from "./unpickle.js";
import { crc32, dataStart, type Entry, type Parts, readDirectory } from "./zip.js";

/** A file that arrives. */
export interface Arriving {
  /** The size in bytes; 0 if it is unknown. */
  readonly size: number;
  /** The size, or what a header says, which may be the size of a packed file; 0 if unknown. */
  readonly claimed: number;
  /** Reads any part; undefined if the file can only be read in order. */
  readonly slice: ((begin: number, end: number) => Promise<Piece>) | undefined;
  take(): Promise<Piece | undefined>;
  cancel(): void;
}

export interface Translation {
  readonly size: number;
  readonly body: ReadableStream<Piece>;
}

/** A model has at most 4 GB. A training run adds averaged weights and Adam's two moments. */
const MOST_BYTES = 2 ** 34;
/** The most bytes of a download. It is kept whole, because the zip's directory is at its end. */
const MOST_DOWNLOAD = 2 ** 32;
const MOST_UNSIZED_DOWNLOAD = 2 ** 30;
const MOST_PICKLE = 2 ** 24;
const MOST_TENSORS = 100_000;
/** The most bytes that the output has more than the file, because shared storages are repeated. */
const MOST_MORE = 2 ** 24;
/** How often strided tensors may read the file. Each is read from its first number to its last. */
const MOST_SPANS = 8;

const PIECE_BYTES = 2 ** 20;
const WINDOW_BYTES = 2 ** 18;
const SMALL = 2 ** 16;

/** @throws {Refusal} Errors of reading the file are passed on. */
export async function translate(file: Arriving): Promise<Translation> {
  const parts = windowed(await partsOf(file));
  const start = await parts.read(0, Math.min(4, parts.size));
  const { root, extentOf } = start[0] === 0x50 ? await openZip(parts) : await openLegacy(parts);
  const state = stateOf(root);
  const tensors = await outputsOf(state, extentOf, parts.size);
  const entries: Readonly<Record<string, unknown>> = { ...headerOf(
    tensors.map(({ name, dtype, tensor: { shape }, size }) => [name, { dtype, shape, size }]),
  ) };
  // The entries keep the order of the state, in which layers follow each other as the model's code names them.
  const beside = besideIn(root);
  const header = headerBytes({
    ...(beside && { __metadata__: { beside } }),
    ...Object.fromEntries([...state.keys()].map((name) => [name, entries[name]])),
  });
  const size = tensors.reduce((sum, tensor) => sum + tensor.size, header.length);
  return { size, body: streamOf(piecesOf(header, tensors, parts)) };
}

// ---- The file -----------------------------------------------------------------

async function partsOf(file: Arriving): Promise<Parts> {
  const most = file.slice ? MOST_BYTES : file.claimed ? MOST_DOWNLOAD : MOST_UNSIZED_DOWNLOAD;
  const tooLarge = () =>
    new Refusal(`expected a PyTorch file of at most ${most / 2 ** 30} GB here; save only the model's weights`);
  if (file.claimed > most) throw tooLarge();
  const { slice } = file;
  if (slice) {
    file.cancel();
    return { size: file.size, read: slice };
  }
  const blobs: Blob[] = [];
  const room = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  let size = 0;
  for (let piece; (piece = await file.take()); ) {
    if ((size += piece.length) > most) throw tooLarge();
    for (let at = 0; at < piece.length; ) {
      const some = piece.subarray(at, at + room.length - filled);
      room.set(some, filled);
      at += some.length;
      filled = (filled + some.length) % room.length;
      if (filled === 0) blobs.push(new Blob([room]));
    }
  }
  const all = new Blob([...blobs, room.subarray(0, filled)]);
  return { size, read: async (begin, end) => new Uint8Array(await all.slice(begin, end).arrayBuffer()) };
}

/** Reads small parts that are near each other together. */
function windowed({ size, read }: Parts): Parts {
  let from = 0;
  let window: Piece = new Uint8Array(0);
  const exactly = async (begin: number, end: number) => {
    if (end > size) throw new Refusal("the file ends too early; is it whole?");
    const bytes = await read(begin, end);
    if (bytes.length === end - begin) return bytes;
    throw new Refusal("the file has changed while it was read; try again");
  };
  return {
    size,
    async read(begin, end) {
      if (end - begin > SMALL) return exactly(begin, end);
      if (begin < from || end > from + window.length) {
        window = await exactly(begin, Math.max(end, Math.min(size, begin + WINDOW_BYTES)));
        from = begin;
      }
      return window.slice(begin - from, end - from);
    },
  };
}

/** Where a storage's numbers lie in the file. */
interface Extent {
  readonly begin: number;
  readonly size: number;
  /** The CRC of all its bytes, if the file has one. */
  readonly crc: number | undefined;
}

type ExtentOf = (storage: Storage) => Promise<Extent>;

interface Contents {
  readonly root: Value;
  readonly extentOf: ExtentOf;
}

async function openZip(file: Parts): Promise<Contents> {
  const entries = await readDirectory(file);
  const pickles = [...entries.keys()].filter((name) => /^[^/]+\/data\.pkl$/.test(name));
  const folder = pickles[0]?.slice(0, -"data.pkl".length);
  if (folder === undefined || pickles.length > 1) {
    const names = [...entries.keys()].slice(0, 4).map(quoted).join(", ") || "nothing";
    throw new Refusal(`expected a PyTorch checkpoint, got a zip archive that holds ${names}`);
  }
  if (entries.has(`${folder}constants.pkl`)) {
    throw new Refusal(
      "expected a checkpoint, got a program (TorchScript); save its weights with Python: " +
        "torch.save(torch.jit.load(PATH, map_location='cpu').state_dict(), OUT)",
    );
  }
  const order = entries.get(`${folder}byteorder`);
  if (order) {
    const byteOrder = new TextDecoder().decode(await wholeOf(file, order, 16)).trim();
    if (byteOrder !== "little") throw new Refusal(`byteorder: expected little, got ${quoted(byteOrder)}; ${SAVE_AGAIN}`);
  }
  const bytes = await wholeOf(file, entries.get(pickles[0]!)!, MOST_PICKLE);
  const { value, end } = unpickle(bytes);
  if (end !== bytes.length) {
    throw new Refusal(`pickle: expected nothing after it, got ${bytes.length - end} bytes`);
  }
  const extentOf = async ({ key }: Storage): Promise<Extent> => {
    const name = `${folder}data/${key}`;
    const entry = entries.get(name);
    if (!entry) throw new Refusal(`expected the entry ${quoted(name)}, got none; is the file whole?`);
    return { begin: await dataStart(file, entry), size: entry.size, crc: entry.crc };
  };
  return { root: value, extentOf };
}

async function wholeOf(file: Parts, entry: Entry, most: number): Promise<Piece> {
  const { name, size, crc } = entry;
  if (size > most) throw new Refusal(`expected ${quoted(name)} of at most ${most} bytes, got ${size}`);
  const begin = await dataStart(file, entry);
  const bytes = await file.read(begin, begin + size);
  if (crc32(bytes) !== crc) throw wrongSum(name);
  return bytes;
}

const wrongSum = (name: string) =>
  new Refusal(
    `zip archive: the bytes of ${quoted(name)} do not give the sum (CRC) that is saved with them; is the ` +
      "file damaged?",
  );

/** The number in the first pickle. No other file begins with it. */
const MAGIC = 0x1950a86a20f9469cfc6cn;
const PROTOCOL = 1001;

/** Opens a file from before PyTorch 1.6: five pickles, then each storage after its count. */
async function openLegacy(file: Parts): Promise<Contents> {
  const bytes = await file.read(0, Math.min(file.size, MOST_PICKLE));
  let at = 0;
  const next = (): Value => {
    const { value, end } = unpickle(bytes, at);
    at = end;
    return value;
  };
  const [magic, protocol, system] = [next(), next(), next()];
  if (magic !== MAGIC || protocol !== PROTOCOL || !(system instanceof Dict)) {
    throw new Refusal(`expected a file of torch.save, got another pickle; ${SAVE_AGAIN}`);
  }
  if (system.entries.get("little_endian") !== true) {
    throw new Refusal(`expected little-endian numbers, got others; ${SAVE_AGAIN}`);
  }
  const storages = new Map<string, Storage>();
  const { value: root, end } = unpickle(bytes, at, (one) => void storages.set(one.key, one));
  at = end;
  const keys = next();
  const extents = new Map<string, Extent>();
  if (!Array.isArray(keys)) throw new Refusal("expected a list of storages, got none");
  let begin = at;
  for (const key of keys) {
    const storage = typeof key === "string" ? storages.get(key) : undefined;
    if (!storage || extents.has(storage.key)) {
      throw new Refusal("the list of storages names one that is not there, or one twice");
    }
    const count = await file.read(begin, begin + 8);
    const numbers = Number(new DataView(count.buffer, count.byteOffset).getBigInt64(0, true));
    if (numbers !== storage.total) {
      throw new Refusal(`storage ${quoted(storage.key)}: expected ${storage.total} numbers, got ${numbers}`);
    }
    const size = numbers * (storage.type?.bytes ?? 1);
    if (begin + 8 + size > file.size) throw new Refusal("the file ends too early; is it whole?");
    extents.set(storage.key, { begin: begin + 8, size, crc: undefined });
    begin += 8 + size;
  }
  if (begin !== file.size) throw new Refusal(`expected a file of ${begin} bytes, got ${file.size}`);
  return {
    root,
    extentOf: async ({ key }) => {
      const extent = extents.get(key);
      if (extent) return extent;
      throw new Refusal(`expected the storage ${quoted(key)}, got none; is the file whole?`);
    },
  };
}

// ---- The tensors --------------------------------------------------------------

/**
 * The keys under which training scripts keep the weights. If there are several, the first one here
 * is taken. Averages over the training come first, as in timm, because their accuracy was measured.
 */
const NESTS = [
  "state_dict_ema", "model_ema", "ema", "state_dict", "model", "model_state_dict", "teacher",
  "model_state", "net", "network", "params", "weights",
] as const;
/** The most dicts that are searched. */
const MOST_NESTS = 32;

/** The dict of tensors: the whole file, or a dict nested under one of these keys. */
function stateOf(root: Value): Map<string, Tensor> {
  const tensors = stateIn(root, new Set());
  if (tensors) return tensors;
  const entries = root instanceof Dict ? root.entries : new Map<Value, Value>();
  const module = [["", root] as const, ...entries].find(([, one]) => one instanceof Opaque && one.isModule);
  if (module) {
    const [key, { name }] = module as readonly [Value, Opaque];
    const where = key === "" ? "" : `[${typeof key === "string" ? quoted(key) : "KEY"}]`;
    throw new Refusal(
      `expected a dict of tensors, got a whole model of the class ${quoted(name)}; save its weights with the ` +
        `Python that made it: torch.save(torch.load(PATH, map_location='cpu', weights_only=False)${where}.state_dict(), OUT)`,
    );
  }
  const keys = [...entries.keys()].filter((key) => typeof key === "string");
  const got = keys.length > 0 ? `one of ${keys.slice(0, 6).map(quoted).join(", ")}` : "none";
  throw new Refusal(`expected a dict of tensors, or one of those under ${NESTS.join(", ")}; got ${got}`);
}

/** `visited` stops the search in a dict that holds itself. */
function stateIn(value: Value | undefined, visited: Set<Dict>): Map<string, Tensor> | undefined {
  if (!(value instanceof Dict) || visited.has(value) || visited.size > MOST_NESTS) return undefined;
  visited.add(value);
  for (const name of NESTS) {
    const state = stateIn(value.entries.get(name), visited);
    if (state) return state;
  }
  const tensors = tensorsIn(value);
  if (tensors.size > 0) return tensors;
  const others = [...value.entries].filter(([name]) => !/optim|sched/i.test(String(name)));
  const states = others.flatMap(([, one]) => (one instanceof Dict && tensorsIn(one).size > 0 ? [one] : []));
  return states.length === 1 ? stateIn(states[0], visited) : undefined;
}

/** Keys under which training scripts keep what a model was made with. */
const BESIDE = ["config", "args", "hparams", "hyper_parameters", "model_args", "model_config", "cfg"];
const MOST_BESIDE = 2 ** 16;

/** Plain values beside the weights, as JSON: settings, labels, how pixels were prepared. */
function besideIn(root: Value): string | undefined {
  if (!(root instanceof Dict)) return undefined;
  const members: [string, unknown][] = [];
  const add = (dict: Dict) => {
    for (const [key, value] of dict.entries) {
      const plainly = typeof key === "string" ? plainOf(value) : undefined;
      if (plainly !== undefined) members.push([key as string, plainly]);
    }
  };
  add(root);
  for (const key of BESIDE) {
    const settings = root.entries.get(key);
    if (settings instanceof Dict) add(settings);
  }
  const text = JSON.stringify(Object.fromEntries(members));
  return members.length > 0 && text.length < MOST_BESIDE ? text : undefined;
}

/** Numbers, texts, and lists and dicts of these. */
function plainOf(value: Value): unknown {
  if (isPlain(value) || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.every(isPlain) ? value : undefined;
  if (!(value instanceof Dict) || value.entries.size > 2000) return undefined;
  return [...value.entries.values()].every(isPlain) ? Object.fromEntries(value.entries) : undefined;
}

const isPlain = (value: Value) => ["number", "string"].includes(typeof value);

function tensorsIn(dict: Dict): Map<string, Tensor> {
  const tensors = new Map<string, Tensor>();
  for (const [name, value] of dict.entries) {
    if (value instanceof Opaque && value.isTensor) {
      throw new Refusal(`tensor ${quoted(String(name))}: expected ${TYPE_NAMES}, got an object of ${quoted(value.name)}`);
    }
    if (!(value instanceof Tensor)) continue; // counters, None
    if (typeof name !== "string" || name === "__metadata__") {
      throw new Refusal("expected a tensor's name to be a text other than __metadata__");
    }
    tensors.set(name, value);
  }
  return tensors;
}

const TYPE_NAMES = "float32, float16, bfloat16, float64 or whole numbers";

/** The output for one tensor, and its place in the file. */
interface Output {
  readonly name: string;
  readonly tensor: Tensor;
  readonly extent: Extent;
  /** The tensor's bytes in the file: the first one, and the one after the last. */
  readonly begin: number;
  readonly end: number;
  readonly dtype: string;
  /** The bytes of the output. */
  readonly size: number;
  readonly inOrder: boolean;
}

async function outputsOf(state: Map<string, Tensor>, extentOf: ExtentOf, fileSize: number): Promise<Output[]> {
  if (state.size > MOST_TENSORS) throw new Refusal(`expected at most ${MOST_TENSORS} tensors, got ${state.size}`);
  const extents = new Map<string, Extent>();
  const all: Output[] = [];
  let written = 0;
  let read = 0;
  for (const [name, tensor] of state) {
    const { storage } = tensor;
    const extent = extents.get(storage.key) ?? (await extentOf(storage));
    extents.set(storage.key, extent);
    const output = outputOf(name, tensor, extent);
    all.push(output);
    written += output.size;
    if (!output.inOrder) read += output.end - output.begin;
    if (written > fileSize + MOST_MORE || read > MOST_SPANS * fileSize) {
      throw new Refusal(
        `the tensors ask for many times what the file's ${fileSize} bytes hold: those that share a storage ` +
          "would be written out each",
      );
    }
  }
  return all.sort((a, b) => a.begin - b.begin);
}

function outputOf(name: string, tensor: Tensor, extent: Extent): Output {
  const { storage, type, offset, shape } = tensor;
  const of = `tensor ${quoted(name)}:`;
  if (!type.dtype) {
    throw new Refusal(`${of} expected ${TYPE_NAMES}, got another type`);
  }
  const bytes = storage.total * (storage.type?.bytes ?? 1);
  if (bytes !== extent.size) {
    const which = quoted(storage.key);
    throw new Refusal(`${of} expected its storage ${which} to hold ${bytes} bytes, got ${extent.size}`);
  }
  const from = extent.begin + storage.from * (storage.type?.bytes ?? 1);
  const count = countOf(shape);
  const double = type.dtype === "F64";
  const size = count * (double ? 4 : type.bytes);
  const inOrder = isInOrder(tensor);
  // The view lies in its storage, also if it repeats numbers: the pickle's reader has checked that.
  const begin = count === 0 ? from : from + offset * type.bytes;
  const end = count === 0 ? from : from + tensor.end * type.bytes;
  return { name, tensor, extent, begin, end, dtype: double ? "F32" : type.dtype, size, inOrder };
}

/** The count of a shape's numbers. It may be Infinity, because a view may repeat numbers. */
const countOf = (shape: readonly number[]) =>
  shape.includes(0) ? 0 : shape.reduce((product, size) => product * size, 1);

/** Whether a tensor is row-major and without gaps. */
function isInOrder({ shape, strides }: Tensor): boolean {
  let expected = 1;
  for (let axis = shape.length; axis-- > 0; ) {
    if (shape[axis]! > 1 && strides[axis] !== expected) return shape.includes(0);
    expected *= shape[axis]!;
  }
  return true;
}

async function* piecesOf(header: Piece, tensors: readonly Output[], file: Parts): AsyncGenerator<Piece> {
  yield header;
  const proven = new Set<Extent>();
  for (const { tensor, extent, begin, end, inOrder } of tensors) {
    const whole = inOrder && begin === extent.begin && end === begin + extent.size;
    if (!whole && !proven.has(extent)) await prove(file, extent);
    proven.add(extent);
    const toFloats = tensor.type.dtype === "F64" ? floatsOf : (bytes: Piece) => bytes;
    if (!inOrder) {
      yield* cut(toFloats(gather(await file.read(begin, end), tensor)));
      continue;
    }
    let sum = 0;
    for await (const bytes of spanOf(file, begin, end)) {
      if (whole) sum = crc32(bytes, sum);
      yield toFloats(bytes);
    }
    if (whole) check(extent, sum);
  }
}

async function* spanOf(file: Parts, begin: number, end: number): AsyncGenerator<Piece> {
  for (let at = begin; at < end; at += PIECE_BYTES) yield file.read(at, Math.min(end, at + PIECE_BYTES));
}

async function prove(file: Parts, extent: Extent): Promise<void> {
  if (extent.crc === undefined) return;
  let sum = 0;
  for await (const bytes of spanOf(file, extent.begin, extent.begin + extent.size)) sum = crc32(bytes, sum);
  check(extent, sum);
}

function check({ crc, begin }: Extent, sum: number): void {
  if (crc !== undefined && crc !== sum) throw wrongSum(`storage at byte ${begin}`);
}

function* cut(bytes: Piece): Generator<Piece> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.slice(at, at + PIECE_BYTES);
}

/** Rounds double precision to single. */
function floatsOf(bytes: Piece): Piece {
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const doubles = new Float64Array(aligned.buffer, aligned.byteOffset, aligned.length / 8);
  return new Uint8Array(Float32Array.from(doubles).buffer);
}

/** Copies a tensor's numbers in row-major order. `span` begins with its first number. */
function gather(span: Piece, { shape, strides, type }: Tensor): Piece {
  const count = countOf(shape);
  const { bytes } = type;
  const all = new Uint8Array(count * bytes);
  const index = shape.map(() => 0);
  for (let to = 0, from = 0; to < all.length; to += bytes) {
    for (let byte = 0; byte < bytes; byte++) all[to + byte] = span[from + byte]!;
    for (let axis = shape.length; axis-- > 0; ) {
      from += strides[axis]! * bytes;
      if (++index[axis]! < shape[axis]!) break;
      from -= strides[axis]! * bytes * shape[axis]!;
      index[axis] = 0;
    }
  }
  return all;
}

function streamOf(all: AsyncGenerator<Piece>): ReadableStream<Piece> {
  return new ReadableStream<Piece>({
    async pull(controller) {
      const { done, value } = await all.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await all.return(undefined)),
  });
}
