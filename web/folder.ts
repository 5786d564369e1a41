/**
 * A checkpoint as people have it: a folder with `config.json`, `preprocessor_config.json` and
 * weights in one file of safetensors, or in several and their index.
 */
import { prepareOf } from "./checkpoint.js";
import { VitError } from "./errors.js";
import { type Opener, read, type Source } from "./fetch.js";
import { isDirectory, isNode } from "./node.js";
import { joined, type WeightMap } from "./shards.js";

/** What is in a folder, by name; undefined where it surely has no such file. */
type Get = (name: string) => Source | undefined;

type Json = Readonly<Record<string, unknown>>;

export interface Checkpoint {
  readonly weights: Source | Opener;
  /** In anybody's words; undefined where there is none. */
  readonly config: Json | undefined;
  /** `{prepare}`, in our words. */
  readonly prepare: Json | undefined;
}

const INDEX = "model.safetensors.index.json";

type Place = string | URL | readonly File[];

export const mayBeFolder = (source: unknown): source is Place =>
  Array.isArray(source) || typeof source === "string" || source instanceof URL;

/** A list of files is one, and so is an address that ends with a slash; in Node, a directory. */
export async function isFolder(source: Place): Promise<boolean> {
  if (typeof source !== "string" && !(source instanceof URL)) return true;
  return /\/($|\?|#)/.test(String(source)) || (isNode && (await isDirectory(local(source))));
}

/** @throws {VitError} code `network`, `bad_file`, `bad_config` or `bad_argument`. */
export async function openFolder(source: Place, signal?: AbortSignal): Promise<Checkpoint> {
  const address = typeof source === "string" || source instanceof URL;
  const get = address ? fromAddress(local(source)) : fromFiles(source);
  const [config, preprocessor, index] = await Promise.all([
    readJson(get, "config.json", signal),
    readJson(get, "preprocessor_config.json", signal),
    readJson(get, INDEX, signal),
  ]);
  const weights = index ? shardsOf((index.weight_map ?? {}) as WeightMap, get) : get("model.safetensors");
  if (!weights) {
    const names = (source as readonly File[]).map(({ name }) => name).join(", ") || "none";
    throw new VitError(
      "bad_argument",
      `files: expected one that ends with .safetensors, or several and their ${INDEX}, got ${names}`,
    );
  }
  return { weights, config, prepare: preprocessor && { prepare: prepareOf(preprocessor) } };
}

function fromFiles(files: readonly File[]): Get {
  const named = (name: string) => files.find((file) => file.name === name);
  const weights = files.filter(({ name }) => name.endsWith(".safetensors"));
  const only = weights.length === 1 ? weights[0] : undefined;
  return (name) => named(name) ?? (name === "model.safetensors" ? only : undefined);
}

function fromAddress(folder: string | URL): Get {
  if (typeof folder === "string" && isNode) return (name) => `${folder.replace(/\/?$/, "/")}${name}`;
  const base = new URL(folder, globalThis.location?.href);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return (name) => {
    const file = new URL(name, base);
    file.search = base.search;
    return file;
  };
}

/** A path stays one; what has a scheme becomes a URL. */
const local = (source: string | URL) =>
  typeof source === "string" && /^[a-z][a-z0-9+.-]+:/i.test(source) && URL.canParse(source)
    ? new URL(source)
    : source;

/** What is not there is undefined: only the weights must be. */
async function readJson(get: Get, name: string, signal?: AbortSignal): Promise<Json | undefined> {
  const source = get(name);
  if (!source) return undefined;
  const bytes = await read(source, signal).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (error instanceof VitError && isMissing(error)) return undefined;
    throw error;
  });
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  } catch {
    // said below
  }
  throw new VitError("bad_config", `${name}: expected a JSON object`);
}

/** A server that answers 404, or with a page of its own; a path that leads nowhere. */
const isMissing = ({ code, message }: VitError) =>
  /got 40[34]|ENOENT/.test(message) || (code === "bad_file" && /an HTML page/.test(message));

/** Each file once, in the order of its name. */
function shardsOf(map: WeightMap, get: Get): Opener {
  const names = [...new Set(Object.values(map).map(String))].sort();
  const shards = names.map((name) => {
    const source = /[/\\]/.test(name) ? undefined : get(name);
    if (source) return { name, source };
    throw new VitError("bad_file", `${INDEX}: expected the file "${name}" beside it, got none`);
  });
  return joined(shards, map);
}
