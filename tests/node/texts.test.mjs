// The page's texts: their places, their plural forms, and what the languages lack of them.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { allTexts, LANGUAGES, readTranslation, textsIn, translations } from "../../web/demo/texts/translations.mjs";
import { importTypescript } from "../../web/scripts/typescript.mjs";

const { messagesIn } = await importTypescript("web/demo/texts/sentences.ts");
const messages = (texts, tag = "en") => messagesIn(tag, (value) => value.toLocaleString(tag))(texts);

/** What is put into a sentence, and the papers that it names. */
const places = (text) => [...new Set([...text.matchAll(/\{(\w+)|arXiv:[\d.]+\d/g)].map(([paper, name]) => name ?? paper))].sort();

/** All sentences of a tree of texts. */
const sentencesOf = (texts) => Object.values(texts).flatMap((text) => (typeof text === "string" ? [text] : sentencesOf(text)));

describe("sentences", () => {
  test("values stand in their places, whole numbers in the language's digits, and a sentence without places is a text", () => {
    const sentences = messages({ plain: "no places", two: "{b}, then {a} and {b}", in: { one: "{n} steps" } });
    assert.equal(sentences.plain, "no places");
    assert.equal(sentences.two({ a: "x", b: 2 }), "2, then x and 2");
    assert.equal(sentences.in.one({ n: 12345 }), "12,345 steps");
  });

  test("a word follows its number", () => {
    const { count } = messages({ count: "{n} {n|patch|patches}" });
    assert.deepEqual([0, 1, 2].map((n) => count({ n })), ["0 patches", "1 patch", "2 patches"]);
    const serbian = messages({ count: "{n} {n|broj|broja|brojeva}", fewer: "{n|jedan|više}" }, "sr-Latn");
    assert.deepEqual([1, 2, 5, 21, 22].map((n) => serbian.count({ n })), ["1 broj", "2 broja", "5 brojeva", "21 broj", "22 broja"]);
    assert.deepEqual([1, 2, 5].map((n) => serbian.fewer({ n })), ["jedan", "više", "više"], "the last form is for the rest");
  });
});

describe("the page's texts", () => {
  let all;
  before(async () => (all = Object.entries(await allTexts())));

  for (const language of LANGUAGES) {
    test(`${language}: a translation has the places of the English`, (t) => {
      const lacking = [];
      assert.ok(all.length > 5, "the page, the story and its chapters");
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

  test("what a language lacks is English", () => {
    const english = { title: "A title", parts: { head: "Head {n}" } }, de = new URL("../../web/demo/story/texts/de.json", import.meta.url);
    const { lacking, having } = textsIn({ lacking: { english, file: () => "none" }, having: { english: { chosen: "Patch: row {row}, column {col}", new: "New" }, file: () => de } }, "de");
    assert.deepEqual(lacking, english);
    assert.deepEqual(having, { chosen: "Patch: Zeile {row}, Spalte {col}", new: "New" });
  });

  test("a build has a file of each language, with the keys of the English", async () => {
    const plugin = translations(), files = {};
    plugin.configResolved({ command: "build" });
    const emitFile = ({ name, source }) => ((files[name] = JSON.parse(source)), `of_${name.slice(0, 2)}`);
    const code = await plugin.load.call({ emitFile }, plugin.resolveId("virtual:languages"));
    assert.deepEqual(Object.keys(files), ["en", ...LANGUAGES].map((language) => `${language}.json`));
    for (const language of LANGUAGES) assert.ok(code.includes(`${language}: import.meta.ROLLUP_FILE_URL_of_${language}`), code);
    const keys = (texts) => Object.entries(texts).map(([key, text]) => (typeof text === "string" ? key : [key, keys(text)]));
    for (const [name, texts] of Object.entries(files)) assert.deepEqual(keys(texts), keys(files["en.json"]), name);
    assert.equal(files["de.json"].page.page.heading, "Zeichne eine Ziffer.");
  });
});
