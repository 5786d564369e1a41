/** Finds the weights, the config and the `prepare` in what a call of load gives. */
import { takeOptions, VitError } from "../errors.js";
import { impostorsBundle, missing } from "./bundles.js";
import { type Beside, type Checkpoint, fileAt, type Folder, locationOf } from "./location.js";
import { provided } from "./provided.js";
import { copyConfig, readConfig, textOf, toJson, type WeightsSource } from "./read-config.js";
import { type Fetch, isMissing, type Opener, reopenable, type Source } from "./source.js";

/** @internal The parts that a model is loaded from. */
export interface LoadSource {
  /** A source that can be opened again. */
  readonly weights: Source | Opener;
  /** A config as JSON that replaces the file's own. Whoever awaits it gets its rejection. */
  readonly config: Promise<string | undefined>;
  /** JSON that replaces the config's own `prepare`. */
  readonly prepare: string | undefined;
  /** Whether it is a folder, which a library wrote. */
  readonly isFolder: boolean;
  /** The configs in their own words, for what {@link config} leaves out: the folder's, and the caller's as JSON. */
  readonly configs: readonly [folder: Checkpoint["config"], caller: Promise<string> | undefined];
  /** The other files of a folder. */
  readonly beside: Beside | undefined;
  /** The error, with advice if the files may be elsewhere. */
  withAdvice(error: unknown): Promise<unknown>;
}

/** @internal Everything that the caller may change later is copied before the first wait. */
export async function resolveSource(
  call: string,
  source: Source | Folder | WeightsSource,
  signal: AbortSignal | undefined,
  by: Fetch | undefined,
): Promise<LoadSource> {
  const parts: WeightsSource = isWeightsSource(source)
    ? takeOptions(call, source, ["weights", "config", "prepare"])
    : { weights: source };
  const location = locationOf(parts.weights);
  const callerConfig = parts.config == null ? undefined : copyConfig(parts.config, by);
  const prepare = parts.prepare == null ? undefined : toJson("prepare", parts.prepare);
  const file = location === undefined ? reopenable(parts.weights as Source, by) : await fileAt(location, signal, by);
  const folder = file === undefined ? await (await folderBundle()).openFolder(location!, signal, by) : undefined;
  const text = callerConfig && textOf(callerConfig, signal);
  const config = readConfig(text, folder, prepare !== undefined);
  config.catch(() => {}); // whoever awaits it gets the error
  const withAdvice = async (error: unknown) => {
    if (!isMissing(error) || location === undefined || Array.isArray(location)) return error;
    const advice = (await impostorsBundle())?.hubAdvice(String(location)) ?? "";
    return advice ? new VitError(error.code, error.message + advice, { cause: error.cause }) : error;
  };
  return { weights: folder?.weights ?? file!, config, prepare, isFolder: folder !== undefined, configs: [folder?.config, text], beside: folder?.beside, withAdvice };
}

/** Opens folders. It is not in bundles.ts, which this bundle needs itself. */
const folderBundle = async () => provided.all?.folder ?? import("./folder.js").catch(missing("folder.js"));

/** @internal */
export function isWeightsSource(source: Source | Folder | WeightsSource): source is WeightsSource {
  return typeof source === "object" && source !== null && "weights" in source;
}
