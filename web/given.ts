/** A config or a prepare that a call is given: taken at once, read when its turn comes. */
import { ourConfig } from "./checkpoint.js";
import { kindOf, reason, VitError } from "./errors.js";
import { type Source, steady } from "./fetch.js";
import { read } from "./incoming.js";
import { isObject, type Json, MOST_JSON_BYTES, parseJson } from "./json.js";
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

export const textOf = (config: Json | undefined): Text | undefined =>
  config && { json: JSON.stringify(config) };

const isInline = (json: string) => json.trimStart().startsWith("{");

/** What is no object the core refuses. `defaults`: for what the config leaves out. */
export async function readConfig(
  config: Text | undefined,
  signal: AbortSignal | undefined,
  defaults: Json | undefined,
): Promise<string | undefined> {
  if (!config) return undefined;
  const { source } = config;
  const json = source ? new TextDecoder().decode(await read(source, MOST_JSON_BYTES, signal)) : config.json!;
  const value = parseJson(json, "config");
  return isObject(value) ? JSON.stringify({ ...defaults, ...ourConfig(value) }) : json;
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
