import { decimal, tag, whole } from "../texts/words.ts";

/** A count in millions. Chinese counts in 万, units of 10,000: 2.3 million is 230 万. The sentence names the unit. */
export function millions(count: number): string {
  const digits = count < 1e7 ? 1 : 0;
  return tag === "zh-Hans" ? whole(Number((count / 1e6).toFixed(digits)) * 100) : decimal(count / 1e6, digits);
}
