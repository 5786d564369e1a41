/**
 * A drawing as short text. The bytes are: the form's number, the strokes, a checksum. A stroke is
 * the number of its points, then x, y and width of each as a difference from the point before.
 * Numbers are varints, in units of GRAIN. Later widths are left out where all widths are equal.
 */
import { GRAIN, ofStroke, PEN, SIDE, type Point, type Stroke } from "./ink.ts";

const FORM = 1;
const CHECK = 4; // bytes
/** The most characters of text, unless the caller allows more. It limits what an address makes the page read. */
const MOST = 16_000;

/** The drawing as text; undefined where it has more than `most` characters. */
export function pack(strokes: Stroke[], most = MOST): string | undefined {
  const bytes = [FORM];
  for (const stroke of strokes) for (const byte of packStroke(stroke)) bytes.push(byte);
  bytes.push(...checkOf(bytes));
  const text = toText(bytes);
  return text.length > most ? undefined : text;
}

/** The drawing of a text; undefined where the text is damaged or no drawing. */
export function unpack(text: string, most = MOST): Stroke[] | undefined {
  if (text.length > most || !/^[\w-]+$/.test(text)) return undefined;
  const all = toBytes(text);
  if (!all || all.length < 1 + CHECK) return undefined;
  const bytes = all.slice(0, -CHECK);
  const intact = checkOf(bytes).every((byte, index) => byte === all[bytes.length + index]);
  return intact && bytes[0] === FORM ? unpackStrokes(bytes) : undefined;
}

const grains = ({ x, y, width }: Point) => [x, y, width].map((value) => Math.round(value / GRAIN));

const packStroke = ofStroke((stroke) => {
  const bytes: number[] = [];
  const points = stroke.map(grains);
  const varies = points.some(([, , width]) => width !== points[0][2]);
  put(bytes, stroke.length * 2 + Number(varies));
  let before = [0, 0, 0];
  points.forEach((point, index) => {
    const count = varies || index === 0 ? 3 : 2;
    for (let i = 0; i < count; i++) put(bytes, zigzag(point[i] - before[i]));
    before = point;
  });
  return bytes;
});

function unpackStrokes(bytes: number[]): Stroke[] | undefined {
  const strokes: Stroke[] = [];
  const reader = { bytes, at: 1 };
  while (reader.at < bytes.length) {
    const head = take(reader);
    const [length, varies] = [head >> 1, head & 1];
    if (!(length > 0 && length < bytes.length)) return undefined;
    const stroke: Stroke = [];
    const now = [0, 0, 0];
    for (let point = 0; point < length; point++) {
      const count = varies || point === 0 ? 3 : 2;
      for (let i = 0; i < count; i++) now[i] += unzigzag(take(reader));
      const [x, y, width] = now.map((value) => value * GRAIN);
      if (!plausible(x, y, width)) return undefined; // also NaN, where the bytes have ended
      stroke.push({ x, y, width });
    }
    strokes.push(stroke);
  }
  return strokes.length > 0 ? strokes : undefined;
}

/** A captured pointer can draw beyond the pad, but not much further than a screen. */
const plausible = (x: number, y: number, width: number) =>
  Math.abs(x) < 40 * SIDE && Math.abs(y) < 40 * SIDE && width > 0 && width <= 4 * PEN;

// ---- Numbers and bytes ------------------------------------------------------

const zigzag = (value: number) => (value < 0 ? -2 * value - 1 : 2 * value);
const unzigzag = (value: number) => (value % 2 ? -(value + 1) / 2 : value / 2);

/** Seven bits a byte, the lowest first. The eighth bit says that more bytes follow. */
function put(bytes: number[], value: number): void {
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  bytes.push(value);
}

/** The next number; NaN where no bytes are left. */
function take(reader: { bytes: number[]; at: number }): number {
  let value = 0;
  for (let unit = 1; unit <= 128 ** 3; unit *= 128) {
    const byte = reader.bytes[reader.at++] ?? NaN;
    value += (byte % 128) * unit;
    if (!(byte > 127)) return value;
  }
  return NaN;
}

/** FNV-1a. */
function checkOf(bytes: number[]): number[] {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return [hash & 255, (hash >> 8) & 255, (hash >> 16) & 255, hash >>> 24];
}

/** Bytes as base64 in the alphabet for addresses. */
function toText(bytes: number[]): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function toBytes(text: string): number[] | undefined {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Array.from(binary, (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}
