// CLIP's tokenizer: its ids are OpenAI's, whatever file of the model holds the vocabulary, and bad files are refused.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { encoderOf } from "../../dist/text.js";
import { shared } from "./golden.mjs";
import { rejects } from "./support.mjs";

const words = shared("words");
const packed = words && readFileSync(`${words}/bpe_simple_vocab_16e6.txt.gz`);
const merges = words && gunzipSync(packed).toString().split("\n").slice(1, 48895);
const START = 49406, END = 49407;
const files = (all) => ({ beside: (name) => all[name] && new Blob([all[name]]) });
const idsBy = async (sources, text, most = 1000) => (await (await encoderOf(sources))(text, most)).ids;
const skip = !words && "no folder words in the data that VITRINE_DATA names";

/** What a Python twin with the package regex gives: references, cases, spaces and letters that few texts have. */
const HARD = [
  ["caf&eacute; &hearts; &amp;quot;&amp;amp;lt;", [15304, 3405, 1, 261, 3333, 282]],
  ["&notit; &ampx AT&T &nosuch; &#x1F600; &#128; &#0;&#xD800;&#1;x&#65", [126, 361, 585, 282, 261, 343, 536, 261, 339, 261, 578, 2046, 282, 7334, 6309, 47356, 39802, 24831]],
  ["&NotEqualTilde;&nvlt;", [22684, 224, 136, 116, 27, 2805, 496]],
  ["\x1c\u3000 edge \x1f", [5461]],
  ["a\x1cb\u0085c\ufeffd", [320, 472, 321, 322, 171, 119, 379, 323]],
  ["ΟΔΟΣ Σ", [138, 123, 138, 112, 138, 123, 139, 480, 139, 481]],
  ["'ſtop'S IT'LL 'Ve", [6, 129, 379, 1253, 568, 585, 1342, 1200]],
  ["a\u0345b", [320, 321]],
  ["ǅⒶⅠ²½", [131, 484, 27400, 494, 158, 227, 364, 41175, 33613]],
  ["<|EndOfText|> <|ſtartoftext|>", [END, 27, 91, 129, 123, 2002, 6659, 18169, 91, 285]],
  ["👩‍👩‍👧 🇩🇪", [26304, 26304, 964, 356, 21531]],
  ["नमस्ते ٣१", [3124, 101, 48254, 28505, 19389, 27263, 25130, 149, 352, 7410, 356]],
  ["K Å ﬃ ß ẞ İ", [330, 127, 354, 171, 105, 481, 127, 509, 127, 509, 328, 16384]],
  ["_-_ a_b", [62, 12, 318, 320, 318, 321]],
  ["\u{10400}\u{1D7D8}", [172, 238, 238, 357, 6874, 253, 502]],
  ["e\u0301 \u00e9", [324, 136, 479, 4166]],
];

test("OpenAI's file gives OpenAI's ids, of its 40 texts and of 16 hard ones", { skip }, async () => {
  const encode = await encoderOf({ tokenizer: new Blob([packed]) });
  const { cases } = JSON.parse(readFileSync(`${words}/bpe_cases.json`));
  const all = [...cases.map(({ text, ids }) => [text, ids]), ...HARD];
  assert.equal(all.length, 56);
  for (const [text, ids] of all) assert.deepEqual((await encode(text, 1000)).ids, [START, ...ids, END], text);
});

test("a text that is too long loses its end, and a word of 200,000 letters takes no time", { skip }, async () => {
  const sources = { tokenizer: new Blob([packed]) };
  const whole = await idsBy(sources, "a photo of a cat ".repeat(40));
  assert.deepEqual(await idsBy(sources, "a photo of a cat ".repeat(40), 77), [...whole.slice(0, 76), END]);
  assert.equal((await idsBy(sources, "ab".repeat(1e5), 77)).length, 77);
});

/** The vocabulary as transformers writes it. */
const vocabulary = () => {
  const printable = [[0x21, 0x7e], [0xa1, 0xac], [0xae, 0xff]].flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
  const others = [...Array(256).keys()].filter((byte) => !printable.includes(byte)).map((_, at) => 256 + at);
  const bytes = [...printable, ...others].map((code) => String.fromCharCode(code));
  const symbols = [...bytes, ...bytes.map((byte) => `${byte}</w>`), ...merges.map((pair) => pair.replace(" ", "")), "<|startoftext|>", "<|endoftext|>"];
  return Object.fromEntries(symbols.map((symbol, id) => [symbol, id]));
};
const tokenizerJson = (pairs) => JSON.stringify({ model: { type: "BPE", end_of_word_suffix: "</w>", unk_token: "<|endoftext|>", vocab: vocabulary(), merges: pairs } });

