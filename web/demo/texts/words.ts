/** The words and numbers of the page in the language that is shown: English at first. */
import type { Texts } from "./en.ts";
import { opening } from "./en-opening.ts";

/** A language may lack whole blocks, which then stay English. */
export type Translation = Partial<Texts>;

/** What the page's scripts say. Read it anew for each text, because the language may change. */
export let words = opening;

let chosen: Translation = {};
let tag = "en";
const formats = new Map<string, Intl.NumberFormat>();

/** Changes the language. The tag, such as "sr-Latn", tells how it writes numbers. */
export function speak(translation: Translation, itsTag: string): void {
  chosen = translation;
  words = { ...opening, ...translation };
  tag = itsTag;
  formats.clear();
}

const listeners: (() => void)[] = [];

/** Calls `changed` whenever the language has changed and the HTML's texts are replaced. */
export const onLanguage = (changed: () => void): void => void listeners.push(changed);

export function tellLanguage(): void {
  for (const listener of listeners) listener();
}

/** All texts of the page and the story. Blocks that the language lacks are English. */
export const inLanguage = (english: Texts): Texts => ({ ...english, ...chosen });

function format(value: number, digits: number, style: "decimal" | "percent"): string {
  const key = `${style} ${digits}`;
  let made = formats.get(key);
  if (!made) {
    const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
    formats.set(key, (made = new Intl.NumberFormat(tag, { style, ...fixed })));
  }
  return made.format(value);
}

/** A number with this many decimals: 1.25 → "1.3", or "1,3" in German. */
export const decimal = (value: number, digits: number): string =>
  tag === "en" ? value.toFixed(digits) : format(value, digits, "decimal");

/** A share with this many decimals: 0.988 → "98.8 %". English has a space as all our texts have. */
export const percentage = (share: number, digits: number): string =>
  tag === "en" ? `${(share * 100).toFixed(digits)} %` : format(share, digits, "percent");
