/** A config or a prepare that a call is given: taken at once, read when its turn comes. */
import { ourConfig } from "./checkpoint.js";
import { kindOf, reason, VitError } from "./errors.js";
import { type Source, steady } from "./fetch.js";
import type { Checkpoint } from "./folder.js";
import { read } from "./incoming.js";
import { isObject, MOST_JSON_BYTES, parseJson } from "./json.js";
import type { WeightsSource } from "./vit.js";

/** JSON text, or where to get it. */
export interface Text {
  readonly json?: string;
  readonly source?: Source;
}

export function takeConfig(config: NonNullable<WeightsSource["config"]>): Text {
  if (typeof config === "string") return isInline(config) ? { json: config } : { source: config };
  const plain = Object.getPrototypeOf(config) as unknown;
  if (plain === Object.prototype || plain === null) return { json: toJson("config", config) };
  return { source: steady(config as Source) };
}

const isInline = (json: string) => json.trimStart().startsWith("{");

/**
 * The folder's config, and over it the one given apart: each in anybody's words. What is no object
 * the core refuses.
 */
export async function readConfig(
  config: Text | undefined,
  signal: AbortSignal | undefined,
  folder: Pick<Checkpoint, "config" | "prepare"> = { config: undefined, prepare: undefined },
): Promise<string | undefined> {
  const below = { ...folder.prepare, ...(folder.config && ourConfig(folder.config)) };
  if (!config) return folder.config || folder.prepare ? JSON.stringify(below) : undefined;
  const { source } = config;
  const json = source ? new TextDecoder().decode(await read(source, MOST_JSON_BYTES, signal)) : config.json!;
  const value = parseJson(json, "config");
  return isObject(value) ? JSON.stringify({ ...below, ...ourConfig(value) }) : json;
}

export function toJson(name: string, value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value) as string | undefined; // of a function, nothing
  } catch (cause) {
    throw new VitError("bad_config", `${name}: expected what JSON can say: ${reason(cause)}`, { cause });
  }
  if (json !== undefined) return json;
  throw new VitError("bad_config", `${name}: expected what JSON can say, got ${kindOf(value)}`);
}
