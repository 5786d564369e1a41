/**
 * Reads Python's pickles as data: dicts, lists, tuples, numbers, texts and PyTorch's tensors. If a
 * pickle asks for a call, the table of pickled.ts has what the call makes; any other call gives an Opaque.
 * No code of the file runs.
 */
import type { Piece } from "../../base/bytes.js";
import { Dict, Global, named, odd, Opaque, type Storage, storageOf, Tensor, type Value } from "./pickled.js";
import { Refusal, WEIGHTS_ALONE } from "../refusal.js";

/** The most bytes that a pickle may cost, by the prices below. */
const MOST_SPENT = 2 ** 25;
const COST = { step: 16, memo: 48, dict: 256, list: 128, tuple: 64, item: 16, entry: 64, object: 96 };
/** The most bytes of a number. */
const LONGEST_NUMBER = 255;
const NEWEST_PROTOCOL = 5;

const tooShort = () => new Refusal("pickle: it ends too early; is the file whole?");
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const latin = (bytes: Piece) => {
  let all = "";
  for (const byte of bytes) all += String.fromCharCode(byte);
  return all;
};

/**
 * @param onStorage is called with each storage that the pickle refers to.
 * @returns the value of the pickle that begins at `start`, and the index of its end.
 * @throws {Refusal}
 */
export function unpickle(
  bytes: Piece,
  start = 0,
  onStorage: (storage: Storage) => void = () => {},
): { value: Value; end: number } {
  const machine = new Machine(bytes, start, onStorage);
  const value = machine.run();
  return { value, end: machine.at };
}

class Machine {
  at: number;
  readonly #bytes: Piece;
  readonly #view: DataView;
  readonly #stack: Value[] = [];
  /** The height of the stack at each mark. */
  readonly #marks: number[] = [];
  readonly #memo = new Map<number, Value>();
  #spent = 0;
  readonly #onStorage: (storage: Storage) => void;

