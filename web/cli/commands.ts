/** The command `vitrine`: the library's functions on image files. */
import { readFileSync } from "node:fs";
import { VitError } from "vitrine";
import { reason } from "../errors.ts";
import { attention } from "./attention.ts";
import { calibrate } from "./calibrate.ts";
import { classify } from "./classify.ts";
import { type Base, type Command, modelOptions, reportAssumed, withModel } from "./command.ts";
import { detect } from "./detect.ts";
import { embed } from "./embed.ts";
import { evaluate } from "./eval.ts";
import { filesOf } from "./files.ts";
import { find } from "./find.ts";
import { identify } from "./identify.ts";
import { index } from "./index-photos.ts";
import { info } from "./info.ts";
import { Interrupted, Signals } from "./interrupt.ts";
import { listOptions, readOptions, shardOf, UsageError } from "./options.ts";
import { dropUnfinished } from "./output.ts";
import { Photos } from "./photos.ts";
import { quantize } from "./quantize.ts";
import { read } from "./read.ts";
import { type Host, Terminal } from "./terminal.ts";
import { train } from "./train.ts";

const EXIT = { fine: 0, failed: 1, usage: 2 };

const COMMANDS: Readonly<Record<string, Command>> = { classify, detect, read, embed, attention, index, find, info, identify, train, eval: evaluate, calibrate, quantize };

const PHOTOS = "PHOTO is a PNG, JPEG, WebP, TIFF, GIF or AVIF, a folder of them, or - for standard input";

const overview = (): string => {
  const rows = Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`);
  const each = "vitrine COMMAND --help lists a command's options; vitrine --version prints the version";
  return `vitrine COMMAND [options] PHOTO …\n        find [options] PHOTO or WORDS\n        info [options] MODEL\n        identify|train|eval|calibrate|quantize [options]\n\n${rows.join("\n")}\n\n${PHOTOS}\n${each}`;
};

const help = (name: string, { about, operand, options }: Command): string =>
  `${`vitrine ${name} [options] ${operand}`.trim()}\n\n${about}\n\n${listOptions(options)}`;

/** The path is seen from dist/commands.js. */
function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

const exitCode = (succeeded: boolean): number => (succeeded ? EXIT.fine : EXIT.failed);

async function run([name, ...args]: readonly string[], base: Base): Promise<number> {
  const { terminal } = base;
  const say = (text: string): number => {
    terminal.print(text);
    return EXIT.fine;
  };
  if (name === "--version" || name === "-v") return say(version());
  if (name === "help" && args[0] !== undefined) return run([args[0], "--help"], base);
  if (name === "--help" || name === "-h" || name === "help") return say(overview());
  if (name === undefined || !Object.hasOwn(COMMANDS, name)) {
    const got = name === undefined ? "none" : `"${name}"`;
    const known = Object.keys(COMMANDS).join(", ");
    throw new UsageError(`command: expected one of ${known}, got ${got}; see vitrine --help`);
  }
  const command = COMMANDS[name]!;
  const { values, files } = readOptions(name, command.options, args);
  if (values["help"]) return say(help(name, command));
  if (command.operand === "") {
    if (files.length > 0) throw new UsageError(`operands: expected none, got "${files[0]}"; see vitrine ${name} --help`);
    return exitCode(await command.plan(values)(base));
  }
  if (command.operand === "MODEL") {
    const work = command.plan(values, files);
    const opening = withModel(modelOptions(values, files[0]), terminal, ({ vit }) => work({ ...base, vit }));
    return exitCode(await opening.catch((error: unknown) => {
      if (error instanceof VitError) command.refused(values, error, terminal);
      throw error;
    }));
  }
  if (command.operand === "PHOTO or WORDS") {
    if (files.length !== 1) throw new UsageError(`operands: expected one photo, or words in quotes, got ${files.length || "none"}; see vitrine ${name} --help`);
    const work = command.plan(values, files[0]!);
    return exitCode(await withModel(modelOptions(values), terminal, ({ vit }) => work({ ...base, vit })));
  }
  const plain = command.plain?.(values, files);
  if (plain) return exitCode(await plain(base));
  if (files.length === 0) {
    throw new UsageError(`photos: expected at least one file, got none; see vitrine ${name} --help`);
  }
  const all = shardOf(values, await filesOf(files));
  const work = command.plan(values, all);
  const photos = await Photos.load(terminal.stdin);
  return exitCode(await withModel(modelOptions(values, undefined, all.length), terminal, ({ vit }) => {
    reportAssumed(vit, terminal);
    return work({ ...base, vit, photos });
  }));
}

/**
 * Runs the command with its arguments. Returns the exit code. Calls `host.exit` only if nothing
 * else can be done: at a signal while no work can stop cleanly, and after stdout was closed.
 */
export async function command(args: readonly string[], host: Host): Promise<number> {
  const terminal = new Terminal(host);
  const endAt = (code: number): void => {
    dropUnfinished();
    terminal.status("");
    host.exit(code);
  };
  const signals = new Signals(host, endAt);
  host.stdout.on("error", () => endAt(EXIT.failed)); // `| head` closes the pipe, for example
  try {
    return await run(args, { terminal, signals });
  } catch (error) {
    terminal.complain(reason(error));
    if (error instanceof Interrupted) return error.code;
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  } finally {
    terminal.status("");
  }
}
