/**
 * Reads Python's pickles as data: dicts, lists, tuples, numbers, texts and PyTorch's tensors. If a
 * pickle asks for a call, the table of pickled.ts has what the call makes; any other call gives an Opaque.
 * No code of the file runs.
 */
import type { Piece } from "../../base/bytes.js";
import { Dict, Global, globalOf, odd, Opaque, type Storage, storageOf, Tensor, type Value } from "./pickled.js";
import { Refusal, WEIGHTS_ALONE } from "../refusal.js";

/** The most bytes that a pickle may cost, by the prices below. */
const MOST_SPENT = 2 ** 25;
const COST = { step: 16, memo: 48, dict: 256, list: 128, tuple: 64, item: 16, entry: 64, object: 96 };
/** The most bytes of a number. */
const LONGEST_NUMBER = 255;
const NEWEST_PROTOCOL = 5;

const tooShort = () => new Refusal("pickle: it ends too early; is the file whole?");
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
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
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const stack: Value[] = [];
  /** The height of the stack at each mark. */
  const marks: number[] = [];
  const memo = new Map<number, Value>();
  let at = start;
  let spent = 0;

  const spend = (cost: number): void => {
    spent += cost;
    if (spent > MOST_SPENT) {
      throw new Refusal(`pickle: expected at most ${MOST_SPENT / 2 ** 20} MB of names and numbers; ${WEIGHTS_ALONE}`);
    }
  };

  // Reading the next bytes.

  const take = (count: number): Piece => {
    if (count > bytes.length - at) throw tooShort();
    return bytes.subarray(at, (at += count));
  };

  const byte = () => take(1)[0]!;

  /** A whole number of `size` bytes without a sign. */
  const unsigned = (size: 2 | 4 | 8): number => {
    take(size);
    const from = at - size;
    return size === 8 ? Number(view.getBigUint64(from, true)) : size === 2 ? view.getUint16(from, true) : view.getUint32(from, true);
  };

  const long = (size: number): number | bigint => {
    if (size > LONGEST_NUMBER) throw odd(`a number of ${size} bytes`);
    let value = 0n;
    for (const part of take(size).slice().reverse()) value = (value << 8n) | BigInt(part);
    value = BigInt.asIntN(8 * size, value);
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  };

  const line = (): string => {
    const end = bytes.indexOf(0x0a, at);
    if (end < 0) throw tooShort();
    const text = take(end - at);
    take(1);
    return latin(text.subarray(0, 300));
  };

  const string = (size: number, decode = (text: Piece) => utf8.decode(text)): string => {
    const text = take(size);
    spend(2 * size);
    try {
      return decode(text);
    } catch {
      throw odd("a text that is not UTF-8");
    }
  };

  const copy = (size: number): Piece => {
    const some = take(size);
    spend(COST.object + size);
    return some.slice();
  };

  // The stack.

  const push = (value: Value, cost = 0): void => {
    spend(cost);
    stack.push(value);
  };

  const pop = (): Value => {
    if (stack.length <= (marks[marks.length - 1] ?? 0)) throw odd("a stack that holds too little");
    return stack.pop()!;
  };

  const top = (): Value => {
    const value = pop();
    stack.push(value);
    return value;
  };

  /** Removes the last mark and returns all values above it. */
  const marked = (): Value[] => {
    const mark = marks.pop();
    if (mark === undefined) throw odd("a stack without a mark");
    return stack.splice(mark);
  };

  const several = (count: number): Value[] => Array.from({ length: count }, pop).reverse();

  const list = (parts: Value[]): void => push(parts, COST.list);
  const tuple = (parts: Value[]): void => push(parts, COST.tuple + COST.item * parts.length);

  const append = (values: readonly Value[]): void => {
    const made = top();
    spend(2 * COST.item * values.length);
    if (made instanceof Opaque) return;
    if (!Array.isArray(made)) throw odd("items for something that is no list");
    for (const value of values) made.push(value);
  };

  const set = (pairs: readonly Value[]): void => {
    const made = top();
    if (pairs.length % 2 !== 0) throw odd("a key without a value");
    spend(COST.entry * pairs.length);
    if (!(made instanceof Dict)) throw odd("keys for something that is no dict");
    for (let index = 0; index < pairs.length; index += 2) made.entries.set(pairs[index]!, pairs[index + 1]!);
  };

  const dict = (pairs: readonly Value[]): void => {
    push(new Dict(), COST.dict);
    set(pairs);
  };

  const keep = (index: number): void => {
    spend(COST.memo);
    memo.set(index, top());
  };

  const recall = (index: number): void => {
    const value = memo.get(index);
    if (value === undefined) throw odd(`a memory of ${index}, which holds nothing`);
    push(value);
  };

  const call = (): void => {
    const [callee, args] = several(2);
    if (!Array.isArray(args)) throw odd("a call without arguments");
    const items = Array.isArray(args[0]) ? args[0].length : 0;
    spend(COST.dict + COST.entry * items);
    if (callee instanceof Global) push(callee.make(args));
    else if (callee instanceof Opaque) push(new Opaque(callee.name));
    else throw odd("a call of something that is no function");
  };

  /** Drops the state of a value but for settings, such as argparse.Namespace keeps them. */
  const build = (): void => {
    const state = pop();
    const made = top();
    if (!(made instanceof Dict || made instanceof Tensor)) throw odd("a state for something that has none");
    if (!(made instanceof Opaque && state instanceof Dict)) return;
    made.isModule = state.entries.has("_modules");
    if (made.isModule || made.isTensor) return;
    spend(COST.entry * state.entries.size);
    for (const [key, value] of state.entries) {
      if (["number", "string", "boolean"].includes(typeof value) || Array.isArray(value)) made.entries.set(key, value);
    }
  };

  const name = (module: Value, name: Value): void => {
    const global = globalOf(module, name);
    push(global, COST.object + 2 * global.name.length);
  };

  /** Before PyTorch 1.6, a module's class is referred to, too: ("module", class, file, source). */
  const refer = (): void => {
    const id = pop();
    const [kind, of] = Array.isArray(id) ? id : [];
    if (kind === "module" && of instanceof Global) return push(of);
    const made = storageOf(id);
    push(made, COST.object);
    onStorage(made);
  };

  /**
   * The steps by opcode, as Python's pickletools lists them. Opcodes that make objects of classes in
   * other ways, or that refer to other files, are left out.
   */
  const steps: Readonly<Record<number, () => void>> = {
    0x28: () => { // (
      spend(COST.item);
      marks.push(stack.length);
    },
    0x29: () => tuple([]), // )
    0x30: () => { // 0 removes a value or a mark
      if (marks[marks.length - 1] === stack.length) marks.pop();
      else pop();
    },
    0x31: marked, // 1
    0x32: () => push(top()), // 2
    0x42: () => push(copy(unsigned(4))), // B
    0x43: () => push(copy(byte())), // C
    0x47: () => { // G
      take(8);
      push(view.getFloat64(at - 8));
    },
    0x4a: () => push(unsigned(4) | 0), // J
    0x4b: () => push(byte()), // K
    0x4d: () => push(unsigned(2)), // M
    0x4e: () => push(null), // N
    0x51: refer, // Q
    0x52: call, // R
    0x54: () => push(string(unsigned(4), latin)), // T
    0x55: () => push(string(byte(), latin)), // U
    0x58: () => push(string(unsigned(4))), // X
    0x5d: () => list([]), // ]
    0x61: () => append(several(1)), // a
    0x62: build, // b
    0x63: () => name(line(), line()), // c
    0x64: () => dict(marked()), // d
    0x65: () => append(marked()), // e
    0x68: () => recall(byte()), // h
    0x6a: () => recall(unsigned(4)), // j
    0x6c: () => list(marked()), // l
    0x71: () => keep(byte()), // q
    0x72: () => keep(unsigned(4)), // r
    0x73: () => set(several(2)), // s
    0x74: () => tuple(marked()), // t
    0x75: () => set(marked()), // u
    0x7d: () => dict([]), // }
    0x81: call, // NEWOBJ
    0x85: () => tuple(several(1)),
    0x86: () => tuple(several(2)),
    0x87: () => tuple(several(3)),
    0x88: () => push(true),
    0x89: () => push(false),
    0x8a: () => push(long(byte()), COST.object),
    0x8b: () => push(long(unsigned(4)), COST.object),
    0x8c: () => push(string(byte())),
    0x8d: () => push(string(unsigned(8))),
    0x8e: () => push(copy(unsigned(8))),
    0x8f: () => list([]), // a set
    0x90: () => append(marked()),
    0x91: () => list(marked()), // a frozen set
    0x92: () => {
      pop(); // the arguments by name
      call(); // NEWOBJ_EX
    },
    0x93: () => {
      const [module, word] = several(2);
      name(module!, word!);
    },
    0x94: () => keep(memo.size),
    0x95: () => {
      const size = unsigned(8);
      take(size); // throws if the frame is not whole
      at -= size;
    },
    0x96: () => push(copy(unsigned(8))), // a bytearray
  };

  const protocol = byte() === 0x80 ? byte() : 0;
  if (protocol < 2 || protocol > NEWEST_PROTOCOL) throw odd(`no pickle of the protocols 2 to ${NEWEST_PROTOCOL}`);
  for (let code; (code = byte()) !== STOP; ) {
    spend(COST.step);
    const step = steps[code];
    if (!step) throw odd(`the opcode 0x${code.toString(16).padStart(2, "0")} at byte ${at - 1}`);
    step();
  }
  const value = pop();
  if (stack.length > 0 || marks.length > 0) throw odd("more than one value");
  return { value, end: at };
}

const STOP = 0x2e;
