/** Reads zip archives as PyTorch writes them, without compression. */
import type { Piece } from "../../base/bytes.js";
import { quoted, Refusal, SAVE_AGAIN } from "../refusal.js";

/** A file of which any part can be read. */
export interface Parts {
  readonly size: number;
  /** Reads all bytes from `begin` to before `end`. */
  read(begin: number, end: number): Promise<Piece>;
}

export interface Entry {
  readonly name: string;
  /** The first byte of the entry's own header. */
  readonly at: number;
  readonly size: number;
  readonly crc: number;
  readonly flags: number;
  /** The first byte of the next entry, or of the directory. */
  readonly limit: number;
}

const END = 0x06054b50;
const END_BYTES = 22;
const MOST_COMMENT = 0xffff;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_64_BYTES = 20;
const END_64 = 0x06064b50;
const END_64_BYTES = 56;
const LISTED = 0x02014b50;
const LISTED_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;

/** Enough for 100,000 tensors, the limit of src/file/safetensors.c. */
const MOST_DIRECTORY = 2 ** 24;
const MOST_ENTRIES = 110_000;

const ENCRYPTED = 0x2041;
/** The flag of an entry whose sizes and CRC are repeated after its data. */
const DESCRIBED = 8;
const FULL = 0xffffffff;

const viewOf = ({ buffer, byteOffset, length }: Piece) => new DataView(buffer, byteOffset, length);
const bad = (what: string) => new Refusal(`zip archive: ${what}`);
const long = (view: DataView, at: number) => {
  const value = Number(view.getBigUint64(at, true));
  if (Number.isSafeInteger(value)) return value;
  throw bad("an offset or a size is larger than any file");
};
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** All entries by their names. */
export async function readDirectory(file: Parts): Promise<Map<string, Entry>> {
  const { begin, end, count } = await findDirectory(file);
  if (end - begin > MOST_DIRECTORY || count > MOST_ENTRIES) {
    throw bad(`expected at most ${MOST_ENTRIES} entries, got ${count} in ${end - begin} bytes`);
  }
  const bytes = await file.read(begin, end);
  const listed: Omit<Entry, "limit">[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [entry, size] = listedAt(bytes.subarray(at));
    listed.push(entry);
    at += size;
  }
  if (listed.length !== count) throw bad(`expected ${count} entries, as its end says, got ${listed.length}`);
  listed.sort((a, b) => a.at - b.at);
  const entries = new Map<string, Entry>();
  for (const [index, entry] of listed.entries()) {
    const limit = listed[index + 1]?.at ?? begin;
    const { name } = entry;
    if (entries.has(name)) throw bad(`the entry ${quoted(name)} is there twice`);
    if (entry.at + LOCAL_BYTES + entry.size > limit) {
      throw bad(`the entry ${quoted(name)} does not lie before what comes next`);
    }
    entries.set(name, { ...entry, limit });
  }
  return entries;
}

async function findDirectory(file: Parts): Promise<{ begin: number; end: number; count: number }> {
  const start = Math.max(0, file.size - END_BYTES - MOST_COMMENT - LOCATOR_64_BYTES);
  const tail = await file.read(start, file.size);
  const view = viewOf(tail);
  let at = tail.length - END_BYTES;
  const isEnd = () =>
    view.getUint32(at, true) === END && at + END_BYTES + view.getUint16(at + 20, true) === tail.length;
  while (at >= 0 && !isEnd()) at--;
  if (at < 0) throw bad("expected a directory at its end, got none; is the file whole?");
  const short = {
    disks: view.getUint32(at + 4, true),
    here: view.getUint16(at + 8, true),
    count: view.getUint16(at + 10, true),
    size: view.getUint32(at + 12, true),
    begin: view.getUint32(at + 16, true),
  };
  const large = at >= LOCATOR_64_BYTES && view.getUint32(at - LOCATOR_64_BYTES, true) === LOCATOR_64;
  const found = large
    ? await findLarge(file, short, long(view, at - LOCATOR_64_BYTES + 8), start + at - LOCATOR_64_BYTES)
    : { ...short, end: start + at };
  const { disks, here, count, size, begin, end } = found;
  if (disks !== 0 || here !== count) throw bad("it is one of several parts");
  if (begin + size === end) return { begin, end, count };
  throw bad(`expected ${size} bytes of directory at ${begin} to end where its end record begins, at ${end}`);
}

interface End {
  readonly disks: number;
  readonly here: number;
  readonly count: number;
  readonly size: number;
  readonly begin: number;
}

/** Reads zip64's end record. All sizes that the short end record gives must agree with it. */
async function findLarge(
  file: Parts,
  short: End,
  at: number,
  before: number,
): Promise<End & { end: number }> {
  if (at + END_64_BYTES > before) throw bad("its zip64 end record does not lie before its locator");
  const view = viewOf(await file.read(at, at + END_64_BYTES));
  if (view.getUint32(0, true) !== END_64) throw bad("its zip64 end record is not where its locator says");
  const large = {
    disks: view.getUint32(16, true) | view.getUint32(20, true),
    here: long(view, 24),
    count: long(view, 32),
    size: long(view, 40),
    begin: long(view, 48),
  };
  const agrees = (few: number, many: number, full: number) => few === full || few === many;
  if (
    !agrees(short.here, large.here, 0xffff) || !agrees(short.count, large.count, 0xffff) ||
    !agrees(short.size, large.size, FULL) || !agrees(short.begin, large.begin, FULL) ||
    (short.disks !== 0 && short.disks !== FULL) || at + 12 + long(view, 4) !== before
  ) {
    throw bad("its two end records do not agree");
  }
  return { ...large, end: at };
}

