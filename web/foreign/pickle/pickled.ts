/** The values that a pickle may hold, and the table of the names that make tensors. */
import type { Piece } from "../../base/bytes.js";
import { quoted, Refusal } from "../refusal.js";

export type Value =
  | null | boolean | number | bigint | string | Piece | Value[]
  | Dict | Global | Storage | Tensor | Opaque;

export class Dict {
  readonly entries = new Map<Value, Value>();
}

/**
 * A stand-in for an object of an unknown class or function, which is not created: a path, a date, a run's options.
 * Classes may be dicts, as Lightning's AttributeDict is, so the items that the pickle sets are kept.
 */
export class Opaque extends Dict {
  /** Whether its state is that of a torch.nn.Module. */
  isModule = false;
  /** Whether it stands for a tensor: quantized, sparse, distributed, or of an unknown type. */
  get isTensor(): boolean {
    return /^torch\.(_utils\._rebuild|_tensor\.|.*\bDTensor$)/.test(this.name);
  }

  constructor(readonly name: string) {
    super();
  }
}

/** The type of a tensor's numbers. */
export interface Type {
  readonly bytes: number;
  /** The type's name in safetensors; undefined if src/file/safetensors.c has no such type. */
  readonly dtype: string | undefined;
}

/** Numbers in the file: `count` of those saved under `key`, from the number `from` on. */
export class Storage {
  constructor(
    readonly key: string,
    /** Undefined for an untyped storage, whose counts are bytes, and for an unknown type. */
    readonly type: Type | undefined,
    /** The count of all numbers saved under the key. */
    readonly total: number,
    readonly from: number,
    readonly count: number,
  ) {}
}

/** A view of a storage. Offset and strides count numbers of its type. */
export class Tensor {
  constructor(
    readonly storage: Storage,
    readonly type: Type,
    readonly offset: number,
    readonly shape: readonly number[],
    readonly strides: readonly number[],
  ) {}

  /** The index after the tensor's last number in the storage; 0 if it has no numbers. */
  get end(): number {
    const { shape, strides, offset } = this;
    if (shape.includes(0)) return 0;
    return shape.reduce((end, size, axis) => end + (size - 1) * strides[axis]!, offset + 1);
  }
}

/** A name in a pickle, and the value that stands for a call of it. Nothing is called. */
export class Global {
  constructor(
    readonly name: string,
    readonly make: (args: readonly Value[]) => Value = () => new Opaque(name),
    readonly type?: Type,
  ) {}
}

// ---- The names that are known -------------------------------------------------

const TYPES: readonly [storage: string, dtype: string, bytes: number, safetensors?: string][] = [
  ["Float", "float32", 4, "F32"],
  ["Half", "float16", 2, "F16"],
  ["BFloat16", "bfloat16", 2, "BF16"],
  ["Double", "float64", 8, "F64"],
  ["Long", "int64", 8, "I64"],
  ["Int", "int32", 4, "I32"],
  ["Char", "int8", 1, "I8"],
  ["Byte", "uint8", 1, "U8"],
  ["Bool", "bool", 1, "BOOL"],
  ["Short", "int16", 2],
  ["ComplexFloat", "complex64", 8],
  ["ComplexDouble", "complex128", 16],
];

const GLOBALS = new Map<string, Global>(
  [
    ...TYPES.flatMap(([storage, dtype, bytes, safetensors]) => {
      const type = { bytes, dtype: safetensors };
      return [
        new Global(`torch.${storage}Storage`, undefined, type),
        new Global(`torch.${dtype}`, undefined, type),
      ];
    }),
    new Global("torch._utils._rebuild_tensor", tensor),
    new Global("torch._utils._rebuild_tensor_v2", tensor),
    new Global("torch._utils._rebuild_tensor_v3", tensor),
    new Global("torch._utils._rebuild_parameter", ([data]) => tensorIn(data)),
    new Global("torch._utils._rebuild_parameter_with_state", ([data]) => tensorIn(data)),
    new Global("torch._tensor._rebuild_from_type_v2", ([make, , args]) => {
      if (!(make instanceof Global) || !Array.isArray(args)) throw odd("a tensor without arguments");
      return make.name.startsWith("torch._utils.") ? make.make(args) : new Opaque(make.name);
    }),
    new Global("torch.Size", ([sizes]) => (Array.isArray(sizes) ? sizes : [])),
    new Global("collections.OrderedDict", ordered),
  ].map((one) => [one.name, one]),
);

