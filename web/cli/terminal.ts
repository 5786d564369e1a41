/** What a person sees: results on stdout, errors on stderr, and there on a terminal a status line. */
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

/** A result: a line, or several. */
export const print = (text: string): void => above(() => void process.stdout.write(`${text}\n`));

/** One document; of a list, a line each. */
export function printJson(value: unknown): void {
  if (!Array.isArray(value)) return print(JSON.stringify(value));
  const lines = value.map((one: unknown) => JSON.stringify(one)).join(",\n");
  print(lines ? `[\n${lines}\n]` : "[]");
}

/** An error, told while the work goes on or at its end. */
export const complain = (text: string): void =>
  above(() => void process.stderr.write(`vitrine: ${text}\n`));

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** For Vit.load's onProgress. */
export const loading = (loaded: number, total: number): void =>
  status(`model: ${megabytes(loaded)}${total ? ` of ${megabytes(total)}` : ""} MB`);
