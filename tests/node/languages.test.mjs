// The page's texts in each language: each in its own writing, and the HTML in English.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { allTexts, LANGUAGES as CODES, textsIn, translations } from "../../web/demo/texts/translations.mjs";

const demo = new URL("../../web/demo/", import.meta.url);
const html = readFileSync(new URL("index.html", demo), "utf8");

let folder, en, languageFor, words;
const languages = {};
/** Node does not run TypeScript by itself in every version that we support. */
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "vitrine-"));
  const input = fileURLToPath(new URL("texts/language.ts", demo));
  const bundle = await rolldown({ input: { language: input, words: input.replace("language.ts", "words.ts") }, plugins: [translations()] });
  await bundle.write({ dir: folder, entryFileNames: "[name].mjs" });
  await bundle.close();
  const load = (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
  ({ languageFor } = await load("language"));
  words = await load("words");
  const all = await allTexts();
  en = textsIn(all, "en");
  for (const code of CODES) languages[code] = textsIn(all, code);
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** All texts of a tree as [path, text]. */
const textsOf = (value, path = "") =>
  typeof value === "string" ? [[path, value]] : Object.entries(value).flatMap(([key, inner]) => textsOf(inner, `${path}.${key}`));

const PLACE = /\{[^}]*\}/g;

test("no sentence of the tabs was left in English", () => {
  const tabs = ({ page, own, teachIt, number, story }) => textsOf({ page, own, teachIt, number, story });
  const english = new Map(tabs(en)); // the chapters have names of papers and models besides
  for (const code of CODES) {
    for (const [path, text] of tabs(languages[code])) {
      const ours = english.get(path);
      if (ours.replaceAll(PLACE, "").match(/\p{L}{2,}/gu)?.length > 2) assert.notEqual(text, ours, `${code}: ${path}`);
    }
  }
});

/** What a language's texts must not contain. */
const MISPRINTS = {
  de: [/["']/, /^[^„]*“|„[^“]*$/, /\w…/],
  fr: [/["']/, /[^\u202f][;!?»%](\s|$)/, /[\p{L}>] ?:(\s|$)/u, /«(?!\u202f)/],
  sr: [/["']/, /\p{Script=Cyrillic}/u, /„[^”]*$/],
  es: [/["']/, /^[^¿]*\?/, /^[^¡]*!/, / [;:?!]/],
  zh: [/["']/, /\p{Script=Han}[,.;:!?()]/u, /[,;:!?]\p{Script=Han}/u],
};

test("each language has its own quotes, spaces and marks", () => {
  for (const code of CODES) {
    for (const [path, text] of textsOf(languages[code])) {
      const plain = text.replaceAll('{"heads": 3}', "x").replaceAll(/\{\w+\}/g, "x").replaceAll(/\.\w+(?=[\s,)、）]|$)/g, "");
      for (const misprint of MISPRINTS[code]) assert.doesNotMatch(plain, misprint, `${code}: ${path}`);
    }
  }
});

const ENTITIES = { "&nbsp;": "\u00a0", "&amp;": "&", "&quot;": '"' };
const plain = (text) => text.replaceAll(/&\w+;/g, (entity) => ENTITIES[entity]).replaceAll(/[ \n]+/g, " ").trim();

/** The attributes of a start tag. */
const attributesOf = (tag) =>
  Object.fromEntries([...tag.matchAll(/([\w-]+)=(?:"([^"]*)"|'([^']*)')/g)].map(([, name, a, b]) => [name, a ?? b]));

/** The text after a start tag up to its end tag. Its n-th child is "{n}". */
function textAfter(start) {
  const tags = /<(\/?)([a-z]\w*)[^>]*?(\/?)>/g;
  tags.lastIndex = start;
  let [depth, children, from, text] = [0, 0, start, ""];
  for (let found = tags.exec(html); found; found = tags.exec(html)) {
    const [whole, closes, , empty] = found;
    if (depth === 0) text += html.slice(from, found.index);
    if (depth === 0 && closes) return plain(text);
    if (depth === 0) text += `{${++children}}`;
    depth += closes ? -1 : empty ? 0 : 1;
    from = found.index + whole.length;
  }
  throw new Error(`no end of the element at ${start}`);
}

test("the HTML's own words are those of en.ts, and its languages those that there are", () => {
  const keys = new Set();
  const check = (key, text) => {
    const [block, name] = key.split(".");
    assert.equal(text, en.page[block]?.[name], key);
    keys.add(key);
  };
  for (const found of html.matchAll(/<[a-z]\w*[^>]*\bdata-(?:text|attributes)="[^>]*>/g)) {
    const attributes = attributesOf(found[0]);
    if (attributes["data-text"]) check(attributes["data-text"], textAfter(found.index + found[0].length));
    for (const pair of attributes["data-attributes"]?.split(" ") ?? []) {
      const [name, key] = pair.split("=");
      check(key, attributes[name]);
    }
  }
  for (const key of ["page.source", "page.documents"]) keys.add(key); // put in by footer.mjs
  const unused = ["page", "chapters", "ownPage"].flatMap((block) =>
    Object.keys(en.page[block]).map((name) => `${block}.${name}`).filter((key) => !keys.has(key)));
  assert.deepEqual(unused, []);
  assert.deepEqual([...html.matchAll(/<option value="(\w+)" lang=/g)].map(([, code]) => code), ["en", ...CODES]);
});

test("the language is the address's, the one chosen before, or the browser's first that we have", () => {
  const at = "https://example.org/";
  for (const [address, storedCode, preferred, want] of [
    [at, null, ["de-AT", "en"], "de"],
    [at, null, ["hr", "bs-BA"], "en"],
    [at, null, ["hr", "sr-Cyrl-RS", "de"], "sr"],
    [at, null, ["zh-Hant-TW"], "zh"],
    [at, null, ["en-GB", "fr"], "en"],
    [at, null, [], "en"],
    [at, "fr", ["de"], "fr"],
    [at, "nonsense", ["es-419"], "es"],
    [at, "constructor", ["it"], "en"],
    [`${at}?lang=es#own`, "fr", ["de"], "es"],
    [`${at}?lang=ZH`, null, [], "zh"],
    [`${at}?lang=tlh`, "fr", ["de"], "fr"],
  ]) assert.equal(languageFor(address, storedCode, preferred), want, `${address} ${storedCode} ${preferred}`);
});

test("numbers are written as the language writes them, with a true minus and never −0", () => {
  const { number, signed, whole, rough, percentage, speak } = words;
  const samples = () => [
    number(-1.234), number(-0.001), number(2, 0), signed(3.21), signed(-0.44), signed(0.01), whole(10000), whole(999),
    rough(0.0471), rough(123), rough(0), percentage(0.9876, 1),
  ];
  assert.deepEqual(samples(), ["−1.23", "0.00", "2", "+3.2", "−0.4", "0.0", "10,000", "999", "0.047", "120", "0", "98.8 %"]);
  speak({ page: {} }, "de");
  const german = ["−1,23", "0,00", "2", "+3,2", "−0,4", "0,0", "10.000", "999", "0,047", "120", "0", "98,8\u00a0%"];
  assert.deepEqual(samples(), german);
  speak({ page: {} }, "en");
  assert.equal(number(-1.234), "−1.23");
});
