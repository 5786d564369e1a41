// The page's texts in each language: complete, each in its own writing, and the HTML in English.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const demo = new URL("../../web/demo/", import.meta.url);
const html = readFileSync(new URL("index.html", demo), "utf8");
const CODES = ["de", "fr", "sr", "es", "zh"];

let folder, en, languageFor, words;
const languages = {};
/** Node does not run TypeScript by itself in every version that we support. */
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "vitrine-"));
  const names = ["en", ...CODES, "language", "words"];
  const input = Object.fromEntries(names.map((name) => [name, fileURLToPath(new URL(`texts/${name}.ts`, demo))]));
  const bundle = await rolldown({ input });
  await bundle.write({ dir: folder, entryFileNames: "[name].mjs" });
  await bundle.close();
  const load = (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
  ({ en } = await load("en"));
  ({ languageFor } = await load("language"));
  words = await load("words");
  for (const code of CODES) languages[code] = (await load(code))[code];
});
after(() => rmSync(folder, { recursive: true, force: true }));

const isGroup = (value) => typeof value === "object";
/** All texts of a block as [path, text or function]. */
const leaves = (value, path) =>
  isGroup(value) ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`)) : [[path, value]];
const textsOf = (texts) => Object.entries(texts).flatMap(([name, block]) => leaves(block, name));

/** Stands for any argument of a text's function: a word, a number, or an object of such. */
const argument = (name) =>
  new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => name : typeof key === "string" ? argument(`${name}.${key}`) : undefined),
  });
/** These read a list. */
const LISTS = {
  "why.tops": ["<0>", ["<1>.a", "<1>.b", "<1>.c"]],
  "strokes.changes": [[{ label: "<0>.a", share: "<0>.b" }, { label: "<0>.c", share: "<0>.d" }, { label: "<0>.e", share: "<0>.f" }], 5],
};
const spoken = (text, path) =>
  typeof text !== "function" ? text : text(...(LISTS[path] ?? Array.from({ length: text.length }, (_, at) => argument(`<${at}>`))));
/** What is put in: places, arguments, papers. */
const SLOT = /\{\d\}|<\d>(\.\w+)*|arXiv:\d{4}\.\d{4,5}/g;
const slots = (text) => text.match(SLOT)?.sort() ?? [];

test("each block that a language has is complete, and what it lacks is reported", (t) => {
  for (const code of CODES) {
    const lacking = Object.keys(en).filter((block) => !languages[code][block] && Object.keys(en[block]).length > 0);
    t.diagnostic(lacking.length > 0 ? `${code} is English in: ${lacking.join(", ")}` : `${code} has every block`);
    for (const [name, block] of Object.entries(languages[code])) {
      assert.ok(en[name], `${code}: ${name} is no block of en.ts`);
      const [theirs, ours] = [leaves(block, name), leaves(en[name], name)];
      const keys = (all) => all.map(([path, text]) => `${path}: ${typeof text}`).sort();
      assert.deepEqual(keys(theirs), keys(ours), `${code}: ${name}`);
    }
  }
});

test("each text puts in what the English text puts in", () => {
  const english = new Map(textsOf(en));
  let functions = 0;
  for (const code of CODES) {
    for (const [path, text] of textsOf(languages[code])) {
      const [theirs, ours] = [spoken(text, path), spoken(english.get(path), path)];
      assert.equal(theirs.trim() === "", ours === "", `${code}: ${path}`);
      assert.deepEqual([...new Set(slots(theirs))], [...new Set(slots(ours))], `${code}: ${path}: ${theirs}`);
      functions += typeof text === "function";
    }
  }
  assert.ok(functions > 100, `${functions} functions`);
});

test("no sentence was left in English", () => {
  const english = new Map(textsOf(en));
  for (const code of CODES) {
    for (const [path, text] of textsOf(languages[code])) {
      const ours = spoken(english.get(path), path);
      if (ours.replaceAll(SLOT, "").match(/\p{L}{2,}/gu)?.length > 2)
        assert.notEqual(spoken(text, path), ours, `${code}: ${path}`);
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
      const plain = spoken(text, path).replaceAll('{"heads": 3}', "x").replaceAll(/\.\w+(?=[\s,)、）]|$)/g, "");
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

test("the HTML's own words are those of en.ts, and every language has them", () => {
  const keys = new Set();
  const check = (key, text) => {
    const [block, name] = key.split(".");
    assert.equal(text, en[block]?.[name], key);
    for (const code of CODES) assert.equal(typeof languages[code][block]?.[name], "string", `${code}: ${key}`);
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
    Object.keys(en[block]).map((name) => `${block}.${name}`).filter((key) => !keys.has(key)));
  assert.deepEqual(unused, []);
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
  speak({}, {}, "de");
  const german = ["−1,23", "0,00", "2", "+3,2", "−0,4", "0,0", "10.000", "999", "0,047", "120", "0", "98,8\u00a0%"];
  assert.deepEqual(samples(), german);
  speak({}, {}, "en");
  assert.equal(number(-1.234), "−1.23");
});
