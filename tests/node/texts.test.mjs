// The story's texts: their places, their plural forms, and what the languages lack of them.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { LANGUAGES, readTranslation, textsOfStory } from "../../web/demo/texts/translations.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";

const { inThisLanguage } = await importTypescript("web/demo/texts/sentences.ts");

const places = (text) => [...new Set([...text.matchAll(/\{(\w+)/g)].map(([, name]) => name))].sort();

/** All sentences of a tree of texts. */
const sentencesOf = (texts) => Object.values(texts).flatMap((text) => (typeof text === "string" ? [text] : sentencesOf(text)));

describe("sentences", () => {
  test("values stand in their places, whole numbers in the language's digits, and a sentence without places is a text", () => {
    const sentences = inThisLanguage({ plain: "no places", two: "{b}, then {a} and {b}", in: { one: "{n} steps" } });
    assert.equal(sentences.plain, "no places");
    assert.equal(sentences.two({ a: "x", b: 2 }), "2, then x and 2");
    assert.equal(sentences.in.one({ n: 12345 }), "12,345 steps");
  });

  test("a word follows its number", () => {
    const { count } = inThisLanguage({ count: "{n} {n|patch|patches}" });
    assert.deepEqual([0, 1, 2].map((n) => count({ n })), ["0 patches", "1 patch", "2 patches"]);
  });
});

describe("the story's texts", () => {
  let all;
  before(async () => (all = Object.entries(await textsOfStory())));

  for (const language of LANGUAGES) {
    test(`${language}: a translation has the places of the English`, (t) => {
      const lacking = [];
      assert.ok(all.length > 1, "the story and its chapters");
      for (const [id, { english, file }] of all) {
        const translated = readTranslation(file(language)), sentences = sentencesOf(english);
        for (const text of sentences) {
          if (translated[text] === undefined) lacking.push(`${id}: ${text}`);
          else assert.deepEqual(places(translated[text]), places(text), `${id}: ${translated[text]}`);
        }
        for (const text of Object.keys(translated)) if (!sentences.includes(text)) lacking.push(`${id}: outdated: ${text}`);
      }
      t.diagnostic(`${lacking.length} sentences are English, or were: ${lacking.slice(0, 5).map((text) => text.slice(0, 60)).join(" | ")}`);
    });
  }
});
