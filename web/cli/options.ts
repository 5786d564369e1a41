import { parseArgs } from "node:util";
import { reason } from "../errors.ts";

/** A command line that asks for what there is not: exit code 2. */
export class UsageError extends Error {}

export interface Option {
  /** What its value is called; an option without one is a flag. */
  readonly value?: string;
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** What a command line gave: a text, or true for a flag. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** What every command takes beside its own. */
const COMMON: Options = {
  model: {
    value: "MODEL",
    help: "a .safetensors, .pt, .pth or .bin file, a checkpoint's folder or an address; our digits by default",
  },
  config: {
    value: "JSON",
    help: 'what the model leaves open, as text or a file, such as {"heads": 3}; laid over its own',
  },
  threads: { value: "N", help: "how many threads share the work; by default 1, for several photos all cores" },
  variant: { value: "NAME", help: "auto, relaxed, simd128 or scalar: the build that runs" },
  json: { help: "print one JSON document" },
  ndjson: { help: "print JSON a line each, as it comes" },
  help: { help: "print this" },
};

const SHORT: Readonly<Record<string, string>> = { help: "h", model: "m", out: "o" };

export function readOptions(
  command: string,
  own: Options,
  args: readonly string[],
): { values: Values; files: readonly string[] } {
  const options = Object.entries({ ...own, ...COMMON }).map(([name, { value }]) => {
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
    const [what] = reason(error).split(/\.\s/); // what Node adds is of no use here
    throw new UsageError(`${what}; see vitrine ${command} --help`);
  }
}

/** The options, a line each. */
export function listOptions(own: Options): string {
  const rows = Object.entries({ ...own, ...COMMON }).map(([name, { value, help }]) => {
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

export function oneOf<Word extends string>(
  name: string,
  text: string,
  words: readonly Word[],
): Word {
  const word = words.find((known) => known === text);
  if (word !== undefined) return word;
  throw new UsageError(`${name}: expected one of ${words.join(", ")}, got "${text}"`);
}
