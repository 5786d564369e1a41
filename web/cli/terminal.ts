/** Prints results on stdout and errors on stderr. On a terminal, stderr has a status line too. */

/** Controls, surrogates, line and paragraph separators, and marks that turn a text's direction. */
const UNSHOWN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const numbered = (character: string): string =>
  `\\u${character.codePointAt(0)!.toString(16).padStart(4, "0")}`;

/** Makes text from outside safe: a label can neither forge a line nor control the terminal. */
const plain = (text: string): string => text.replace(UNSHOWN, numbered);

const CLEAR = "\r\x1b[K";

let shown = "";

function show(line: string): void {
  if (!process.stderr.isTTY || line === shown) return;
  process.stderr.write(CLEAR + line);
  shown = line;
}

/** Replaces the status line; an empty one removes it. Without a terminal it does nothing. */
export const status = (line: string): void => show(line);

function above(write: () => void): void {
  const line = shown;
  show("");
  write();
  show(line);
}

/** Prints one or more lines of our own words. */
export const print = (text: string): void => above(() => void process.stdout.write(`${text}\n`));

/** Prints a result on one line, its fields with tabs between them. The fields may hold anything. */
export const printRow = (fields: readonly string[]): void => print(fields.map(plain).join("\t"));

/** JSON for a terminal, in which more characters are escaped than JSON requires. */
const jsonOf = (value: unknown): string => plain(JSON.stringify(value));

/** Prints one JSON document. A list has one line for each element. */
export function printJson(value: unknown): void {
  if (!Array.isArray(value)) return print(jsonOf(value));
  const lines = value.map(jsonOf).join(",\n");
  print(lines ? `[\n${lines}\n]` : "[]");
}

/** Prints one of several JSON documents on a line of its own. */
export const printLine = (value: unknown): void => print(jsonOf(value));

/** Prints an error on a line of its own, above the status line. */
export const complain = (text: string): void =>
  above(() => void process.stderr.write(`vitrine: ${plain(text)}\n`));

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** Shows the progress that Vit.load's onProgress tells. */
export const loading = (loaded: number, total: number): void =>
  status(`model: ${megabytes(loaded)}${total ? ` of ${megabytes(total)}` : ""} MB`);
