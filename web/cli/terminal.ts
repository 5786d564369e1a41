/** Prints results on stdout and errors on stderr. On a terminal, stderr has a status line too. */

/** What the command takes from its process. */
export type Host = Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "on" | "exit">;

/** Controls, surrogates, line and paragraph separators, and marks that turn a text's direction. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const numbered = (character: string): string =>
  `\\u${character.codePointAt(0)!.toString(16).padStart(4, "0")}`;

/** Makes text from outside safe: a label can neither forge a line nor control the terminal. */
const plain = (text: string): string => text.replace(UNPRINTABLE, numbered);

/** JSON for a terminal, in which more characters are escaped than JSON requires. */
const jsonOf = (value: unknown): string => plain(JSON.stringify(value));

/** Four places as C's printf writes them: of two that are equally near, the even one. */
export function fixed(value: number): string {
  const isTie = Number.isInteger(value * 32) && Math.abs((value * 1e4) % 1) === 0.5;
  return (isTie ? (2 * Math.round((value * 1e4) / 2)) / 1e4 : value).toFixed(4);
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

const CLEAR = "\r\x1b[K";

export class Terminal {
  readonly #host: Host;
  #statusLine = "";

  constructor(host: Host) {
    this.#host = host;
  }

  get stdin(): Host["stdin"] {
    return this.#host.stdin;
  }

  /** Replaces the status line; an empty one removes it. Without a terminal it does nothing. */
  status(line: string): void {
    const { stderr } = this.#host;
    if (!stderr.isTTY || line === this.#statusLine) return;
    stderr.write(CLEAR + line);
    this.#statusLine = line;
  }

  /** Prints one or more lines of our own words. */
  print(text: string): void {
    this.#above("stdout", text);
  }

  /** Prints a result on one line, its fields with tabs between them. The fields may hold anything. */
  printRow(fields: readonly string[]): void {
    this.print(fields.map(plain).join("\t"));
  }

  /** Prints one JSON document. A list has one line for each element. */
  printJson(value: unknown): void {
    if (!Array.isArray(value)) return this.print(jsonOf(value));
    const lines = value.map(jsonOf).join(",\n");
    this.print(lines ? `[\n${lines}\n]` : "[]");
  }

  /** Prints one of several JSON documents on a line of its own. */
  printLine(value: unknown): void {
    this.print(jsonOf(value));
  }

  /** Prints an error on a line of its own, above the status line. */
  complain(text: string): void {
    this.#above("stderr", `vitrine: ${plain(text)}`);
  }

  /** Shows the progress of Vit.load, as its onProgress. */
  readonly loading = (loaded: number, total: number): void =>
    this.status(`model: ${megabytes(loaded)}${total ? ` of ${megabytes(total)}` : ""} MB`);

  #above(stream: "stdout" | "stderr", text: string): void {
    const line = this.#statusLine;
    this.status("");
    this.#host[stream].write(`${text}\n`);
    this.status(line);
  }
}
