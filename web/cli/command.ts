import { availableParallelism } from "node:os";
import { type LoadOptions, Vit, VitError, type WeightsSource } from "vitrine";
import type { Signals } from "./interrupt.ts";
import { type Options, oneOf, textOf, type Values, whole } from "./options.ts";
import { type Photos, type PhotoResult, withoutName } from "./photos.ts";
import type { Terminal } from "./terminal.ts";

/** What every command works with. */
export interface Base {
  readonly terminal: Terminal;
  readonly signals: Signals;
}

/** With the model and the photo decoder. */
export interface Tools extends Base {
  readonly vit: Vit;
  readonly photos: Photos;
}

/** Resolves to true if every photo succeeded. Throws on an error that ends the whole command. */
export type Work<Context> = (tools: Context) => Promise<boolean>;

interface Description {
  readonly about: string;
  readonly options: Options;
}

/** A command on photos. `plan` refuses a wrong command line before anything is loaded. */
export interface PhotoCommand extends Description {
  readonly operand: "PHOTO …";
  plan(values: Values, files: readonly string[]): Work<Tools>;
  /** The work of a command line that needs neither model nor photos. */
  plain?(values: Values, operands: readonly string[]): Work<Base> | undefined;
}

/** A command that asks the model for what its operand shows or says. */
export interface QueryCommand extends Description {
  readonly operand: "PHOTO or WORDS";
  plan(values: Values, query: string): Work<Omit<Tools, "photos">>;
}

/** A command whose operand is the model itself. */
export interface ModelCommand extends Description {
  readonly operand: "MODEL";
  plan(values: Values, operands: readonly string[]): Work<Omit<Tools, "photos">>;
  /** Says more about a file that did not load than its error does. */
  refused(values: Values, error: VitError, terminal: Terminal): void;
}

/** A command that has only options. */
export interface PlainCommand extends Description {
  readonly operand: "";
  plan(values: Values): Work<Base>;
}

export type Command = PhotoCommand | QueryCommand | ModelCommand | PlainCommand;

const VARIANTS = ["auto", "relaxed", "simd128", "scalar"] as const;

/** The path is seen from dist/commands.js. */
const DIGITS = new URL("../weights/digits.safetensors", import.meta.url);

/** Where the model's weights are. */
export const weightsOf = (values: Values): string | URL => textOf(values, "model") ?? DIGITS;

/**
 * The model's source and its load options. It runs in a worker, so that Ctrl-C works meanwhile.
 *
 * @param named the model, if it is the command's operand.
 * @param photos the number of photos. Several photos use all cores, and so does training.
 */
export function modelOptions(
  values: Values,
  named?: string,
  photos = 1,
): { source: string | URL | WeightsSource; options: LoadOptions } {
  const variant = oneOf("--variant", textOf(values, "variant") ?? "auto", VARIANTS);
  const several = photos > 1 && variant !== "scalar"; // scalar runs on one thread
  const threads = textOf(values, "threads") ?? String(several ? availableParallelism() : 1);
  const options = { worker: true, threads: whole("--threads", threads, 1), variant };
  const weights = named ?? weightsOf(values);
  const config = textOf(values, "config");
  return { source: config === undefined ? weights : { weights, config }, options };
}

/** Warns of config keys that were guessed. */
export function reportAssumed({ assumed, config }: Vit, terminal: Terminal): void {
  if (assumed.length === 0) return;
  const all = assumed.map((key) => (key in config ? `${key}: ${JSON.stringify(config[key])}` : key));
  terminal.complain(`assumed ${all.join(", ")}, because the files do not say; set it with --config`);
}

/** Loads a model, runs `work` with it and disposes of it. */
export async function withModel(
  { source, options }: ReturnType<typeof modelOptions>,
  { loading }: Terminal,
  work: Work<{ readonly vit: Vit }>,
): Promise<boolean> {
  const vit = await Vit.load(source, { ...options, onProgress: loading });
  try {
    return await work({ vit });
  } finally {
    vit.dispose();
  }
}

/** Whether a command line wants JSON, and then whether a line for each photo. */
export function jsonOf(values: Values): { readonly json: boolean; readonly lines: boolean } {
  const lines = values["ndjson"] === true;
  return { lines, json: lines || values["json"] === true };
}

/** Reports on each photo, in JSON or by `print`. Resolves to true if every photo succeeded. */
export async function reportEach<Report extends { readonly file: string; readonly error?: string }>(
  { photos, terminal }: Tools,
  files: readonly string[],
  { json, lines }: ReturnType<typeof jsonOf>,
  look: (read: Extract<PhotoResult, { photo: unknown }>, index: number) => Promise<Report>,
  print: (report: Report) => void = () => {},
): Promise<boolean> {
  const reports: (Report | { readonly file: string; readonly error: string })[] = [];
  for await (const group of photos.groups(files)) {
    for (const read of group) {
      terminal.status(`${reports.length}/${files.length} photos`);
      const report = "error" in read ? read : await look(read, reports.length)
        .catch((error: unknown) => ({ file: read.file, error: withoutName(refusal(error)) }));
      if (report.error !== undefined) terminal.complain(`${report.file}: ${report.error}`);
      else if (!json) print(report as Report);
      if (lines) terminal.printLine(report);
      reports.push(report);
    }
  }
  if (json && !lines) terminal.printJson(reports);
  return reports.every(({ error }) => error === undefined);
}

/** Returns the error of a photo that the model refuses. Throws any other; that ends the command. */
export function refusal(error: unknown): VitError {
  if (error instanceof VitError && /^(bad|blank)_image$/.test(error.code)) return error;
  throw error;
}
