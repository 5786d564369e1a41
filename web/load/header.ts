/** The header of a safetensors file: a length of 8 bytes, then JSON with an entry for each tensor. */
import { isObject, type Json, MOST_HEADER_VALUES, parseJson } from "../base/json.js";
import { headerLength, LENGTH_BYTES } from "../base/safetensors.mjs";
import type { Incoming } from "./incoming.js";

/** The limit of src/file/safetensors.c. */
const MOST_BYTES = 1e8;

/** The parsed header. The core checks the same bytes later. */
export interface Header {
  /** The entries by their tensors' names, without `__metadata__`; undefined if there is no JSON object. */
  readonly tensors: Json | undefined;
  readonly metadata: unknown;
  /** The end of the message that says why `tensors` is undefined. */
  readonly why: string;
  /** The bytes of the length and the JSON. */
  readonly bytes: number;
  /** The bytes of the whole file. If that is unknown, it follows from the tensors' offsets. */
  readonly size: number;
  readonly hasInt8: boolean;
  /** Whether the file has tensors of 16-bit numbers. */
  readonly hasHalves: boolean;
}

const headers = new WeakMap<Incoming, Promise<Header>>();

/** Reads a file's header. A second call gives the header of the first. */
export function readHeader(file: Incoming): Promise<Header> {
  const header = headers.get(file) ?? newHeader(file);
  headers.set(file, header);
  return header;
}

async function newHeader(file: Incoming): Promise<Header> {
  const length = headerLength(await file.peek(LENGTH_BYTES));
  const bytes = LENGTH_BYTES + (length > Math.min(file.size || MOST_BYTES, MOST_BYTES) ? 0 : length);
  const start = await file.peek(bytes);
  const parsed = parse(new TextDecoder().decode(start.subarray(LENGTH_BYTES)));
  const types = new Set<unknown>();
  let end = 0;
  for (const entry of Object.values(parsed.tensors ?? {})) {
    if (!isObject(entry)) continue;
    types.add(entry.dtype);
    const offsets = entry.data_offsets;
    if (Array.isArray(offsets) && Number.isInteger(offsets[1])) end = Math.max(end, offsets[1] as number);
  }
  file.confirm(start.length + end);
  return {
    ...parsed,
    bytes,
    size: file.size || start.length + end,
    hasInt8: types.has("I8"),
    hasHalves: types.has("F16") || types.has("BF16"),
  };
}

function parse(text: string): Pick<Header, "tensors" | "metadata" | "why"> {
  const none = { tensors: undefined, metadata: undefined };
  try {
    const json = parseJson(text, "", { code: "bad_file", most: MOST_HEADER_VALUES });
    if (!isObject(json)) return { ...none, why: "" };
    const { __metadata__: metadata } = json;
    delete (json as { __metadata__?: unknown }).__metadata__; // a copy without it might be large
    return { tensors: json, metadata, why: "" };
  } catch (error) {
    return { ...none, why: (error as Error).message };
  }
}