function listedAt(bytes: Piece): [Omit<Entry, "limit">, number] {
  const view = viewOf(bytes);
  if (bytes.length < LISTED_BYTES || view.getUint32(0, true) !== LISTED) {
    throw bad("its directory holds something other than entries");
  }
  const nameEnd = LISTED_BYTES + view.getUint16(28, true);
  const extraEnd = nameEnd + view.getUint16(30, true);
  const end = extraEnd + view.getUint16(32, true);
  if (end > bytes.length) throw bad("its directory ends within an entry");
  const name = nameIn(bytes.subarray(LISTED_BYTES, nameEnd));
  const flags = view.getUint16(8, true);
  const sizes = {
    size: view.getUint32(24, true),
    packed: view.getUint32(20, true),
    at: view.getUint32(42, true),
  };
  const { size, packed, at } = widened(sizes, bytes.subarray(nameEnd, extraEnd), name);
  if (flags & ENCRYPTED) throw bad(`the entry ${quoted(name)} is encrypted`);
  const method = view.getUint16(10, true);
  if (method !== 0 || packed !== size) {
    throw bad(
      `the entry ${quoted(name)} is compressed (${method === 8 ? "deflate" : `method ${method}`}); ` +
        `expected it to be stored, as torch.save does; ${SAVE_AGAIN}`,
    );
  }
  if (view.getUint16(34, true) !== 0) throw bad("it is one of several parts");
  return [{ name, at, size, flags, crc: view.getUint32(16, true) }, end];
}

function nameIn(bytes: Piece): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw bad("an entry's name is not UTF-8");
  }
}

/** Replaces each size of 0xffffffff by zip64's extra field, which has them in the same order. */
function widened<Sizes extends Readonly<Record<string, number>>>(
  sizes: Sizes,
  extra: Piece,
  name: string,
): Sizes {
  const full = Object.entries(sizes).filter(([, value]) => value === FULL);
  if (full.length === 0) return sizes;
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = view.getUint16(at + 2, true);
    const whole = length >= 8 * full.length && at + 4 + length <= extra.length;
    if (view.getUint16(at, true) === 1 && whole) {
      const wide = full.map(([key], index) => [key, long(view, at + 4 + 8 * index)]);
      return { ...sizes, ...Object.fromEntries(wide) as Sizes };
    }
    at += 4 + length;
  }
  throw bad(`the entry ${quoted(name)} has no size, neither here nor in zip64's field`);
}

/** The first byte of an entry's data. The entry's own header must agree with the directory. */
export async function dataStart(file: Parts, entry: Entry): Promise<number> {
  const { name, at, size, crc, flags, limit } = entry;
  const view = viewOf(await file.read(at, at + LOCAL_BYTES));
  const nameBytes = view.getUint16(26, true);
  const begin = at + LOCAL_BYTES + nameBytes + view.getUint16(28, true);
  if (view.getUint32(0, true) !== LOCAL || begin + size > limit) {
    throw bad(`the entry ${quoted(name)} is not where the directory says`);
  }
  const rest = await file.read(at + LOCAL_BYTES, begin);
  const sizes = { size: view.getUint32(22, true), packed: view.getUint32(18, true) };
  const later = Boolean(flags & DESCRIBED);
  const own = later ? sizes : widened(sizes, rest.subarray(nameBytes), name);
  const agrees = (value: number, is: number) => value === is || (later && (value === 0 || value === FULL));
  if (
    nameIn(rest.subarray(0, nameBytes)) !== name || view.getUint16(6, true) !== flags ||
    view.getUint16(8, true) !== 0 || !agrees(view.getUint32(14, true), crc) ||
    !agrees(own.size, size) || !agrees(own.packed, size)
  ) {
    throw bad(`the entry ${quoted(name)} differs between its own header and the directory`);
  }
  return begin;
}

// ---- Sums ---------------------------------------------------------------------

/** Eight tables: in the n-th, the sum of a byte that n zero bytes follow. */
const TABLES = new Uint32Array(8 * 256);
for (let byte = 0; byte < 256; byte++) {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  TABLES[byte] = sum;
}
for (let index = 256; index < TABLES.length; index++) {
  const before = TABLES[index - 256]!;
  TABLES[index] = (before >>> 8) ^ TABLES[before & 255]!;
}

/** CRC-32 of these bytes after earlier bytes, whose CRC is `sum`. */
export function crc32(bytes: Piece, sum = 0): number {
  let crc = ~sum;
  let at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc = TABLES[0x700 | (crc & 255)]! ^ TABLES[0x600 | ((crc >>> 8) & 255)]! ^
      TABLES[0x500 | ((crc >>> 16) & 255)]! ^ TABLES[0x400 | (crc >>> 24)]! ^
      TABLES[0x300 | bytes[at + 4]!]! ^ TABLES[0x200 | bytes[at + 5]!]! ^
      TABLES[0x100 | bytes[at + 6]!]! ^ TABLES[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ TABLES[(crc ^ bytes[at]!) & 255]!;
  return ~crc >>> 0;
}
