// Makes PyTorch files by hand: pickles opcode by opcode, zip archives field by field.
import { crc32 } from "node:zlib";
import { translate } from "../../dist/pickle.js";
import { splitFile } from "../../web/base/safetensors.mjs";

const u = (size, value) => {
  const bytes = Buffer.alloc(size);
  for (let at = 0, rest = BigInt.asUintN(8 * size, BigInt(value)); at < size; at++, rest >>= 8n) bytes[at] = Number(rest & 255n);
  return bytes;
};
const join = (...parts) => Buffer.concat(parts.flat(Infinity).map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part)));

// ---- Pickles: each of these leaves one value on the stack ----------------------

export const op = (...codes) => Buffer.from(codes);
export const raw = join;
export const number = u;
export const text = (value) => join("X", u(4, Buffer.byteLength(value)), Buffer.from(value));
export const int = (value) =>
  value >= 0 && value < 256 ? join("K", u(1, value))
  : Math.abs(value) < 2 ** 31 ? join("J", u(4, value)) : join("\x8a\x08", u(8, value));
export const named = (module, name) => join("c", module, "\n", name, "\n");
export const tuple = (...parts) => join("(", parts, "t");
export const list = (...parts) => join("](", parts, "e");
/** A dict of [key, value] pairs. A key that is a string becomes a text. */
export const dict = (...pairs) => join("}(", pairs.map(([key, value]) => [typeof key === "string" ? text(key) : key, value]), "u");
export const call = (module, name, ...args) => join(named(module, name), tuple(...args), "R");
export const none = op(0x4e);
export const no = op(0x89);
export const hooks = join(named("collections", "OrderedDict"), ")R");
export const storage = ({ type = "FloatStorage", module = "torch", key = "0", count = 6, more = [] } = {}) =>
  join(tuple(text("storage"), named(module, type), text(key), text("cpu"), int(count), more), "Q");
export const tensor = ({ offset = 0, shape = [2, 3], strides = [3, 1], ...of } = {}) =>
  call("torch._utils", "_rebuild_tensor_v2", storage(of), int(offset), tuple(...shape.map(int)), tuple(...strides.map(int)), no, hooks);
export const pickle = (...body) => join("\x80\x02", body, ".");

export const SIX = new Uint8Array(new Float32Array([0, 1, 2, 3, 4, 5]).buffer);

// ---- Files ---------------------------------------------------------------------

const FULL = 0xffffffff;

/**
 * A zip archive of entries [name, bytes, changes]. With `large` all sizes and places are in zip64
 * fields. `changes` falsify an entry's crc, method, flags, size, at, localName, localSize or
 * localCrc. `end` falsifies the end record's count, size, at or disk.
 */
export function zip(entries, { large = false, end: changes = {}, comment = "" } = {}) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [name, bytes, change = {}] of entries) {
    const { crc = crc32(bytes), method = 0, flags = 0, size = bytes.length } = change;
    const { localName = name, localSize = size, localCrc = crc } = change;
    const wide = (...values) => (large ? join(u(2, 1), u(2, 8 * values.length), values.map((value) => u(8, value))) : Buffer.alloc(0));
    const narrow = (value) => u(4, large ? FULL : value);
    const localExtra = wide(localSize, localSize);
    parts.push(join("PK\x03\x04", u(2, 45), u(2, flags), u(2, method), u(4, 0), u(4, localCrc), narrow(localSize),
      narrow(localSize), u(2, Buffer.byteLength(localName)), u(2, localExtra.length), Buffer.from(localName), localExtra, bytes));
    const place = change.at ?? at;
    const extra = wide(size, size, place);
    directory.push(join("PK\x01\x02", u(2, 45), u(2, 45), u(2, flags), u(2, method), u(4, 0), u(4, crc), narrow(change.packed ?? size),
      narrow(size), u(2, Buffer.byteLength(name)), u(2, extra.length), u(2, 0), u(2, 0), u(2, 0), u(4, 0), narrow(place), Buffer.from(name), extra));
    at += parts.at(-1).length;
  }
  const list = join(directory);
  const { count = entries.length, size = list.length, begin = at, disk = 0 } = changes;
  const end64 = join("PK\x06\x06", u(8, changes.record ?? 44), u(2, 45), u(2, 45), u(4, 0), u(4, 0), u(8, count), u(8, count), u(8, size), u(8, begin));
  const locator = join("PK\x06\x07", u(4, 0), u(8, changes.end64 ?? at + list.length), u(4, 1));
  const end = join("PK\x05\x06", u(2, disk), u(2, 0), u(2, large ? 0xffff : count), u(2, large ? 0xffff : count),
    u(4, large ? FULL : size), u(4, large ? FULL : begin), u(2, comment.length), comment);
  return join(parts, list, large ? [end64, locator] : [], end);
}

/** A zip as torch.save writes it: a pickle of `body`, and storages by key. */
export const checkpoint = (body, storages = { 0: SIX }, { folder = "archive", more = [], ...options } = {}) =>
  zip([
    [`${folder}/data.pkl`, pickle(body)],
    ...more,
    ...Object.entries(storages).map(([key, bytes]) => [`${folder}/data/${key}`, bytes]),
  ], options);

export const MAGIC = join("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.");
const SYSTEM = pickle(dict(["protocol_version", int(1001)], ["little_endian", op(0x88)]));

/** A file as before PyTorch 1.6. `storages`: by key, the count of numbers and their bytes. */
export const legacy = (body, storages = [["0", 6, SIX]], { protocol = 1001, system = SYSTEM, keys } = {}) =>
  join(MAGIC, pickle(int(protocol)), system, pickle(body), pickle(keys ?? list(...storages.map(([key]) => text(key)))),
    storages.map(([, count, bytes]) => [u(8, count), bytes]));

// ---- Results of the reader ------------------------------------------------------

/** Reads a safetensors file as { name: { dtype, shape, bytes } }, without its metadata. */
export function tensorsOf(file) {
  const { header: { __metadata__: metadata, ...header }, data } = splitFile(file);
  const tensors = Object.entries(header).map(([name, { dtype, shape, data_offsets: [begin, end] }]) => [
    name, { dtype, shape, bytes: data.subarray(begin, end).toString("hex") },
  ]);
  return { tensors: Object.fromEntries(tensors), metadata, size: data.length };
}

/** Reads a PyTorch file in this form, from memory with random access or from a stream of pieces. */
export async function translated(file, { sliced = true, piece = 1000 } = {}) {
  const bytes = new Uint8Array(file);
  let at = 0;
  const { size, body } = await translate({
    size: bytes.length,
    slice: sliced ? async (begin, end) => bytes.slice(begin, end) : undefined,
    take: async () => (at < bytes.length ? bytes.slice(at, (at += piece)) : undefined),
    cancel() {},
  });
  const all = Buffer.concat(await arrayOf(body));
  if (all.length !== size) throw new Error(`expected ${size} bytes, got ${all.length}`);
  return tensorsOf(all).tensors;
}

async function arrayOf(stream) {
  const all = [];
  for await (const piece of stream) all.push(piece);
  return all;
}
