// Compares the config keys of src/file/config.c with those of web/config.ts: defaults, words,
// required keys. tests/c/config_test.c checks that C obeys its own table.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const c = read("src/file/config.c");
const ts = read("web/config.ts");

/** The lists of words: { NORMS: ["pre", "post"], … } */
const lists = Object.fromEntries(
  [...c.matchAll(/^static const char \*const (\w+)\[\] = \{(.*?)NULL\};/gms)].map(([, name, words]) => [
    name,
    [...words.matchAll(/"(\w+)"/g)].map(([, word]) => word),
  ]),
);

/** The JSON that config.c takes for a missing key; "" for NONE and undefined for REQUIRED. */
const defaultOf = (text) => ({ NONE: "", REQUIRED: undefined })[text] ?? (text[0] === '"' ? JSON.parse(text) : undefined);

/** The rows of KEYS and of NESTED: { name, most, words, otherwise }. */
const rows = [
  ...[...c.matchAll(/^ {4}\{"(\w+)", [A-Z]+, AT\(\w+\), (\d+), (\w+), (.+)\},$/gm)].map(
    ([, name, most, list, text]) => ({ name, most: Number(most), words: lists[list], otherwise: defaultOf(text) }),
  ),
  ...[...c.matchAll(/^ {4}\{"(\w+)", read_\w+, (.+)\},$/gm)].map(([, name, text]) => ({
    name,
    otherwise: defaultOf(text),
  })),
];

const [, literal] = /export const DEFAULTS = (\{.*?\}) as const;/s.exec(ts);
const defaults = Function(`return ${literal}`)();

/** The members of the interface: { name, optional, type }. */
const members = [...ts.split("export interface VitConfig {")[1].split("\n}")[0]
  .matchAll(/^ {2}readonly (\w+)(\??): (.+);$/gm)]
  .map(([, name, optional, type]) => ({ name, optional: optional === "?", type }));

test("this test reads the whole table of config.c", () => {
  const names = c.match(/^ {4}\{"\w+", /gm).length;
  assert.equal(rows.length, names);
  assert.ok(names > 25 && Object.keys(defaults).length > 10 && Object.keys(lists).length > 5);
});

test("TypeScript's config has the defaults of config.c", () => {
  for (const [key, value] of Object.entries(defaults)) {
    const row = rows.find(({ name }) => name === key);
    assert.ok(row?.otherwise, `${key} has no default in config.c`);
    assert.deepEqual(value, JSON.parse(row.otherwise), key);
  }
});

test("TypeScript's config has the keys of config.c, and keys that C requires or TypeScript fills in are not optional", () => {
  assert.deepEqual(members.map(({ name }) => name).sort(), rows.map(({ name }) => name).sort());
  for (const { name, optional } of members) {
    const filled = name in defaults || name === "labels"; // fullConfig fills them in
    const required = rows.find((row) => row.name === name).otherwise === undefined;
    assert.equal(optional, !filled && !required, name);
  }
});

test("TypeScript's words for a config key are those of config.c", () => {
  const worded = rows.filter(({ words }) => words);
  assert.ok(worded.length > 5);
  for (const { name, words } of worded) {
    const { type } = members.find((member) => member.name === name);
    assert.deepEqual(type.split(" | ").sort(), words.map((word) => JSON.stringify(word)).sort(), name);
  }
});

test("a config can have as many numbered labels as config.c allows classes", () => {
  const [, most] = /^const MOST_LABELS = ([\d_]+);$/m.exec(read("web/foreign/timm.ts"));
  assert.equal(Number(most.replaceAll("_", "")), rows.find(({ name }) => name === "classes").most);
});
