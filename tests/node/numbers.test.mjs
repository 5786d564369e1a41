// How numbers are written in words.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { LANGUAGES, TOKENS, VOCABULARY, WRITE, textOf, tokensOf } from "../../weights/tools/number-words.mjs";

const NUMBERS = Array.from({ length: 10_000 }, (_, n) => n);

/** Of all texts, by ICU: tests/golden/number_words.py. */
const BY_ICU = {
  en: "26e7c5353b6935eb1537ae88221a52cdf91c24b48f24a28efa5e565c84ee065a",
  de: "4861edde14877493b292badba6d98aeb9829d79c23326ca80b95409461bf2b3e",
  fr: "5ac4abc9d653cdbc3fecd2aaf553438d8cb6359c7d115963e434d20a3f1d175d",
  sr: "67925d41ab42b88f0e2f771746a14eac3bb444bb0c9c5ce88a2bba061368c311",
  zh: "1dd0f33972b655dc4af15420cf777971032c0600b767e726270e516e451c15ba",
};

test("all numbers from 0 to 9999 are spelled as ICU spells them", () => {
  for (const [language, hash] of Object.entries(BY_ICU)) {
    const texts = NUMBERS.map((n) => textOf(n, language)).join("\n");
    assert.equal(createHash("sha256").update(texts).digest("hex"), hash, language);
  }
  assert.deepEqual(NUMBERS.map((n) => textOf(n, "digits")), NUMBERS.map(String));
});

test("what grammars are known for", () => {
  const cases = [
    ["de", 4321, "viertausenddreihunderteinundzwanzig"], ["de", 1101, "eintausendeinhunderteins"], ["en", 2042, "two thousand forty-two"],
    ["fr", 71, "soixante et onze"], ["fr", 80, "quatre-vingts"], ["fr", 2281, "deux mille deux cent quatre-vingt-un"], ["fr", 1200, "mille deux cents"],
    ["fr", 91, "quatre-vingt-onze"], ["sr", 1001, "hiljadu jedan"], ["sr", 2602, "dve hiljade šeststo dva"], ["sr", 5000, "pet hiljada"],
    ["zh", 15, "十五"], ["zh", 115, "一百一十五"], ["zh", 2022, "两千零二十二"], ["zh", 1010, "一千零一十"], ["zh", 222, "二百二十二"],
  ];
  for (const [language, number, text] of cases) assert.equal(textOf(number, language), text);
});

test("texts are rows of tokens: a language, pieces, an end; there are at most 256 pieces", () => {
  assert.ok(VOCABULARY.length <= 256, String(VOCABULARY.length));
  const longest = Math.max(...LANGUAGES.flatMap((language) => NUMBERS.map((n) => WRITE[language](n).length)));
  assert.equal(longest + 2, TOKENS);
  const words = (row) => row.map((id) => VOCABULARY[id]);
  assert.deepEqual(words(tokensOf(21, "de")), ["de", "ein", "und", "zwanzig", "<end>", ...Array(4).fill("<padding>")]);
  assert.deepEqual(words(tokensOf(null, "zh")).slice(0, 3), ["zh", "?", "<end>"]);
});
