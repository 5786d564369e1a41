/**
 * A checkpoint as people have it: a folder with `config.json`, `preprocessor_config.json` and
 * weights in one file of safetensors or PyTorch, or in several and their index; or open_clip's.
 */
import { reason, show, VitError } from "../errors.js";
import { open, type Opened, Opener, type Source, steady } from "./source.js";
import { read } from "./incoming.js";
import { isObject, type Json, MOST_JSON_BYTES, parseObject } from "../base/json.js";
import { isDirectory, isNode } from "../base/node.js";
import { joined, type WeightMap } from "./shards.js";

/**
 * A checkpoint's folder with `config.json`, `preprocessor_config.json` and `model.safetensors`, or
 * several files and `model.safetensors.index.json`, or else `pytorch_model.bin` likewise: its
 * address or path, which ends with a slash, or its files, as a file picker gives them.
 */
export type Folder = string | URL | readonly File[];

/** What is in a folder, by name; undefined where it surely has no such file. */
type Get = (name: string) => Source | undefined;

/** @internal */
export interface Checkpoint {
  readonly weights: Source | Opener;
  /** In anybody's words; undefined where there is none. open_clip's is known with its weights. */
  readonly config: Json | undefined | Promise<Json | undefined>;
  /** What is done to a photo, in transformers' words. */
  readonly processor: Json | undefined;
}

/** What weights may be called, by falling preference. Any file of a list may be the only one. */
const SAFETENSORS = { file: "model.safetensors", ending: ".safetensors", any: /\.safetensors$/ };
const PYTORCH = { file: "pytorch_model.bin", ending: ".bin", any: /\.(bin|pth?)$/ };
type Kind = typeof SAFETENSORS;

const indexOf = ({ file }: Kind) => `${file}.index.json`;
const OPEN_CLIP = ["open_clip_model.safetensors", "open_clip_pytorch_model.bin"];

interface Named {
  readonly name: string;
  readonly file: File;
}

/** @internal Where a folder may be: a copy, for what is given may change. */
export type Place = string | URL | readonly Named[];

/** @internal */
export function placeOf(source: unknown): Place | undefined {
  if (Array.isArray(source)) return filesIn(source);
  return typeof source === "string" || source instanceof URL ? (steady(source) as Place) : undefined;
}

/** @internal A list of files is one, and so is an address that ends with a slash; in Node, a directory. */
export async function isFolder(source: Place): Promise<boolean> {
  if (typeof source !== "string" && !(source instanceof URL)) return true;
  return /\/($|\?|#)/.test(String(source)) || (isNode && (await isDirectory(local(source))));
}

/** @internal @throws {VitError} code `network`, `bad_file`, `bad_config` or `bad_argument`. */
export async function openFolder(source: Place, signal?: AbortSignal): Promise<Checkpoint> {
  const address = typeof source === "string" || source instanceof URL;
  const get = address ? fromAddress(local(source)) : fromFiles(source);
  const [config, processor, index] = await Promise.all([
    readJson(get, "config.json", signal),
    readProcessor(get, signal),
    readJson(get, indexOf(SAFETENSORS), signal),
  ]);
  if (!index && ![SAFETENSORS.file, indexOf(PYTORCH), PYTORCH.file, ...OPEN_CLIP].some(get)) {
    const names = show((source as readonly Named[]).map(({ name }) => name).join(", ")) || "none";
    throw new VitError(
      "bad_argument",
      `files: expected one that ends with .safetensors, .bin, .pt or .pth, or several and their ` +
        `${indexOf(SAFETENSORS)} or ${indexOf(PYTORCH)}, got ${names}`,
    );
  }
  if (index) return { weights: shardsOf(index.weight_map ?? {}, get, SAFETENSORS), config, processor };
  let tell!: (name: string) => void;
  const named = new Promise<string>((resolve) => (tell = resolve));
  const weights = new Opener((signal) => openFirst(get, tell, signal));
  const theirs = named.then((name) =>
    !address || OPEN_CLIP.includes(name) ? readJson(get, "open_clip_config.json", signal) : undefined);
  theirs.catch(() => {}); // who waits for it tells
  return { weights, config: config ?? theirs, processor };
}

/**
 * Other names are asked for only where the first is not there.
 *
 * @param tell is told the name of what was opened, or none.
 */
async function openFirst(get: Get, tell: (name: string) => void, signal?: AbortSignal): Promise<Opened> {
  let missing: unknown;
  for (const name of [SAFETENSORS.file, indexOf(PYTORCH), PYTORCH.file, ...OPEN_CLIP]) {
    const source = get(name);
    if (!source) continue;
    try {
      const index = name === indexOf(PYTORCH) ? await readJson(get, name, signal) : undefined;
      if (!index && name === indexOf(PYTORCH)) continue;
      const from = index ? shardsOf(index.weight_map ?? {}, get, PYTORCH) : source;
      const opened = await open(from, signal);
      tell(name);
      return opened;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isMissing(error)) throw error;
      missing ??= error;
    }
  }
  tell("");
  throw missing;
}

