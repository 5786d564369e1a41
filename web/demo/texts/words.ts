/** The words and numbers of the page in the language that is shown: English at first. */
import type { texts } from "./en.ts";
import { opening } from "./en-opening.ts";
import { type Messages, messagesIn, type Sentences } from "./sentences.ts";

/** A language's sentences by the ids of their files: see translations.mjs. */
export type Language = Readonly<Record<string, Sentences>>;

/** The language's tag, by which numbers are written. */
export let tag = "en";
const formats = new Map<string, Intl.NumberFormat>();

let language: Language = { page: opening };
let messages: Record<string, unknown> = {};
let toMessages = messagesIn(tag, whole);

/** The messages of a file of sentences, whose English `Texts` is. All but "page" are here once the language's file is. */
export const sentencesOf = <Texts>(id: string): Messages<Texts> => (messages[id] ??= toMessages(language[id]!)) as Messages<Texts>;

/** What the page's scripts say. Read it anew for each text, because the language may change. */
export let words = sentencesOf<typeof opening>("page");

/** The same and what only later parts say. They are here once the language's file is. */
export const allWords = () => words as Messages<typeof texts>;

/** Changes the language. The tag, such as "sr-Latn", tells how it writes numbers. */
export function speak(newLanguage: Language, newTag: string): void {
  language = newLanguage;
  tag = newTag;
  formats.clear();
  messages = {};
  toMessages = messagesIn(tag, whole);
  words = sentencesOf("page");
}

const listeners: (() => void)[] = [];

/** Calls `changed` whenever the language has changed and the HTML's texts are replaced. */
export const onLanguage = (changed: () => void): void => void listeners.push(changed);

export function tellLanguage(): void {
  for (const listener of listeners) listener();
}

function format(value: number, digits: number, style: "decimal" | "percent", useGrouping = false): string {
  const key = `${style} ${digits} ${useGrouping}`;
  let made = formats.get(key);
  if (!made) {
    const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping };
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

/** 0.9876 → "98.8 %"; never "100 %", because no answer is certain. */
export function percent(p: number): string {
  if (p < 0.0005) return percentage(0, 0);
  if (p > 0.9995) return `> ${percentage(0.999, 1)}`;
  return percentage(p, 1);
}

/** The same for what is small: "< 0.1 %" in place of "0 %". */
export const atLeastAThousandth = (p: number): string => (p < 0.001 ? `< ${percentage(0.001, 1)}` : percent(p));

const formatSigned = (value: number, digits: number, plus: string) => {
  const rounded = Number(value.toFixed(digits));
  return (rounded < 0 ? "−" : rounded > 0 ? plus : "") + decimal(Math.abs(value), digits);
};

/** A number of either sign, with a true minus and never "−0.00". */
export const number = (value: number, digits = 2): string => formatSigned(value, digits, "");

/** The same with a plus: "+3.2", "−0.4", "0.0". */
export const signed = (value: number, digits = 1): string => formatSigned(value, digits, "+");

/** A whole number: 10000 → "10,000". */
export function whole(value: number): string {
  return format(value, 0, "decimal", true);
}

/** Two digits of a number that is not negative: 0.0471 → "0.047", 123 → "120". */
export function rough(value: number): string {
  const digits = value > 0 ? Math.max(0, 1 - Math.floor(Math.log10(value))) : 0;
  return decimal(Number(value.toPrecision(2)), digits);
}