  constructor(bytes: Piece, start: number, onStorage: (storage: Storage) => void) {
    this.at = start;
    this.#onStorage = onStorage;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  run(): Value {
    const protocol = this.#byte() === 0x80 ? this.#byte() : 0;
    if (protocol < 2 || protocol > NEWEST_PROTOCOL) {
      throw odd(`no pickle of the protocols 2 to ${NEWEST_PROTOCOL}`);
    }
    for (let code; (code = this.#byte()) !== STOP; ) {
      this.#spend(COST.step);
      const step = STEPS[code];
      if (!step) throw odd(`the opcode 0x${code.toString(16).padStart(2, "0")} at byte ${this.at - 1}`);
      step(this);
    }
    const value = this.pop();
    if (this.#stack.length > 0 || this.#marks.length > 0) throw odd("more than one value");
    return value;
  }

  // Reading the next bytes.

  #byte(): number {
    return this.take(1)[0]!;
  }

  take(count: number): Piece {
    if (count > this.#bytes.length - this.at) throw tooShort();
    return this.#bytes.subarray(this.at, (this.at += count));
  }

  /** A whole number of `size` bytes without a sign. */
  unsigned(size: 1 | 2 | 4 | 8): number {
    const at = this.at;
    this.take(size);
    if (size === 8) return Number(this.#view.getBigUint64(at, true));
    return size === 1 ? this.#view.getUint8(at)
      : size === 2 ? this.#view.getUint16(at, true) : this.#view.getUint32(at, true);
  }

  signed(): number {
    return this.unsigned(4) | 0;
  }

  float(): number {
    const at = this.at;
    this.take(8);
    return this.#view.getFloat64(at, false);
  }

  long(size: number): number | bigint {
    if (size > LONGEST_NUMBER) throw odd(`a number of ${size} bytes`);
    let value = 0n;
    const bytes = this.take(size);
    for (let index = size; index-- > 0; ) value = (value << 8n) | BigInt(bytes[index]!);
    value = BigInt.asIntN(8 * size, value);
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }

  line(): string {
    const end = this.#bytes.indexOf(0x0a, this.at);
    if (end < 0) throw tooShort();
    const line = this.take(end - this.at);
    this.take(1);
    return latin(line.subarray(0, 300));
  }

  string(size: number, decode: (bytes: Piece) => string): string {
    const bytes = this.take(size);
    this.#spend(2 * size);
    try {
      return decode(bytes);
    } catch {
      throw odd("a text that is not UTF-8");
    }
  }

  copy(size: number): Piece {
    const bytes = this.take(size);
    this.#spend(COST.object + size);
    return bytes.slice();
  }

  // The stack.

  #spend(cost: number): void {
    this.#spent += cost;
    if (this.#spent > MOST_SPENT) {
      throw new Refusal(`pickle: expected at most ${MOST_SPENT / 2 ** 20} MB of names and numbers; ${WEIGHTS_ALONE}`);
    }
  }

  push(value: Value, cost = 0): void {
    this.#spend(cost);
    this.#stack.push(value);
  }

  pop(): Value {
    const { length } = this.#stack;
    if (length <= (this.#marks[this.#marks.length - 1] ?? 0)) throw odd("a stack that holds too little");
    return this.#stack.pop()!;
  }

  top(): Value {
    const value = this.pop();
    this.#stack.push(value);
    return value;
  }

  mark(): void {
    this.#spend(COST.item);
    this.#marks.push(this.#stack.length);
  }

  /** Removes the last mark and returns all values above it. */
  marked(): Value[] {
    const mark = this.#marks.pop();
    if (mark === undefined) throw odd("a stack without a mark");
    return this.#stack.splice(mark);
  }

  /** Removes the topmost value or mark. */
  drop(): void {
    const mark = this.#marks[this.#marks.length - 1];
    if (mark !== undefined && mark === this.#stack.length) this.#marks.pop();
    else this.pop();
  }

  tuple(parts: Value[]): void {
    this.push(parts, COST.tuple + COST.item * parts.length);
  }

  several(count: number): Value[] {
    const parts: Value[] = [];
    for (let index = 0; index < count; index++) parts.unshift(this.pop());
    return parts;
  }

  append(values: readonly Value[]): void {
    const list = this.top();
    this.#spend(2 * COST.item * values.length);
    if (list instanceof Opaque) return;
    if (!Array.isArray(list)) throw odd("items for something that is no list");
    for (const value of values) list.push(value);
  }

  set(pairs: readonly Value[]): void {
    const dict = this.top();
    if (pairs.length % 2 !== 0) throw odd("a key without a value");
    this.#spend(COST.entry * pairs.length);
    if (!(dict instanceof Dict)) throw odd("keys for something that is no dict");
    for (let at = 0; at < pairs.length; at += 2) dict.entries.set(pairs[at]!, pairs[at + 1]!);
  }

  keep(index: number): void {
    this.#spend(COST.memo);
    this.#memo.set(index, this.top());
  }

  keepNext(): void {
    this.keep(this.#memo.size);
  }

  recall(index: number): void {
    const value = this.#memo.get(index);
    if (value === undefined) throw odd(`a memory of ${index}, which holds nothing`);
    this.push(value);
  }

  call(): void {
    const args = this.pop();
    const callee = this.pop();
    if (!Array.isArray(args)) throw odd("a call without arguments");
    const items = Array.isArray(args[0]) ? args[0].length : 0;
    this.#spend(COST.dict + COST.entry * items);
    if (callee instanceof Global) this.push(callee.make(args));
    else if (callee instanceof Opaque) this.push(new Opaque(callee.name));
    else throw odd("a call of something that is no function");
  }

  /** Drops the state of a value but for settings, such as argparse.Namespace keeps them. */
  build(): void {
    const state = this.pop();
    const made = this.top();
    if (!(made instanceof Dict || made instanceof Tensor)) throw odd("a state for something that has none");
    if (!(made instanceof Opaque && state instanceof Dict)) return;
    made.isModule = state.entries.has("_modules");
    if (made.isModule || made.isTensor) return;
    this.#spend(COST.entry * state.entries.size);
    for (const [key, value] of state.entries) {
      if (["number", "string", "boolean"].includes(typeof value) || Array.isArray(value)) made.entries.set(key, value);
    }
  }

  name(module: Value, name: Value): void {
    const known = named(module, name);
    this.push(known, COST.object + 2 * known.name.length);
  }

  /** Before PyTorch 1.6, a module's class is referred to, too: ("module", class, file, source). */
  refer(): void {
    const id = this.pop();
    const [kind, of] = Array.isArray(id) ? id : [];
    if (kind === "module" && of instanceof Global) return this.push(of);
    const made = storageOf(id);
    this.push(made, COST.object);
    this.#onStorage(made);
  }
}

const STOP = 0x2e;

/**
 * The steps by opcode, as Python's pickletools lists them. Opcodes that make objects of classes in
 * other ways, or that refer to other files, are left out.
 */
const STEPS: Readonly<Record<number, (machine: Machine) => void>> = {
  0x28: (m) => m.mark(), // (
  0x29: (m) => m.tuple([]), // )
  0x30: (m) => m.drop(), // 0
  0x31: (m) => void m.marked(), // 1
  0x32: (m) => m.push(m.top()), // 2
  0x42: (m) => m.push(m.copy(m.unsigned(4))), // B
  0x43: (m) => m.push(m.copy(m.unsigned(1))), // C
  0x47: (m) => m.push(m.float()), // G
  0x4a: (m) => m.push(m.signed()), // J
  0x4b: (m) => m.push(m.unsigned(1)), // K
  0x4d: (m) => m.push(m.unsigned(2)), // M
  0x4e: (m) => m.push(null), // N
  0x51: (m) => m.refer(), // Q
  0x52: (m) => m.call(), // R
  0x54: (m) => m.push(m.string(m.unsigned(4), latin)), // T
  0x55: (m) => m.push(m.string(m.unsigned(1), latin)), // U
  0x58: (m) => m.push(m.string(m.unsigned(4), (bytes) => text.decode(bytes))), // X
  0x5d: (m) => m.push([], COST.list), // ]
  0x61: (m) => m.append([m.pop()]), // a
  0x62: (m) => m.build(), // b
  0x63: (m) => m.name(m.line(), m.line()), // c
  0x64: (m) => makeDict(m), // d
  0x65: (m) => m.append(m.marked()), // e
  0x68: (m) => m.recall(m.unsigned(1)), // h
  0x6a: (m) => m.recall(m.unsigned(4)), // j
  0x6c: (m) => m.push(m.marked(), COST.list), // l
  0x71: (m) => m.keep(m.unsigned(1)), // q
  0x72: (m) => m.keep(m.unsigned(4)), // r
  0x73: (m) => m.set(m.several(2)), // s
  0x74: (m) => m.tuple(m.marked()), // t
  0x75: (m) => m.set(m.marked()), // u
  0x7d: (m) => m.push(new Dict(), COST.dict), // }
  0x81: (m) => m.call(), // NEWOBJ
  0x85: (m) => m.tuple(m.several(1)),
  0x86: (m) => m.tuple(m.several(2)),
  0x87: (m) => m.tuple(m.several(3)),
  0x88: (m) => m.push(true),
  0x89: (m) => m.push(false),
  0x8a: (m) => m.push(m.long(m.unsigned(1)), COST.object),
  0x8b: (m) => m.push(m.long(m.unsigned(4)), COST.object),
  0x8c: (m) => m.push(m.string(m.unsigned(1), (bytes) => text.decode(bytes))),
  0x8d: (m) => m.push(m.string(m.unsigned(8), (bytes) => text.decode(bytes))),
  0x8e: (m) => m.push(m.copy(m.unsigned(8))),
  0x8f: (m) => m.push([], COST.list), // a set
  0x90: (m) => m.append(m.marked()),
  0x91: (m) => m.push(m.marked(), COST.list), // a frozen set
  0x92: (m) => {
    m.pop(); // the arguments by name
    m.call(); // NEWOBJ_EX
  },
  0x93: (m) => {
    const [module, name] = m.several(2);
    m.name(module!, name!);
  },
  0x94: (m) => m.keepNext(),
  0x96: (m) => m.push(m.copy(m.unsigned(8))), // a bytearray
  0x95: (m) => {
    const size = m.unsigned(8);
    const { at } = m;
    m.take(size); // throws if the frame is not whole
    m.at = at;
  },
};

function makeDict(machine: Machine): void {
  const pairs = machine.marked();
  machine.push(new Dict(), COST.dict);
  machine.set(pairs);
}
