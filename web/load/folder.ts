/**
 * Opens a checkpoint's folder. It has `config.json`, `preprocessor_config.json`, and the weights in one
 * file of safetensors or PyTorch, or in several files with an index. open_clip's folders work, too.
 * This is a bundle of its own, which is loaded only for a folder.
 */
import { absolute } from "../base/address.js";
import type { Piece } from "../base/bytes.js";
import { isObject, type Json, MOST_JSON_BYTES, parseObject } from "../base/json.js";
import { isA } from "../base/kind.js";
import { inNode } from "../base/node.js";
import { reason, show, VitError } from "../errors.js";
import { Incoming, read } from "./incoming.js";
import { type Beside, isPage, isPath, type NamedFile, type OpenFolder } from "./location.js";
import { type Fetch, isMissing, open, Opener, type SourceStream, withFetch } from "./source.js";
import { joined, type WeightMap } from "./shards.js";

/** The names of weights. `any`: if a list has only one file with such an ending, it is read, whatever its name. */
const SAFETENSORS = { file: "model.safetensors", ending: ".safetensors", any: /\.safetensors$/ };
const PYTORCH = { file: "pytorch_model.bin", ending: ".bin", any: /\.(bin|pth?)$/ };
type WeightsFormat = typeof SAFETENSORS;
/** What transformers' Trainer and accelerate save beside the weights. */
const BESIDE = /_args\.bin$|^(optimizer|scheduler|scaler|rng_state|random_states)/;

const indexOf = ({ file }: WeightsFormat) => `${file}.index.json`;
const OPEN_CLIP = ["open_clip_model.safetensors", "open_clip_pytorch_model.bin"];

/** @internal @throws {VitError} code `network`, `bad_file`, `bad_config` or `bad_argument`. */
export const openFolder: OpenFolder = async (source, signal, by) => {
  const address = typeof source === "string" || isA(source, "URL");
  const get = address ? fromAddress(source, await inNode(), by) : fromFiles(topmostWithWeights(source));
  const [config, processor, index] = await Promise.all([
    readJson(get, "config.json", signal),
    readProcessor(get, signal),
    readJson(get, indexOf(SAFETENSORS), signal),
  ]);
  // How text is generated, only of models that write some: for others it would be a request in vain.
  const generation = config?.decoder ? await readJson(get, "generation_config.json", signal) : undefined;
  if (!hasWeights(get)) {
    const names = show((source as readonly NamedFile[]).map(({ name }) => name).join(", ")) || "none";
    throw new VitError(
      "bad_argument",
      `files: expected one that ends with .safetensors, .bin, .pt or .pth, or several and their ` +
        `${indexOf(SAFETENSORS)} or ${indexOf(PYTORCH)}, got ${names}`,
    );
  }
  if (index) return { weights: shardsOf(index.weight_map ?? {}, get, SAFETENSORS), config, processor, generation, beside: get };
  let onName!: (name: string) => void;
  const fileName = new Promise<string>((resolve) => (onName = resolve));
  const weights = new Opener((signal) => openFirst(get, onName, signal));
  const openClipConfig = fileName.then((name) =>
    !address || OPEN_CLIP.includes(name) ? readJson(get, "open_clip_config.json", signal) : undefined);
  openClipConfig.catch(() => {}); // whoever awaits it gets the error
  return { weights, config: config ?? openClipConfig, processor, generation, beside: get };
};

/**
 * Opens the first file of weights that is there. It asks for later names only if the earlier ones are
 * missing.
 *
 * @param onName is called with the name of the opened file, or with "".
 */
async function openFirst(get: Beside, onName: (name: string) => void, signal?: AbortSignal): Promise<SourceStream> {
  let missing: unknown;
  for (const name of [SAFETENSORS.file, indexOf(PYTORCH), PYTORCH.file, ...OPEN_CLIP]) {
    const source = get(name);
    if (!source) continue;
    try {
      const index = name === indexOf(PYTORCH) ? await readJson(get, name, signal) : undefined;
      if (!index && name === indexOf(PYTORCH)) continue;
      const from = index ? shardsOf(index.weight_map ?? {}, get, PYTORCH) : source;
      const stream = await expectNoPage(await open(from, signal));
      onName(name);
      return stream;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isMissing(error)) throw error;
      missing ??= error;
    }
  }
  onName("");
  throw missing;
}

