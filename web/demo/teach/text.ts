/** Examples as text, for a link and for a model's file: "name.drawing~name.drawing". */
import type { Stroke } from "../ink.ts";
import { pack, unpack } from "../pack.ts";
import { thinned } from "../thin.ts";
import type { LabelledDrawing } from "../../train/handwriting.ts";

const MOST_EXAMPLES = 400;
const LONGEST_NAME = 12;
/** Pad units by which a drawing may change, so that its text is short: a tenth of the pen. */
const THINNING = 1;

/** encodeURIComponent leaves the characters that separate. */
const escapeName = (name: string) => encodeURIComponent(name).replaceAll(".", "%2E").replaceAll("~", "%7E");

/** A sign's name as it is kept: short, on one line. Empty where there is none. */
export const nameOf = (typed: string): string =>
  [...typed.replaceAll(/[\s\p{C}]+/gu, " ").trim()].slice(0, LONGEST_NAME).join("").trim();

export function packExamples(examples: readonly LabelledDrawing[]): string {
  return examples.flatMap(({ label, strokes }) => {
    const packed = pack(strokes.map((stroke) => thinned(stroke, THINNING)));
    return packed ? [`${escapeName(label)}.${packed}`] : [];
  }).join("~");
}

/** The reverse. Undefined where the text is damaged. */
export function unpackExamples(text: string): LabelledDrawing[] | undefined {
  const all = text.split("~", MOST_EXAMPLES + 1).map(readExample);
  return all.length <= MOST_EXAMPLES && all.every((one) => one !== undefined) ? all : undefined;
}

function readExample(text: string): LabelledDrawing | undefined {
  const [name = "", drawing = "", ...more] = text.split(".");
  const strokes: Stroke[] | undefined = more.length === 0 ? unpack(drawing) : undefined;
  try {
    const label = decodeURIComponent(name);
    return strokes && label !== "" && nameOf(label) === label ? { label, strokes } : undefined;
  } catch {
    return undefined; // not what encodeURIComponent writes
  }
}
