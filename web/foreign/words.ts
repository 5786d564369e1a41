/** Translates words of other libraries' configs, and what several of their families share. */
import { hasOwn, show } from "../errors.js";
import { isObject, type Json } from "../base/json.js";
import { Refusal } from "./refusal.js";

/** Our words for transformers' activations. */
export const ACTIVATIONS = {
  gelu: "gelu",
  gelu_python: "gelu",
  gelu_new: "gelu_tanh",
  gelu_fast: "gelu_tanh",
  gelu_accurate: "gelu_tanh",
  gelu_python_tanh: "gelu_tanh",
  gelu_pytorch_tanh: "gelu_tanh",
  quick_gelu: "quick_gelu",
  relu: "relu",
  silu: "silu",
  swish: "silu",
} as const;

/** The names of CLIP's blocks, which are the same in both of its towers. */
export const RESBLOCKS = `
  blocks.*.norm1 transformer.resblocks.*.ln_1
  blocks.*.attn.qkv.weight transformer.resblocks.*.attn.in_proj_weight
  blocks.*.attn.qkv.bias transformer.resblocks.*.attn.in_proj_bias
  blocks.*.attn.proj transformer.resblocks.*.attn.out_proj
  blocks.*.norm2 transformer.resblocks.*.ln_2
  blocks.*.ls1.gamma transformer.resblocks.*.ls_1.gamma
  blocks.*.ls2.gamma transformer.resblocks.*.ls_2.gamma
  blocks.*.mlp.fc1 transformer.resblocks.*.mlp.c_fc
  blocks.*.mlp.fc2 transformer.resblocks.*.mlp.c_proj`;

/** Our value for a key's word. */
export function meaning<Value>(
  key: string,
  value: unknown,
  table: Readonly<Record<string, Value>>,
  where = "config",
): Value {
  const word = wordOf(value);
  const found = hasOwn(table, word) ? table[word] : undefined;
  if (found !== undefined) return found;
  const words = Object.keys(table).join(", ");
  throw new Refusal(`${where}: ${key}: expected one of ${words}, got "${show(word)}"`);
}

/** A JSON value as a word. An object's own toString is not called, because it may do anything. */
export const wordOf = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value) ?? "nothing";

export const objectOr = (value: unknown, other: Json): Json => (isObject(value) ? value : other);

export const pair = (size: unknown) => (typeof size === "number" ? [size, size] : size);

/** The members that are not undefined. */
export function definedMembers(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

export function unknownName(key: string, name: string, names: string, why = ""): Refusal {
  const because = why && `, because ${why}`;
  return new Refusal(`config: ${key}: ${show(name)} is not known here${because}; known are ${names}`);
}
