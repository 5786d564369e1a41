/** The `config` and `prepare` that a call of load gives. They are copied first and read later. */
import { asVitError, foreignBundle } from "./bundles.js";
import { kindOf, reason, VitError } from "../errors.js";
import { asked, type Fetch, type Opener, type Source, steady } from "./source.js";
import type { Checkpoint, Folder } from "./folder.js";
import { read } from "./incoming.js";
import { isObject, isPlain, type Json, MOST_JSON_BYTES, parseJson } from "../base/json.js";
import type { Prepare, VitConfig } from "../config.js";

/** Weights with a separate config, or with another way to prepare pixels. */
export interface WeightsSource {
  weights: Source | Folder;
  /**
   * Replaces the file's own config. It is an object, JSON text, or a source. It may be a config of
   * transformers or timm, and keys may be missing that follow from the tensors' shapes.
   */
  config?: Source | Partial<VitConfig> | Readonly<Record<string, unknown>>;
  /** Replaces the config's own `prepare`. */
  prepare?: Prepare;
}

/** @internal JSON text, or its source. */
export interface Text {
  readonly json?: string;
  readonly source?: Source | Opener;
}

/** @internal */
export function takeConfig(config: NonNullable<WeightsSource["config"]>, by?: Fetch): Text {
  if (typeof config === "string" && isInline(config)) return { json: config };
  if (isPlain(config)) return { json: toJson("config", config) };
  return { source: asked(steady(config as Source), by) };
}

const isInline = (json: string) => json.trimStart().startsWith("{");

/**
 * The folder's config, whose keys the given config overrides. Each may be in other code's words. A
 * given config that is no object is passed on, and the core refuses it.
 *
 * @param prepared whether a `prepare` is given. Then the configs' own is neither used nor refused.
 * @internal
 */
export async function readConfig(
  config: Text | undefined,
  signal: AbortSignal | undefined,
  folder: Pick<Checkpoint, "config" | "processor"> = { config: undefined, processor: undefined },
  prepared = false,
): Promise<string | undefined> {
  const json = config && (await textOf(config, signal));
  const apart = json === undefined ? undefined : parseJson(json, "config");
  if (apart !== undefined && !isObject(apart)) return json;
  const { processor } = folder;
  const beside = await folder.config;
  if (!apart && !beside && !processor) return undefined;
  if (!processor && ![beside, apart].some(isForeign)) return JSON.stringify({ ...beside, ...apart });
  const { translateConfig } = await foreignBundle();
  const asks = !prepared && apart?.prepare === undefined;
  try {
    return JSON.stringify(translateConfig({ beside, apart, processor, asks }));
  } catch (cause) {
    throw asVitError(cause, "bad_config");
  }
}

/** A config with one of these keys is transformers', timm's or open_clip's. */
const FOREIGN = ["model_type", "architecture", "model_cfg"];

const isForeign = (config: Json | undefined) => FOREIGN.some((key) => config?.[key]);

const textOf = async ({ json, source }: Text, signal: AbortSignal | undefined): Promise<string> =>
  source ? new TextDecoder().decode(await read(source, MOST_JSON_BYTES, signal)) : json!;

/** @internal */
export function toJson(name: string, value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value) as string | undefined; // undefined for a function
  } catch (cause) {
    throw new VitError("bad_config", `${name}: expected what JSON can say: ${reason(cause)}`, { cause });
  }
  if (json !== undefined) return json;
  throw new VitError("bad_config", `${name}: expected what JSON can say, got ${kindOf(value)}`);
}
