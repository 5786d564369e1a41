/** Where the weights are: a file, or a checkpoint's folder. */
import { absolute, hasScheme } from "../base/address.js";
import { isA } from "../base/kind.js";
import { inNode, isDirectory } from "../base/node.js";
import { show, VitError } from "../errors.js";
import type { Json } from "../base/json.js";
import type { Dom } from "../images.js";
import { answer, type Fetch, isMissing, type Opener, reopenable, snapshot, type Source, withFetch } from "./source.js";

/**
 * A checkpoint's folder, as an address or a path with a slash at its end, or as the list of files
 * that a file picker gives. It holds `config.json`, `preprocessor_config.json` and
 * `model.safetensors`, or several files and `model.safetensors.index.json`. `pytorch_model.bin`
 * and its index are read if there is no safetensors. If a list has folders in it, the topmost
 * folder with weights is read.
 */
export type Folder = string | URL | readonly File[] | Dom<"FileList">;

/** @internal */
export interface NamedFile {
  /** Its path's folders, each with a slash at its end. */
  readonly folder: string;
  readonly name: string;
  readonly file: File;
}

/** @internal Where a folder or a file is. It is a copy, because the caller's may change. */
export type SourceLocation = string | URL | readonly NamedFile[];

/** @internal */
export interface Checkpoint {
  readonly weights: Source | Opener;
  /** The config as it is; undefined if there is none. open_clip's is found after its weights. */
  readonly config: Json | undefined | Promise<Json | undefined>;
  /** transformers' description of how a photo is prepared. */
  readonly processor: Json | undefined;
  /** transformers' description of how text is generated. */
  readonly generation: Json | undefined;
  /** Finds its other files. */
  readonly beside: Beside;
}

/** @internal Finds a folder's file by its name; undefined if there is certainly no such file. */
export type Beside = (name: string) => Source | Opener | undefined;

/** @internal What folder.ts does. */
export type OpenFolder = (source: SourceLocation, signal?: AbortSignal, by?: Fetch) => Promise<Checkpoint>;

/** @internal */
export function locationOf(source: unknown): SourceLocation | undefined {
  if (Array.isArray(source) || isA(source, "FileList")) return copyFiles(source as ArrayLike<unknown>);
  return typeof source === "string" || isA(source, "URL") ? (snapshot(source) as SourceLocation) : undefined;
}

/**
 * @internal The file at a location; undefined if that is a folder. An address whose path ends with a
 * slash may be a file's if it has a query (`/f/TOKEN/?dl=1`), so the server is asked.
 */
export async function fileAt(location: SourceLocation, signal?: AbortSignal, by?: Fetch): Promise<Source | Opener | undefined> {
  if (typeof location !== "string" && !isA(location, "URL")) return undefined;
  const node = await inNode();
  if (isPath(location, node)) return location.endsWith("/") || (await isDirectory(location)) ? undefined : location;
  const url = parseAddress(location);
  if (node && url?.protocol === "file:" && (await isDirectory(url))) return undefined;
  if (!url?.pathname.endsWith("/") || /^(data|blob):/.test(url.protocol)) return withFetch(location, by);
  if (url.search === "") return undefined;
  const got = await answer(url, signal, by).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (!isMissing(error)) throw error;
  });
  if (got?.ok && !isPage(got)) return reopenable(got, by);
  void got?.body?.cancel();
  return undefined;
}

/** @internal */
export const isPath = (location: string | URL, node: boolean): location is string =>
  node && typeof location === "string" && !hasScheme(location);

/** @internal Whether a server may have answered with a listing or an error page instead of the file. */
export const isPage = (response: Response | undefined) =>
  /html|xml|json/i.test(response?.headers.get("content-type") ?? "");

function parseAddress(location: string | URL): URL | undefined {
  try {
    return absolute(location);
  } catch {
    return undefined;
  }
}

/** Copies a list of files. The list may hold anything, so each file's names are read only once. */
function copyFiles(list: ArrayLike<unknown>): NamedFile[] {
  const files: NamedFile[] = [];
  for (let index = 0, { length } = list; index < length; index++) {
    const file = list[index];
    const { name, webkitRelativePath: path } = isA(file, "Blob") ? (file as File) : ({} as Partial<File>);
    if (typeof name !== "string") {
      throw new VitError("bad_argument", `files: expected an array of Files, got ${show(file)} at ${index}`);
    }
    const folder = typeof path === "string" ? path.slice(0, path.lastIndexOf("/") + 1) : "";
    files.push({ folder, name, file: file as File });
  }
  return files;
}
