/**
 * A checkpoint's folder. It has `config.json`, `preprocessor_config.json`, and the weights in one
 * file of safetensors or PyTorch, or in several files with an index. open_clip's folders work, too.
 */
import { reason, show, VitError } from "../errors.js";
import { open, type Opened, Opener, type Source, steady } from "./source.js";
import { read } from "./incoming.js";
import { isObject, type Json, MOST_JSON_BYTES, parseObject } from "../base/json.js";
import { isDirectory, isNode } from "../base/node.js";
import { joined, type WeightMap } from "./shards.js";

/**
 * A checkpoint's folder, as an address or a path with a slash at its end, or as the list of files
 * that a file picker gives. It holds `config.json`, `preprocessor_config.json` and
 * `model.safetensors`, or several files and `model.safetensors.index.json`. `pytorch_model.bin`
 * and its index are read if there is no safetensors.
 */
export type Folder = string | URL | readonly File[];

/** Finds a folder's file by its name; undefined if it is certain that there is no such file. */
type Get = (name: string) => Source | undefined;

/** @internal */
export interface Checkpoint {
  readonly weights: Source | Opener;
  /** The config as it is; undefined if there is none. open_clip's is found after its weights. */
  readonly config: Json | undefined | Promise<Json | undefined>;
  /** transformers' description of how a photo is prepared. */
  readonly processor: Json | undefined;
}

/** The names of weights. `any`: a list's only file with such an ending is taken, too. */
const SAFETENSORS = { file: "model.safetensors", ending: ".safetensors", any: /\.safetensors$/ };
const PYTORCH = { file: "pytorch_model.bin", ending: ".bin", any: /\.(bin|pth?)$/ };
type Kind = typeof SAFETENSORS;

const indexOf = ({ file }: Kind) => `${file}.index.json`;
const OPEN_CLIP = ["open_clip_model.safetensors", "open_clip_pytorch_model.bin"];

interface Named {
  readonly name: string;
  readonly file: File;
}

/** @internal The place of a folder or a file. It is a copy, because the caller's may change. */
export type Place = string | URL | readonly Named[];

/** @internal */
export function placeOf(source: unknown): Place | undefined {
  if (Array.isArray(source)) return filesIn(source);
  return typeof source === "string" || source instanceof URL ? (steady(source) as Place) : undefined;
}

/** @internal Whether it is a list of files, an address with a slash at its end, or a directory. */
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
  theirs.catch(() => {}); // a later await throws the error
  return { weights, config: config ?? theirs, processor };
}

/**
 * Opens the first file of weights that is there. Later names are asked for only if the earlier ones
 * are missing.
 *
 * @param tell is called with the name of the opened file, or with "".
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

/** Copies a list of files. The list may hold anything, so each file's name is read only once. */
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
  // Of equal names the first counts.
  const all = new Map([...files].reverse().map(({ name, file }) => [name, file]));
  const only = (kind: Kind) => {
    const weights = files.filter(({ name }) => kind.any.test(name));
    return weights.length === 1 ? weights[0]!.file : undefined;
  };
  return (name) => {
    const kind = [SAFETENSORS, PYTORCH].find(({ file }) => file === name);
    return all.get(name) ?? (kind && only(kind));
  };
}

/** Makes addresses of names. Each name is one segment of a path: ours, or allowed by isName. */
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
    void new URL("./", base); // throws for data: and the like, beside which nothing can be
    base.hash = "";
    if (!base.pathname.endsWith("/")) base.pathname += "/";
    return base;
  } catch (cause) {
    const what = `folder: expected an address that files can be beside, got ${show(folder)}`;
    throw new VitError("bad_argument", `${what} (${reason(cause)})`, { cause });
  }
}

/** Makes a URL of an address with a scheme. A path stays a path. */
const local = (source: string | URL) =>
  typeof source === "string" && /^[a-z][a-z0-9+.-]+:/i.test(source) ? urlOr(source) : source;

function urlOr(source: string): string | URL {
  try {
    return new URL(source);
  } catch {
    return source;
  }
}

/** Reads a JSON file; undefined if it is missing, because only the weights are required. */
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

/** Reads the processor of images. In transformers 5 it may be a part of a larger processor. */
async function readProcessor(get: Get, signal?: AbortSignal): Promise<Json | undefined> {
  const own = await readJson(get, "preprocessor_config.json", signal);
  if (own) return own;
  const all = await readJson(get, "processor_config.json", signal);
  return isObject(all?.image_processor) ? all.image_processor : undefined;
}

/** Whether a file is missing: a server answers 404 or an HTML page, or a path does not exist. */
const isMissing = (error: unknown) =>
  error instanceof VitError &&
  (/got 40[34]|ENOENT/.test(error.message) ||
    (error.code === "bad_file" && /an HTML page/.test(error.message)));

/**
 * Whether a name from a stranger's index may be opened. It must be one segment of a path for every
 * browser, server and system. Therefore only known characters are allowed.
 */
const isName = (name: string, ending: string) =>
  name.endsWith(ending) &&
  /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.,+@=()~ -]{0,200}$/u.test(name.slice(0, -ending.length));

/** The files that an index names, each once, sorted by name. */
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
