/** Text on a canvas, in lines that fit a column. */

interface Type {
  family: string;
  weight?: number;
  size: number;
  width: number; // the column's
  lines: number; // at most
}

interface Lines {
  lines: string[];
  font: string;
  width: number;
  leading: number; // from line to line
}

/** A word with the spaces after it, or a Chinese character with its punctuation. A no-break space is in a word. */
const WORDS = /\p{Script=Han}\p{P}*|[^\p{Script=Han} ]+ *| +/gu;
const LEAST = 12;

/** Breaks a text into lines. Its letters are as large as given, or as small as lines and column need. */
export function fit(context: CanvasRenderingContext2D, text: string, type: Type): Lines {
  const { family, weight = 400, width } = type;
  for (let { size } = type; ; size--) {
    const font = `${weight} ${size}px ${family}`;
    context.font = font;
    const fits = (line: string) => context.measureText(line.trimEnd()).width <= width;
    const lines: string[] = [];
    for (const word of text.replace(/(?<=[<>]) | (?=%)/g, "\u00a0").match(WORDS) ?? []) {
      const last = lines.at(-1);
      if (last !== undefined && fits(last + word)) lines[lines.length - 1] += word;
      else lines.push(word);
    }
    if (size <= LEAST || (lines.length <= type.lines && lines.every(fits)))
      return { lines, font, width, leading: Math.round(1.36 * size) };
  }
}

export const heightOf = ({ lines, leading }: Lines): number => lines.length * leading;

/** Writes lines from their top on; the text's part from `from` up to `to` in the second colour. Returns their bottom. */
export function writeLines(
  context: CanvasRenderingContext2D,
  { lines, font, width, leading }: Lines,
  left: number,
  top: number,
  colours: readonly [plain: string, marked?: string],
  [from, to]: readonly [number, number] = [0, 0],
): number {
  context.font = font;
  let at = 0; // of the line in the text
  lines.forEach((line, row) => {
    let x = left;
    const cuts = [0, from - at, to - at, line.length].map((cut) => Math.min(line.length, Math.max(0, cut)));
    for (const [part, colour] of [colours[0], colours[1] ?? colours[0], colours[0]].entries()) {
      const text = line.slice(cuts[part], cuts[part + 1]);
      context.fillStyle = colour;
      if (text.trim()) context.fillText(text.trimEnd(), x, top + (row + 0.77) * leading, left + width - x);
      x += context.measureText(text).width;
    }
    at += line.length;
  });
  return top + lines.length * leading;
}