/** A list may hold anything: each file's name is asked once. */
function filesIn(list: readonly unknown[]): Named[] {
  const files: Named[] = [];
  for (let index = 0, { length } = list; index < length; index++) {
    const file = list[index];
    const name: unknown = file instanceof Blob ? (file as File).name : undefined;
    if (typeof name !== "string") {
      throw new VitError("bad_argument", `files: expected an array of Files, got ${show(file)} at ${index}`);
    }
    files.push({ name, file: file as File });
  }
  return files;
}

function fromFiles(files: readonly Named[]): Get {
  const all = new Map([...files].reverse().map(({ name, file }) => [name, file])); // the first of a name
  const only = (kind: Kind) => {
    const weights = files.filter(({ name }) => kind.any.test(name));
    return weights.length === 1 ? weights[0]!.file : undefined;
  };
  return (name) => {
    const kind = [SAFETENSORS, PYTORCH].find(({ file }) => file === name);
    return all.get(name) ?? (kind && only(kind));
  };
}

/** Of names that are one segment of a path: ours, and those that {@link isName} lets pass. */
function fromAddress(folder: string | URL): Get {
  if (typeof folder === "string" && isNode) return (name) => `${folder.replace(/\/?$/, "/")}${name}`;
  const base = baseOf(folder);
  return (name) => {
    const file = new URL(base);
    file.pathname += encodeURIComponent(name);
    return file;
  };
}

function baseOf(folder: string | URL): URL {
  try {
    const base = new URL(folder, globalThis.location?.href);
    void new URL("./", base); // of data: and the like nothing is beside anything: it throws
    base.hash = "";
    if (!base.pathname.endsWith("/")) base.pathname += "/";
    return base;
  } catch (cause) {
    const what = `folder: expected an address that files can be beside, got ${show(folder)}`;
    throw new VitError("bad_argument", `${what} (${reason(cause)})`, { cause });
  }
}

/** A path stays one; what has a scheme becomes a URL. */
const local = (source: string | URL) =>
  typeof source === "string" && /^[a-z][a-z0-9+.-]+:/i.test(source) ? urlOr(source) : source;

function urlOr(source: string): string | URL {
  try {
    return new URL(source);
  } catch {
    return source;
  }
}

/** What is not there is undefined: only the weights must be. */
async function readJson(get: Get, name: string, signal?: AbortSignal): Promise<Json | undefined> {
  const source = get(name);
  if (!source) return undefined;
  const bytes = await read(source, MOST_JSON_BYTES, signal).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (isMissing(error)) return undefined;
    throw error;
  });
  return bytes && parseObject(new TextDecoder().decode(bytes), name);
}

/** Of transformers 5, where a model's processor has several parts, one is that of images. */
async function readProcessor(get: Get, signal?: AbortSignal): Promise<Json | undefined> {
  const own = await readJson(get, "preprocessor_config.json", signal);
  if (own) return own;
  const all = await readJson(get, "processor_config.json", signal);
  return isObject(all?.image_processor) ? all.image_processor : undefined;
}

/** A server that answers 404, or with a page of its own; a path that leads nowhere. */
const isMissing = (error: unknown) =>
  error instanceof VitError &&
  (/got 40[34]|ENOENT/.test(error.message) ||
    (error.code === "bad_file" && /an HTML page/.test(error.message)));

/**
 * A stranger names these files. Such a name is one segment of a path wherever it is opened, by a
 * browser, a server or a system: a list of what it may hold, not of what it may not. Where a server
 * redirects a request is the server's matter.
 */
const isName = (name: string, ending: string) =>
  name.endsWith(ending) &&
  /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.,+@=()~ -]{0,200}$/u.test(name.slice(0, -ending.length));

/** Each file once, in the order of its name. */
function shardsOf(map: unknown, get: Get, kind: Kind): Opener {
  const { ending } = kind;
  const index = indexOf(kind);
  if (!isObject(map)) throw new VitError("bad_file", `${index}: expected a weight_map that names files`);
  const names = [...new Set(Object.values(map))].map((name) => {
    if (typeof name === "string" && isName(name, ending)) return name;
    const said = show(typeof name === "string" ? name : JSON.stringify(name));
    throw new VitError(
      "bad_file",
      `${index}: expected the file "${said}" to be beside it: a plain name that ends with ${ending}`,
    );
  });
  const shards = names.sort().map((name) => {
    const source = get(name);
    if (source) return { name, source };
    throw new VitError("bad_file", `${index}: expected the file "${name}" beside it, got none`);
  });
  return joined(shards, map as WeightMap);
}