test("vocab.json with merges.txt, and tokenizer.json with merges of both kinds, give the same ids; tokenizer.json composes letters and keeps references", { skip }, async () => {
  const text = "Don't: 2 naïve cats 🐱";
  const want = await idsBy({ tokenizer: new Blob([packed]) }, text);
  const slow = files({ "vocab.json": JSON.stringify(vocabulary()), "merges.txt": `#version: 0.2\r\n${merges.join("\r\n")}\r\n` });
  const fast = [merges, merges.map((pair) => pair.split(" "))].map((pairs) => files({ "tokenizer.json": tokenizerJson(pairs) }));
  for (const sources of [slow, ...fast]) assert.deepEqual(await idsBy(sources, text), want);
  assert.deepEqual(await idsBy(fast[0], "e\u0301"), [START, 4166, END]);
  assert.deepEqual(await idsBy(fast[0], "&amp;"), [START, 261, 6259, 282, END]);
  assert.deepEqual(await idsBy(slow, "&amp;"), [START, 261, END]);
  const page = "<!doctype html><title>not found</title>"; // what some servers give for a missing file
  assert.deepEqual(await idsBy(files({ "tokenizer.json": page, "bpe_simple_vocab_16e6.txt.gz": packed }), text), want);
});

test("open_clip's canonical texts have no punctuation", { skip }, async () => {
  const sources = { tokenizer: new Blob([packed]) };
  const { ids } = await (await encoderOf(sources, { clean: "canonicalize" }))(" A photo_of -- a &lt;Cat&gt;! ", 1000);
  assert.deepEqual(ids, [START, 320, 1125, 539, 320, 2368, END]);
});

test("a caller's own tokenizer is asked, and cut at its end", async () => {
  const tokenizer = { encode: (text) => ({ ids: Int32Array.from(text, (letter) => letter.charCodeAt(0)) }) };
  assert.deepEqual(await idsBy({ tokenizer }, "abcde", 3), [97, 98, 101]);
  assert.deepEqual(await idsBy({ tokenizer: { encode: async () => [5, 6] } }, ""), [5, 6]);
});

test("bad vocabularies are refused, and so is text without any", async () => {
  const model = { end_of_word_suffix: "</w>", vocab: { "<|startoftext|>": 0, "<|endoftext|>": 1, a: 2, "a</w>": 3 }, merges: [] };
  const json = (change) => files({ "tokenizer.json": JSON.stringify({ model: { ...model, ...change } }) });
  const cases = [
    [{}, "bad_argument", /there is no tokenizer beside.*load's option tokenizer/],
    [{ tokenizer: new Blob(["a vocabulary?\nno\n"]) }, "bad_file", /48894 merges.*got/],
    [{ tokenizer: new Blob(["\x00".repeat(999)]) }, "bad_file", /48894 merges/],
    [{ tokenizer: new Blob([gzipSync("x").subarray(0, 15)]) }, "bad_file", /whole gzip file/],
    [{ tokenizer: new Blob([gzipSync(Buffer.alloc(2 ** 26 + 1))]) }, "bad_file", /at most 67108864 bytes/],
    [files({ "tokenizer.json": "{" }), "bad_file", /tokenizer\.json: expected JSON/],
    [json({ merges: ["a"] }), "bad_file", /merges of two symbols, got "a"/],
    [json({ merges: [["a", "b", "c"]] }), "bad_file", /two symbols/],
    [json({ merges: [null, {}] }), "bad_file", /two symbols/],
    [json({ vocab: { ...model.vocab, b: -1 } }), "bad_file", /whole number as id of "b", got -1/],
    [json({ vocab: { ...model.vocab, b: "2" } }), "bad_file", /whole number/],
    [json({ vocab: { a: 1 } }), "bad_file", /startoftext/],
    [json({}), "bad_file", /the token "b<\/w>"/],
    [files({ "tokenizer.json": '{"model":{"type":"Unigram"}}' }), "unsupported", /@huggingface\/tokenizers.*load's option tokenizer/],
  ];
  for (const [sources, code, message] of cases) await rejects(() => idsBy(sources, "b"), code, message);
  await rejects(() => idsBy(json({ merges: ["a a</w>"] }), "aa"), "bad_file", /the token "aaa?<\/w>"/);
  const prototypeNames = JSON.parse('{"__proto__": 4, "constructor": 5}');
  assert.deepEqual(await idsBy(json({ vocab: { ...model.vocab, ...prototypeNames } }), "a"), [0, 3, 1]);
});
