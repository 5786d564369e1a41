/** The languages that the model writes numbers in, by the tokens that its texts begin with. */
import type { ReadResult } from "vitrine";

/** Names are the languages' own, so that the page's language does not change them. `tag`: a text's `lang`, for screen readers. */
export const LANGUAGES = {
  digits: { name: "1 2 3", tag: "" },
  en: { name: "English", tag: "en" },
  de: { name: "Deutsch", tag: "de" },
  fr: { name: "Français", tag: "fr" },
  sr: { name: "Srpski", tag: "sr-Latn" },
  zh: { name: "中文", tag: "zh-Hans" },
} as const;

export type Language = keyof typeof LANGUAGES;

export const CHOICES = (Object.keys(LANGUAGES) as Language[]).map((code) => [code, LANGUAGES[code].name] as const);

export const isLanguage = (code: string): code is Language => Object.hasOwn(LANGUAGES, code);
/** What the model writes where it sees no number. */
const NONE = "?";

/** A part of a written text, from one token or from several of which only the first has letters. */
export interface Word {
  text: string;
  token: number; // its place in the text
}

/** The tokens that say something. A space or a hyphen belongs to the word before it. */
export function wordsOf({ tokens }: Pick<ReadResult, "tokens">): Word[] {
  const words: Word[] = [];
  tokens.forEach(({ text }, token) => {
    if (/[\p{L}\p{N}]/u.test(text)) words.push({ text, token });
    else if (words.length > 0) words.at(-1)!.text += text;
  });
  return words;
}

export const seesNone = ({ tokens }: Pick<ReadResult, "tokens">): boolean => tokens[0]?.text.trim() === NONE;
