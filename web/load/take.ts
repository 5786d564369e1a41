/** Copies and opens the source of weights that a call gives. */
import { takeOptions, VitError } from "../errors.js";
import { impostorsBundle } from "./bundles.js";
import { fileAt, type Folder, openFolder, placeOf } from "./folder.js";
import { readConfig, takeConfig, toJson, type WeightsSource } from "./given.js";
import { type Fetch, isMissing, lasting, type Opener, type Source } from "./source.js";

/** @internal Weights, and what is given apart from them. */
export interface Taken {
  /** A source that can be opened again. */
  readonly weights: Source | Opener;
  /** A config as JSON that replaces the file's own. Rejections are for who awaits it. */
  readonly config: Promise<string | undefined>;
  /** JSON that replaces the config's own `prepare`. */
  readonly prepare: string | undefined;
  /** The error of an opening, with advice where the files may be elsewhere. */
  advised(error: unknown): Promise<unknown>;
}

/** @internal Everything that the caller may change later is copied before the first wait. */
export async function takeSource(
  call: string,
  source: Source | Folder | WeightsSource,
  signal: AbortSignal | undefined,
  by: Fetch | undefined,
): Promise<Taken> {
  const parts: WeightsSource = isWeightsSource(source)
    ? takeOptions(call, source, ["weights", "config", "prepare"])
    : { weights: source };
  const place = placeOf(parts.weights);
  const apart = parts.config == null ? undefined : takeConfig(parts.config, by);
  const prepare = parts.prepare == null ? undefined : toJson("prepare", parts.prepare);
  const file = place === undefined ? lasting(parts.weights as Source, by) : await fileAt(place, signal, by);
  const folder = file === undefined ? await openFolder(place!, signal, by) : undefined;
  const config = readConfig(apart, signal, folder, prepare !== undefined);
  config.catch(() => {}); // who awaits it has the error
  const advised = async (error: unknown) => {
    if (!isMissing(error) || place === undefined || Array.isArray(place)) return error;
    const advice = (await impostorsBundle())?.hubAdvice(String(place)) ?? "";
    return advice ? new VitError(error.code, error.message + advice, { cause: error.cause }) : error;
  };
  return { weights: folder?.weights ?? file!, config, prepare, advised };
}

function isWeightsSource(source: Source | Folder | WeightsSource): source is WeightsSource {
  return typeof source === "object" && source !== null && "weights" in source;
}