/** Functions with which a pickle attacks the machine that opens it in Python. No training code saves them. */
const ATTACKS =
  /^((os|posix|nt)\.(system|popen|fork|exec|spawn|posix_spawn|remove|unlink|rmdir|rename)|(subprocess|pty|runpy|socket|shutil)\.|(builtins|__builtin__)\.(eval|exec|compile|__import__|open)$)/;

export function globalOf(module: Value, name: Value): Global {
  if (typeof module !== "string" || typeof name !== "string") throw odd("a global without a name");
  const full = `${module}.${name}`;
  if (ATTACKS.test(full)) {
    throw new Refusal(`pickle: it would call ${full} when Python opens it, which is an attack; do not open it there`);
  }
  return GLOBALS.get(full) ?? new Global(full);
}

export const odd = (what: string) => new Refusal(`pickle: expected what torch.save writes, got ${what}`);

/** An OrderedDict. Python 2 writes it as a list of pairs, each of them a list. */
function ordered([pairs = []]: readonly Value[]): Dict {
  const dict = new Dict();
  if (!Array.isArray(pairs)) throw odd("an OrderedDict of no pairs");
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2) throw odd("an OrderedDict of no pairs");
    dict.entries.set(pair[0]!, pair[1]!);
  }
  return dict;
}

function tensorIn(value: Value | undefined): Tensor | Opaque {
  if (value instanceof Tensor || value instanceof Opaque) return value;
  throw odd("a parameter that is no tensor");
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const areCounts = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length <= MOST_AXES && value.every(isCount);
/** PyTorch's limit. */
const MOST_AXES = 64;

/** (storage, offset, shape, strides, requires_grad, hooks, dtype in v3, …) */
function tensor([storage, offset, shape, strides, , , dtype]: readonly Value[]): Tensor | Opaque {
  if (!(storage instanceof Storage)) throw odd("a tensor without a storage");
  const type = storage.type ?? (dtype instanceof Global ? dtype.type : undefined);
  if (!type) return new Opaque("torch._utils._rebuild_tensor_v3");
  if (!isCount(offset) || !areCounts(shape) || !areCounts(strides) || shape.length !== strides.length) {
    throw new Refusal(
      "pickle: expected a tensor's offset, sizes and strides to be whole numbers from 0, a stride for " +
        `each of at most ${MOST_AXES} sizes, got offset ${plain(offset)}, sizes ${plain(shape)}, strides ${plain(strides)}`,
    );
  }
  // Copies, because the pickle may append to its lists later.
  const made = new Tensor(storage, type, offset, [...shape], [...strides]);
  const holds = storage.type ? storage.count : Math.floor(storage.count / type.bytes);
  if (made.end <= holds) return made;
  throw new Refusal(
    `pickle: a tensor of sizes ${plain(shape)}, strides ${plain(strides)} and offset ${offset} does not ` +
      `lie in its storage of ${holds} numbers`,
  );
}

const plain = (value: Value | undefined): string => {
  const one = (part: unknown) => (typeof part === "number" || typeof part === "bigint" ? String(part) : "?");
  if (!Array.isArray(value)) return one(value);
  return `[${value.slice(0, 8).map(one)}${value.length > 8 ? ",…" : ""}]`;
};

/** ("storage", its type, key, device, count of numbers, and in the old form a view or None) */
export function storageOf(id: Value): Storage {
  const [kind, type, key, , count, view = null] = Array.isArray(id) ? id : [];
  if (kind !== "storage" || !(type instanceof Global) || typeof key !== "string" || !isCount(count)) {
    throw odd("a reference to something other than a storage");
  }
  if (view === null) return new Storage(key, type.type, count, 0, count);
  const [, from, size] = Array.isArray(view) ? view : [];
  if (isCount(from) && isCount(size) && from + size <= count) {
    return new Storage(key, type.type, count, from, size);
  }
  throw new Refusal(`pickle: a part of the storage ${quoted(key)} does not lie in its ${count} numbers`);
}