/** Throws if an opened file is a page that a server gives in place of a missing file. */
async function expectNoPage(stream: SourceStream): Promise<SourceStream> {
  if (!isPage(stream.response)) return stream;
  const file = await Incoming.from(stream); // it reads the start, because the server's type may be wrong
  const body = new ReadableStream<Piece>({
    async pull(controller) {
      const piece = await file.take();
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
    cancel: () => file.cancel(),
  });
  return { ...stream, body };
}

/** The files of the topmost folder with weights; all files if none has any. */
function topmostWithWeights(files: readonly NamedFile[]): readonly NamedFile[] {
  const folders = new Map<string, NamedFile[]>();
  for (const one of files) pushTo(folders, one.folder, one);
  const depth = (folder: string) => folder.split("/").length;
  const holding = [...folders].filter(([, inside]) => hasWeights(fromFiles(inside)))
    .sort(([a], [b]) => depth(a) - depth(b));
  const [first, second] = holding;
  if (!first) return files;
  if (!second || depth(first[0]) < depth(second[0])) return first[1];
  const names = show(holding.map(([folder]) => folder).sort().join(", "));
  throw new VitError("bad_argument", `files: expected one folder with weights, got ${names}; give the files of one`);
}

function pushTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

const hasWeights = (get: Beside) =>
  [SAFETENSORS.file, indexOf(SAFETENSORS), indexOf(PYTORCH), PYTORCH.file, ...OPEN_CLIP].some(get);

function fromFiles(files: readonly NamedFile[]): Beside {
  const all = new Map<string, File[]>();
  for (const { name, file } of files) pushTo(all, name, file);
  const only = (format: WeightsFormat) => {
    const weights = files.filter(({ name }) => format.any.test(name) && !BESIDE.test(name));
    return weights.length === 1 ? weights[0]!.file : undefined;
  };
  return (name) => {
    const [file, another] = all.get(name) ?? [];
    if (another) {
      throw new VitError("bad_argument", `files: expected one ${name}, got several; give the files of one folder`);
    }
    const format = [SAFETENSORS, PYTORCH].find((one) => one.file === name);
    return file ?? (format && only(format));
  };
}

/** Makes addresses of names. Each name is one segment of a path: ours, or allowed by isName. */
function fromAddress(folder: string | URL, node: boolean, by: Fetch | undefined): Beside {
  if (isPath(folder, node)) return (name) => `${folder.replace(/\/?$/, "/")}${name}`;
  const base = baseOf(folder);
  return (name) => {
    const file = new URL(base);
    file.pathname += encodeURIComponent(name);
    return withFetch(file, by);
  };
}

function baseOf(folder: string | URL): URL {
  try {
    const base = absolute(folder);
    void new URL("./", base); // throws for data: and the like, beside which nothing can be
    base.hash = "";
    if (!base.pathname.endsWith("/")) base.pathname += "/";
    return base;
  } catch (cause) {
    const what = `folder: expected an address that files can be beside, got ${show(folder)}`;
    throw new VitError("bad_argument", `${what} (${reason(cause)})`, { cause });
  }
}

/** Reads a JSON file; undefined if it is missing, because only the weights are required. */
async function readJson(get: Beside, name: string, signal?: AbortSignal): Promise<Json | undefined> {
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
async function readProcessor(get: Beside, signal?: AbortSignal): Promise<Json | undefined> {
  const own = await readJson(get, "preprocessor_config.json", signal);
  if (own) return own;
  const all = await readJson(get, "processor_config.json", signal);
  return isObject(all?.image_processor) ? all.image_processor : undefined;
}

/**
 * Whether a name from a stranger's index may be opened. It must be one segment of a path for every
 * browser, server and system. Therefore only known characters are allowed.
 */
const isName = (name: string, ending: string) =>
  name.endsWith(ending) &&
  /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.,+@=()~ -]{0,200}$/u.test(name.slice(0, -ending.length));

/** The files that an index names, each once, sorted by name. */
function shardsOf(map: unknown, get: Beside, format: WeightsFormat): Opener {
  const { ending } = format;
  const index = indexOf(format);
  if (!isObject(map)) throw new VitError("bad_file", `${index}: expected a weight_map that names files`);
  const names = [...new Set(Object.values(map))].map((name) => {
    if (typeof name === "string" && isName(name, ending)) return name;
    const quoted = show(typeof name === "string" ? name : JSON.stringify(name));
    throw new VitError(
      "bad_file",
      `${index}: expected the file "${quoted}" to be beside it: a plain name that ends with ${ending}`,
    );
  });
  const shards = names.sort().map((name) => {
    const source = get(name);
    if (source) return { name, source };
    throw new VitError("bad_file", `${index}: expected the file "${name}" beside it, got none`);
  });
  return joined(shards, map as WeightMap);
}
