/**
 * Texts as data. In a sentence, `{name}` is the place of a value; `{count|digit|digits}` is that of
 * the word that fits the number `count`: a form for each of the language's plural categories in
 * Unicode's order (CLDR; in English one and other).
 */

/** Sentences by their keys. */
export interface Sentences {
  readonly [key: string]: string | Sentences;
}

/** The names of the values that a sentence has places for. */
type Placeholders<Text extends string> = Text extends `${string}{${infer Placeholder}}${infer Rest}`
  ? (Placeholder extends `${infer Name}|${string}` ? Name : Placeholder) | Placeholders<Rest>
  : never;

/** Sentences in a language. One with places is a function of its values; numbers are whole. */
export type Messages<Texts> = {
  readonly [Key in keyof Texts]: Texts[Key] extends string
    ? [Placeholders<Texts[Key]>] extends [never] ? string : (values: Record<Placeholders<Texts[Key]>, string | number>) => string
    : Messages<Texts[Key]>;
};

const PLACEHOLDER = /\{(\w+)(?:\|([^}]*))?\}/g;
const ORDER: readonly Intl.LDMLPluralRule[] = ["zero", "one", "two", "few", "many", "other"];

/** Returns what makes messages of a language's sentences. `whole` writes a whole number in that language. */
export function messagesIn(tag: string, whole: (value: number) => string) {
  let rules: Intl.PluralRules | undefined;
  /** Where a language writes fewer forms than it has categories, the last one is for the rest. */
  const formOf = (forms: string[], count: number): string => {
    rules ??= new Intl.PluralRules(tag);
    const { pluralCategories } = rules.resolvedOptions();
    const order = ORDER.filter((category) => pluralCategories.includes(category));
    return forms[Math.min(order.indexOf(rules.select(count)), forms.length - 1)]!;
  };
  const toMessage = (text: string) => !text.includes("{") ? text : (values: Record<string, string | number>) =>
    text.replace(PLACEHOLDER, (_, name: string, forms?: string) => {
      const value = values[name]!;
      if (forms !== undefined) return formOf(forms.split("|"), Number(value));
      return typeof value === "number" ? whole(value) : value;
    });
  return function toMessages<Texts extends Sentences>(texts: Texts): Messages<Texts> {
    return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, typeof text === "string" ? toMessage(text) : toMessages(text)])) as Messages<Texts>;
  };
}
