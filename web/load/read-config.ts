/** Copies the `config` and `prepare` that the caller passes to load, and reads the config later. */
import { asVitError, bundle } from "./bundles.js";
import { kindOf, reason, VitError } from "../errors.js";
import { type Fetch, type Opener, snapshot, type Source, withFetch } from "./source.js";
import type { Checkpoint, Folder } from "./location.js";
import { read } from "./incoming.js";
import { isObject, isPlain, type Json, MOST_JSON_BYTES, parseJson } from "../base/json.js";
import type { Prepare, VitConfig } from "../config.js";

/** Weights with a separate config, or with another way to prepare pixels. */
export interface WeightsSource {
  weights: Source | Folder;
  /**
   * Replaces the file's own config. It is an object, JSON text, or a source. It may be a config of
   * transformers or timm, and may lack keys that follow from the tensors' shapes.
   */
  config?: Source | Partial<VitConfig> | Readonly<Record<string, unknown>>;
  /** Replaces the config's own `prepare`. */
  prepare?: Prepare;
}

/** @internal A config as JSON text, or the source of that text. */
export interface ConfigText {
  readonly json?: string;
  readonly source?: Source | Opener;
}

/** @internal */
export function copyConfig(config: NonNullable<WeightsSource["config"]>, by?: Fetch): ConfigText {
  if (typeof config === "string" && isInline(config)) return { json: config };
  if (isPlain(config)) return { json: toJson("config", config) };
  return { source: withFetch(snapshot(config as Source), by) };
}

const isInline = (json: string) => json.trimStart().startsWith("{");

/**
 * The folder's config with the caller's keys over it. Each may be in another library's words. A
 * caller's config that is no object is passed on, and the core refuses it.
 *
 * @param hasPrepare whether the caller passes a `prepare`. Then the configs' own is neither used nor refused.
 * @internal
 */
export async function readConfig(
  config: Promise<string> | undefined,
  folder: Pick<Checkpoint, "config" | "processor" | "generation"> = { config: undefined, processor: undefined, generation: undefined },
  hasPrepare = false,
): Promise<string | undefined> {
  const json = await config;
  const callerConfig = json === undefined ? undefined : parseJson(json, "config");
  if (callerConfig !== undefined && !isObject(callerConfig)) return json;
  const { processor, generation } = folder;
  const folderConfig = await folder.config;
  if (!callerConfig && !folderConfig && !processor) return undefined;
  if (!processor && ![folderConfig, callerConfig].some(isForeign)) return JSON.stringify({ ...folderConfig, ...callerConfig });
  const { translateConfig } = await bundle("foreign");
  const wantsPrepare = !hasPrepare && callerConfig?.prepare === undefined;
  try {
    return JSON.stringify(translateConfig({ folderConfig, callerConfig, processor, generation, wantsPrepare }));
  } catch (cause) {
    throw asVitError(cause, "bad_config");
  }
}

/** A config with one of these keys is transformers', timm's or open_clip's. */
const FOREIGN = ["model_type", "architecture", "model_cfg"];

const isForeign = (config: Json | undefined) => FOREIGN.some((key) => config?.[key]);

/** @internal */
export const textOf = async ({ json, source }: ConfigText, signal: AbortSignal | undefined): Promise<string> =>
  source ? new TextDecoder().decode(await read(source, MOST_JSON_BYTES, signal)) : json!;

/** @internal */
export function toJson(name: string, value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value) as string | undefined; // undefined for a function
  } catch (cause) {
    throw new VitError("bad_config", `${name}: expected a value that JSON can hold: ${reason(cause)}`, { cause });
  }
  if (json !== undefined) return json;
  throw new VitError("bad_config", `${name}: expected a value that JSON can hold, got ${kindOf(value)}`);
}
