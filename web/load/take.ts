/** Copies and opens the source of weights that a call gives. */
import { takeOptions } from "../errors.js";
import { type Folder, isFolder, openFolder, placeOf } from "./folder.js";
import { readConfig, takeConfig, toJson, type WeightsSource } from "./given.js";
import { lasting, type Opener, type Source } from "./source.js";

/** @internal Weights, and what is given apart from them. */
export interface Taken {
  /** A source that can be opened again. */
  readonly weights: Source | Opener;
  /** A config as JSON that replaces the file's own. Rejections are for who awaits it. */
  readonly config: Promise<string | undefined>;
  /** JSON that replaces the config's own `prepare`. */
  readonly prepare: string | undefined;
}

/** @internal Everything that the caller may change later is copied before the first wait. */
export async function takeSource(
  call: string,
  source: Source | Folder | WeightsSource,
  signal: AbortSignal | undefined,
): Promise<Taken> {
  const parts: WeightsSource = isWeightsSource(source)
    ? takeOptions(call, source, ["weights", "config", "prepare"])
    : { weights: source };
  const place = placeOf(parts.weights);
  const apart = parts.config == null ? undefined : takeConfig(parts.config);
  const prepare = parts.prepare == null ? undefined : toJson("prepare", parts.prepare);
  const direct = place === undefined ? lasting(parts.weights as Source) : undefined;
  const inFolder = place !== undefined && (await isFolder(place));
  const folder = inFolder ? await openFolder(place, signal) : undefined;
  const config = readConfig(apart, signal, folder, prepare !== undefined);
  config.catch(() => {}); // who awaits it has the error
  return { weights: folder?.weights ?? direct ?? (place as string | URL), config, prepare };
}

function isWeightsSource(source: Source | Folder | WeightsSource): source is WeightsSource {
  return typeof source === "object" && source !== null && "weights" in source;
}
