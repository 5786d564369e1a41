/** What a person sees: results on stdout, errors on stderr, and there on a terminal a status line. */

/** Controls, half characters, ends of lines and paragraphs, what turns the direction of text. */
const UNSHOWN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const numbered = (character: string): string =>
  `\\u${character.codePointAt(0)!.toString(16).padStart(4, "0")}`;

/** Text from outside, such as a label or a file's name: it forges no line and steers no terminal. */
const plain = (text: string): string => text.replace(UNSHOWN, numbered);

const CLEAR = "\r\x1b[K";

let shown = "";

function show(line: string): void {
  if (!process.stderr.isTTY || line === shown) return;
  process.stderr.write(CLEAR + line);
  shown = line;
}

/** Replaces the status line; an empty one takes it away. Elsewhere than on a terminal: nothing. */
export const status = (line: string): void => show(line);

function above(write: () => void): void {
  const line = shown;
  show("");
  write();
  show(line);
}

/** Our own words: a line, or several. */
export const print = (text: string): void => above(() => void process.stdout.write(`${text}\n`));

/** A result, a line: its fields, whatever is in them, with a tab between. */
export const printRow = (fields: readonly string[]): void => print(fields.map(plain).join("\t"));

/** What JSON may leave as it is, a terminal need not. */
const jsonOf = (value: unknown): string => plain(JSON.stringify(value));

/** One document; of a list, a line each. */
export function printJson(value: unknown): void {
  if (!Array.isArray(value)) return print(jsonOf(value));
  const lines = value.map(jsonOf).join(",\n");
  print(lines ? `[\n${lines}\n]` : "[]");
}

/** One of several documents, a line each. */
export const printLine = (value: unknown): void => print(jsonOf(value));

/** An error, a line, told while the work goes on or at its end. */
export const complain = (text: string): void =>
  above(() => void process.stderr.write(`vitrine: ${plain(text)}\n`));

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** For Vit.load's onProgress. */
export const loading = (loaded: number, total: number): void =>
  status(`model: ${megabytes(loaded)}${total ? ` of ${megabytes(total)}` : ""} MB`);
