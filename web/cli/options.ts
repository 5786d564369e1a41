import { parseArgs } from "node:util";
import { reason } from "../errors.ts";

/** A wrong command line. The exit code is 2. */
export class UsageError extends Error {}

export interface Option {
  /** The name of the option's value in the help. An option without it is a flag. */
  readonly value?: string;
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The options that a command line gave: a text, or true for a flag. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** The options that all commands share. A command may describe them in its own words. */
const COMMON: Options = {
  model: {
    value: "MODEL",
    help: "a .safetensors, .pt, .pth or .bin file, a checkpoint's folder, or an address; the digits by default",
  },
  config: {
    value: "JSON",
    help: 'config keys, as text or a file, such as {"heads": 3}, over those of a folder, in place of those in a file',
  },
  threads: { value: "N", help: "the number of threads; by default 1, or all cores for several photos" },
  variant: { value: "NAME", help: "the build that runs: auto, relaxed, simd128 or scalar" },
  json: { help: "print one JSON document" },
  ndjson: { help: "print one JSON line per photo, as soon as it is ready" },
  help: { help: "print this" },
};

const optionsOf = (own: Options): Options => ({ ...own, ...COMMON, ...own });

const SHORT: Readonly<Record<string, string>> = { help: "h", model: "m", out: "o" };

export function readOptions(
  command: string,
  own: Options,
  args: readonly string[],
): { values: Values; files: readonly string[] } {
  const options = Object.entries(optionsOf(own)).map(([name, { value }]) => {
    const short = SHORT[name];
    return [name, { type: value ? "string" : "boolean", ...(short && { short }) } as const] as const;
  });
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: Object.fromEntries(options),
      allowPositionals: true,
    });
    return { values: values as Values, files: positionals };
  } catch (error) {
    const [what] = reason(error).split(/\.\s/); // without the advice that Node adds
    throw new UsageError(`${what}; see vitrine ${command} --help`);
  }
}

/** The help of the options, one line each. */
export function listOptions(own: Options): string {
  const rows = Object.entries(optionsOf(own)).map(([name, { value, help }]) => {
    const short = SHORT[name] ? `-${SHORT[name]}, ` : "    ";
    return [`${short}--${name}${value ? ` ${value}` : ""}`, help] as const;
  });
  const widest = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, help]) => `  ${left.padEnd(widest)}  ${help}`).join("\n");
}

export const textOf = (values: Values, name: string): string | undefined =>
  values[name] as string | undefined;

/** A whole number from `least`, up to `most`. */
export function whole(name: string, text: string, least: number, most = Infinity): number {
  const number = /^\d+$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  const range = most === Infinity ? `from ${least}` : `from ${least} to ${most}`;
  throw new UsageError(`${name}: expected a whole number ${range}, got "${text}"`);
}

/** The option of the commands that run a model on photos. */
export const SIZE_OPTION: Options = {
  size: { value: "SIDE", help: "the size of the model's image in pixels, such as 448, or rows and columns, such as 448x336" },
};

/** The size that {@link SIZE_OPTION} gives, as an option of the library. */
export function sizeOf(values: Values): { size?: readonly [rows: number, columns: number] } {
  const text = textOf(values, "size");
  if (text === undefined) return {};
  const [rows, columns = rows, ...more] = text.split("x");
  if (more.length > 0) throw new UsageError(`--size: expected one side or ROWSxCOLUMNS, got "${text}"`);
  return { size: [whole("--size", rows!, 1), whole("--size", columns!, 1)] };
}

/** The option of the commands that may share their photos with other machines. */
export const SHARD_OPTION: Options = {
  shard: { value: "I/N", help: "take the I-th of N parts of the photos, such as 3/16: each machine takes another" },
};

/** The part of the files that {@link SHARD_OPTION} names. The parts in their order are the files in theirs. */
export function shardOf(values: Values, files: readonly string[]): readonly string[] {
  const text = textOf(values, "shard");
  if (text === undefined) return files;
  const [part = 0, parts = 0] = /^\d+\/\d+$/.test(text) ? text.split("/").map(Number) : [];
  if (!(part >= 1 && part <= parts)) throw new UsageError(`--shard: expected I/N, I from 1 to N, got "${text}"`);
  if (parts > files.length) throw new UsageError(`--shard: expected at most as many parts as photos, ${files.length}, got "${text}"`);
  const start = (before: number) => Math.floor((before * files.length) / parts);
  return files.slice(start(part - 1), start(part));
}

/** A number from `least` to `most`, such as 0.1. */
export function decimal(name: string, text: string, least: number, most: number): number {
  const number = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${name}: expected a number from ${least} to ${most}, got "${text}"`);
}

export function oneOf<Word extends string>(
  name: string,
  text: string,
  words: readonly Word[],
): Word {
  const word = words.find((one) => one === text);
  if (word !== undefined) return word;
  throw new UsageError(`${name}: expected one of ${words.join(", ")}, got "${text}"`);
}
