/** Finds out what model a file holds: one of our own, whose config is in the file, or one of another library. */
import { MAX_FILE_BYTES } from "../base/bytes.js";
import { isObject, type Json, parseJson, parseObject } from "../base/json.js";
import type { Origin } from "../config.js";
import { hasOwn } from "../errors.js";
import { PLAIN } from "../generated/plain.js";
import type { Foreign } from "../foreign/checkpoint.js";
import { asVitError, bundle } from "./bundles.js";
import { type Header, readHeader } from "./header.js";
import { Incoming } from "./incoming.js";

/** What the core needs besides the file. It refuses a file whose header is bad. */
export interface Identity {
  /** A config as JSON that replaces the file's own. */
  readonly config: string | undefined;
  /** See ModelSource. */
  readonly map: string | undefined;
  readonly origin: Origin;
  /** Whether only the full edition of the module runs it. */
  readonly needsFull: boolean;
  /** The file, or what is read in its place. */
  readonly file: Incoming;
}

/**
 * @param replacement a config as JSON. With one, even a file of our own is read as another library's.
 * @param prepare JSON that replaces the config's own `prepare`.
 * @param tower adds the text tower to another library's model.
 */
export async function identify(file: Incoming, replacement: string | undefined, prepare: string | undefined, tower?: (model: Foreign, header: Header) => Promise<Foreign>): Promise<Identity> {
  const header = await readHeader(file);
  const { tensors, metadata } = header;
  const vitrine = replacement === undefined && isObject(metadata) ? metadata.vitrine : undefined;
  const own = typeof vitrine === "string" ? vitrine : undefined;
  const json = withPrepare(own ?? replacement ?? "{}", prepare);
  const config = objectIn(json);
  const ours = { file, config: own === json ? undefined : json, map: undefined, origin: { ...OWN, projection: projectionOf(config ?? {}), skipped: [], mapping: {}, assumed: problemOf(config ?? {}) }, needsFull: needsFull(config ?? {}) };
  const unreadable = !tensors || !config || header.size > MAX_FILE_BYTES; // the core says why
  if (unreadable || (own !== undefined && hasOwn(tensors, OUR_NAME))) return ours;
  const { identifyForeign } = await bundle("foreign");
  try {
    const beside = [isObject(metadata) && metadata.beside, own === undefined && replacement].filter((text) => typeof text === "string");
    const settings = beside.length > 0 ? (await bundle("settings")).besideOf(beside) : {};
    const found = await identifyForeign(header, { ...settings, ...config }, own !== undefined, file, bundle);
    if (!found) return ours;
    const foreign = tower ? await tower(found, header) : found;
    const origin = { ...foreign.origin, ...(own !== undefined && OWN) };
    const assumed = [...origin.assumed, ...problemOf(foreign.config)];
    return { file: await inPlaceOf(file, foreign), config: JSON.stringify(foreign.config), map: foreign.map, origin: { ...origin, assumed }, needsFull: origin.projection === "head" || needsFull(foreign.config) }; // vitw_project
  } catch (cause) {
    throw asVitError(cause, "bad_config");
  }
}

/** What is read in place of the file. */
async function inPlaceOf(file: Incoming, { written, append }: Foreign): Promise<Incoming> {
  if (written) return Incoming.open(written);
  return append ? Incoming.from({ ...append(file), ours: true, lost: (cause) => asVitError(cause, "bad_file") }) : file;
}

const OWN = { family: "vitrine", assumed: [], projection: null } as const;

/** Every file with our names has this tensor. A file of our own may still have another library's names. */
const OUR_NAME = "patch_embed.proj.weight";

const withPrepare = (config: string, prepare: string | undefined) =>
  prepare === undefined ? config : JSON.stringify({ ...parseObject(config, "config"), prepare: parseJson(prepare, "prepare") });

/** A config with a text tower is of a model whose images are compared with its texts. */
const projectionOf = ({ text, classes }: Json): Origin["projection"] => (text ? (classes ? "head" : "pooled") : null);

/** The object of a text; undefined if the core will refuse the text. */
function objectIn(json: string): Json | undefined {
  try {
    return parseObject(json, "config");
  } catch {
    return undefined;
  }
}

/** Whether a key has a value that is not plain. Without its key a value is. */
const needsFull = (config: Json) =>
  Object.entries(PLAIN).some(([key, values]) => hasOwn(config, key) && !(values as readonly unknown[]).includes(config[key]));

/** The core takes a single class for a problem of many labels, because a softmax of one class is 1. */
const problemOf = (config: Json) => (config.classes === 1 && !hasOwn(config, "problem_type") ? ["problem_type"] : []);
