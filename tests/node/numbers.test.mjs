// The model that reads numbers, and how numbers are written.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { LANGUAGES, TOKENS, VOCABULARY, WRITE, textOf, tokensOf } from "../../weights/tools/number-words.mjs";
import { distort, glyphOfStrokes } from "../../weights/tools/numbers.mjs";
import { SIGNS, dice, scribble, shape } from "../../weights/tools/shapes.mjs";
import { load, rejects } from "./support.mjs";

const { MORE, OFFERED, SIDE } = await importTypescript("web/train/handwriting.ts");
const model = new URL("../../weights/numbers.safetensors", import.meta.url);

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

test("a distorted drawing stands upright", () => {
  const bar = [[0, 1], [0.5, 1], [1, 1]], stem = [[1, 1], [0.7, 0.5], [0.4, 0]]; // a seven, y up
  const { strokes } = glyphOfStrokes([bar, stem]);
  for (let seed = 1; seed <= 20; seed++) {
    const [top, below] = glyphOfStrokes(distort(strokes, dice(seed))).strokes;
    assert.ok(top.every(([, y]) => y < -0.4), `seed ${seed}: the bar is not at the top`);
    assert.ok(below.at(-1)[1] > 0.3 && below[0][0] > below.at(-1)[0], `seed ${seed}: the stem does not lean to the left`);
  }
});

/** A number in our own handwriting. */
function written(number, hand) {
  const step = 150, digits = [...String(number)];
  const strokes = digits.flatMap((digit, at) => hand.find(({ label }) => label === digit).strokes
    .map((points) => points.map((point) => ({ ...point, x: point.x + step * at }))));
  return { strokes, width: SIDE + step * (digits.length - 1), height: SIDE };
}

test("the model writes numbers as digits and in words of five languages", async () => {
  const vit = await load(model);
  assert.deepEqual(vit.config.decoder.labels, VOCABULARY);
  for (const [number, hand] of [[4321, OFFERED], [8065, OFFERED], [1997, MORE], [2045, MORE], [306, OFFERED], [43, MORE], [7, OFFERED]]) {
    const all = await Promise.all(LANGUAGES.map((start) => vit.read(written(number, hand), { start })));
    assert.deepEqual(all.map(({ text }) => text), LANGUAGES.map((language) => textOf(number, language)));
    for (const { text, p, uncertain } of all) assert.ok(p > 0.9 && !uncertain, `${text}: ${p}`);
  }
  await rejects(() => vit.read({ strokes: [], width: SIDE, height: SIDE }), "blank_image", /ink/);
  await rejects(() => vit.classify(written(7, MORE)), "unsupported", /^classify: this model has no head, so it cannot classify; use read$/);
});

test("signs and scribbles are no numbers", async () => {
  const vit = await load(model), random = dice(9);
  const images = [...SIGNS.map((name) => shape(name, random)), ...Array.from({ length: 19 }, () => scribble(random))];
  const texts = await Promise.all(images.map(async (image) => (await vit.read(image)).text));
  const none = texts.filter((text) => text === "?").length;
  assert.ok(none >= 0.9 * images.length, `${none} of ${images.length}`);
});

test("German looks at the units before the tens", async () => {
  const vit = await load(model), image = written(43, MORE);
  const placesOf = async (start) => {
    const { tokens, attention } = await vit.read(image, { start, attention: true }), [, columns] = attention.grid;
    return Object.fromEntries(tokens.map(({ text }, at) => {
      const looked = attention.fromToken(at), all = looked.reduce((sum, share) => sum + share);
      return [text, looked.reduce((sum, share, patch) => sum + share * (patch % columns), 0) / all];
    }));
  };
  const { drei, vierzig } = await placesOf("de"), { forty, "-three": three } = await placesOf("en");
  assert.ok(vierzig < drei && forty < three, [vierzig, drei, forty, three].join());
});
