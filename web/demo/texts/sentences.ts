/**
 * Texts as data. In a sentence, `{name}` is the place of a value; `{count|digit|digits}` is that of
 * the word that fits the number `count`: a form for each of the language's plural categories in
 * Unicode's order (CLDR; in English one and other).
 */
import { type Sentences, tag, sentences, whole } from "./words.ts";

/** The names of the values that a sentence has places for. */
type Placeholders<Text extends string> = Text extends `${string}{${infer Placeholder}}${infer Rest}`
  ? (Placeholder extends `${infer Name}|${string}` ? Name : Placeholder) | Placeholders<Rest>
  : never;

/** Sentences in the page's language. One with places is a function of its values; numbers are whole. */
export type Messages<Texts> = {
  readonly [Key in keyof Texts]: Texts[Key] extends string
    ? [Placeholders<Texts[Key]>] extends [never] ? string : (values: Record<Placeholders<Texts[Key]>, string | number>) => string
    : Messages<Texts[Key]>;
};

/** The sentences of the story or of a chapter, in the page's language. `Texts` is its English. */
export const sentencesOf = <Texts>(id: string): Messages<Texts> => inThisLanguage(sentences[id]!) as Messages<Texts>;

export const inThisLanguage = <Texts extends Sentences>(texts: Texts): Messages<Texts> =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, typeof text === "string" ? toMessage(text) : inThisLanguage(text)])) as Messages<Texts>;

const PLACEHOLDER = /\{(\w+)(?:\|([^}]*))?\}/g;

function toMessage(text: string): string | ((values: Record<string, string | number>) => string) {
  if (!text.includes("{")) return text;
  const rules = new Intl.PluralRules(tag);
  const { pluralCategories } = rules.resolvedOptions();
  const order = ORDER.filter((category) => pluralCategories.includes(category));
  return (values) => text.replaceAll(PLACEHOLDER, (_, name: string, forms?: string) => {
    const value = values[name]!;
    if (forms !== undefined) return formOf(forms.split("|"), order.indexOf(rules.select(Number(value))));
    return typeof value === "number" ? whole(value) : value;
  });
}

const ORDER: readonly Intl.LDMLPluralRule[] = ["zero", "one", "two", "few", "many", "other"];

/** Where a language writes fewer forms than it has categories, the last one is for the rest. */
const formOf = (forms: string[], category: number): string => forms[Math.min(category, forms.length - 1)]!;
