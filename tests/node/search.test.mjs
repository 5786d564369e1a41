// Index: what it finds is what a search in float finds; files of it are whole or refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Index } from "vitrine";
import { readSafetensors, splitFile, joinFile } from "../../web/base/safetensors.mjs";
import { seeded } from "../../web/base/scramble.mjs";
import { harmless } from "./hostile.mjs";
import { rejects } from "./support.mjs";

const random = seeded(54);
const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const vectorOf = (width, centre, spread) => Float32Array.from({ length: width }, (_, i) => (centre?.[i] ?? 0) + spread * gauss());
const lengthOf = (vector) => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));

/** The vector of length 1 in double precision. */
const unit = (vector, length = lengthOf(vector)) => Float64Array.from(vector, (value) => value / length);

/** The first ten by cosines in double precision, of vectors and a query of length 1. */
function tenOf(vectors, query) {
  const cosine = (vector) => {
    let sum = 0;
    for (let i = 0; i < vector.length; i++) sum += vector[i] * query[i];
    return sum;
  };
  return vectors.map((vector, at) => ({ id: String(at), score: cosine(vector) })).sort((a, b) => b.score - a.score).slice(0, 10);
}

function indexOf(vectors, options) {
  const index = new Index(vectors[0].length, options);
  vectors.forEach((vector, at) => index.add(String(at), vector));
  return index;
}

for (const [kind, width, spread] of [["random vectors", 512, undefined], ["clusters", 512, 0.3], ["near copies", 512, 0.05], ["an odd width", 37, 0.3]]) {
  test(`of the first ten of ${kind} at least 99 % are those of a search in double precision`, () => {
    const centres = Array.from({ length: 20 }, () => vectorOf(width, undefined, 1));
    const make = () => vectorOf(width, spread && centres[Math.floor(random() * 20)], spread ?? 1);
    const vectors = Array.from({ length: 2001 }, make), index = indexOf(vectors), exact = vectors.map((vector) => unit(vector));
    let same = 0;
    for (let i = 0; i < 50; i++) {
      const query = make(), want = tenOf(exact, unit(query)), got = index.search(query, 10);
      assert.deepEqual(got.map(({ score }) => score), got.map(({ score }) => score).sort((a, b) => b - a));
      got.forEach(({ score }, rank) => assert.ok(Math.abs(score - want[rank].score) < 1e-5, `${score}, not ${want[rank].score}`));
      same += want.filter(({ id }) => got.some((found) => found.id === id)).length;
    }
    assert.ok(same >= 495, `${same} of 500`);
  });
}

test("a vector's length does not matter, also at the ends of what a number can be", () => {
  const vector = vectorOf(9, undefined, 1);
  for (const factor of [1, -1, 1e300, 1e-300]) {
    const index = new Index(9);
    index.add("it", Array.from(vector, (value) => value * factor));
    assert.ok(Math.abs(index.search(vector)[0].score - Math.sign(factor)) < 1e-6);
  }
  const tiny = new Index(2);
  tiny.add("it", [Number.MIN_VALUE, 0]);
  assert.ok(tiny.search([Number.MAX_VALUE, 0])[0].score > 0.999999);
});

test("an index of none finds none; of fewer than asked for all are found; equal ones are in their order", () => {
  const index = new Index(2);
  assert.deepEqual(index.search([1, 0]), []);
  for (const id of ["c", "a", "b"]) index.add(id, [2, 0]);
  index.add("far", [-1, 0]);
  assert.deepEqual(index.search([1, 0], 10).map(({ id, score }) => [id, Math.round(score)]), [["c", 1], ["a", 1], ["b", 1], ["far", -1]]);
  assert.deepEqual(index.search([1, 0], 1).map(({ id }) => id), ["c"]);
});

test("a known id gets the new vector, also from another index, which must be of the same width and about the same", async () => {
  const index = indexOf([[1, 0], [0, 1]], { about: "a model" }), other = indexOf([[0, 1], [1, 0], [-1, 0]], { about: "a model" });
  index.add("0", [1, 1]);
  assert.equal(index.search([1, 1])[0].id, "0");
  index.merge(other);
  assert.deepEqual([index.size, index.ids(), index.has("2"), index.has("3")], [3, ["0", "1", "2"], true, false]);
  assert.deepEqual(index.search([1, 0]), other.search([1, 0]));
  await rejects(() => index.merge(indexOf([[1, 0]])), "bad_argument", /^merge: expected the same about, a model, got $/);
  await rejects(() => index.merge(indexOf([[1]], { about: "a model" })), "bad_argument", /width, 2, got 1/);
  await rejects(() => index.merge({ width: 2, about: "a model" }), "bad_argument", /expected an Index/);
});

test("a saved index is loaded as it was, from any view of its bytes, and any reader of safetensors has its vectors", () => {
  const vectors = Array.from({ length: 70 }, () => vectorOf(33, undefined, 1)), index = indexOf(vectors, { about: "é" });
  index.add('"\n\ud800', vectors[0].map((value) => -value));
  const file = index.save(), read = Index.load(Buffer.concat([Buffer.from("x"), file]).subarray(1));
  assert.deepEqual([read.width, read.about, read.ids()], [33, "é", index.ids()]);
  for (const query of vectors) assert.deepEqual(read.search(query), index.search(query));
  read.add("more", vectors[1]);
  assert.equal(read.search(vectors[1])[1].id, "more");
  assert.ok(file.length < 71 * (2 * 33 + 4 + 8) + 512);
  const { tensors } = readSafetensors(file), { data: scale } = tensors.get("vectors.scale");
  const steps = tensors.get("vectors"), length = lengthOf(vectors[3]);
  assert.deepEqual(steps.shape, [71, 33]);
  vectors[3].forEach((value, i) => assert.ok(Math.abs(steps.data[3 * 33 + i] * scale[3] - value / length) <= 0.51 * scale[3]));
  const empty = Index.load(new Index(3).save());
  assert.deepEqual([empty.size, empty.width], [0, 3]);
});

test("an index works behind a Proxy", () => {
  const index = new Proxy(new Index(2), {});
  index.add("it", [1, 0]);
  assert.deepEqual([index.size, index.search([1, 0])[0].id], [1, "it"]);
});

test("what is no width, vector, id, count or option is refused", async () => {
  const index = indexOf([[1, 0]]);
  for (const width of [0, -1, 1.5, "2", NaN, undefined]) await rejects(() => new Index(width), "bad_argument", /^width: /);
  await rejects(() => new Index(2, { name: "" }), "bad_option", /about/);
  await rejects(() => new Index(2, { about: 1 }), "bad_option", /^about: /);
  for (const vector of [[1], [1, 2, 3], [0, 0], [NaN, 1], [Infinity, 1], [1, undefined], undefined, null, 2, "12x", { length: 2 }]) {
    await rejects(() => index.add("x", vector), "bad_argument", /^vector: expected 2 finite numbers/);
    await rejects(() => index.search(vector), "bad_argument", /^vector: /);
  }
  await rejects(() => new Index(2 ** 52).add("x", { length: 2 ** 52 }), "no_memory", /room for 4503599627370496 numbers/);
  for (const id of [1, undefined, null, {}]) await rejects(() => index.add(id, [1, 0]), "bad_argument", /^id: /);
  for (const count of [0, -1, 1.5, "1", NaN]) await rejects(() => index.search([1, 0], count), "bad_argument", /^count: /);
  for (const bytes of [undefined, "", [], {}]) await rejects(() => Index.load(bytes), "bad_argument", /^load: /);
  assert.equal(index.size, 1);
});

test("a file that is not a whole index is refused", async () => {
  const file = indexOf([[1, 0, 2], [0, 1, 2]]).save();
  const { header, data } = splitFile(file);
  const without = (change) => {
    const own = structuredClone(header);
    change(own);
    return joinFile(own, data);
  };
  assert.equal(Index.load(without(() => {})).size, 2);
  for (let length = 0; length < file.length; length++) await rejects(() => Index.load(file.subarray(0, length)), "bad_file", /^index: /);
  for (const change of [
    (own) => delete own.__metadata__,
    (own) => (own.__metadata__.vitrine = '{"width":64}'),
    (own) => (own.__metadata__.vitrine = '{"index":1,"about":1}'),
    (own) => (own.__metadata__.vitrine = "null"),
    ...Object.keys(header).filter((name) => name !== "__metadata__").flatMap((name) => [
      (own) => delete own[name],
      (own) => (own[name] = null),
      (own) => (own[name].dtype = "F16"),
      (own) => (own[name].shape = undefined),
      (own) => (own[name].shape = [...own[name].shape, 2]),
      (own) => (own[name].shape[0] = 1),
      (own) => (own[name].shape[0] = -2),
      (own) => (own[name].shape[0] = 2 ** 53),
      (own) => (own[name].data_offsets = [0, 2 ** 40]),
      (own) => (own[name].data_offsets = [-8, own[name].data_offsets[1] - own[name].data_offsets[0] - 8]),
      (own) => (own[name].data_offsets = own[name].data_offsets.map((at) => at + data.length)),
    ]),
  ]) await rejects(() => Index.load(without(change)), "bad_file", /^index: /);
  const ids = (text) => {
    const own = structuredClone(header), bytes = new TextEncoder().encode(text);
    own.ids = { dtype: "I8", shape: [bytes.length], data_offsets: [data.length, data.length + bytes.length] };
    return joinFile(own, data, bytes);
  };
  assert.equal(Index.load(ids('["x","y"]')).has("y"), true);
  for (const text of ["", "[]", '["x"]', '["x","x"]', '["x",1]', '["x","y","z"]', '{"0":"x","1":"y"}', '"xy"', "null", '["x",["y"]]']) {
    await rejects(() => Index.load(ids(text)), "bad_file", /^index: /);
  }
});

test("no byte of a file makes Index.load fail otherwise, and what it loads can be searched", async () => {
  const file = indexOf(Array.from({ length: 3 }, () => vectorOf(5, undefined, 1))).save();
  for (let at = 0; at < file.length; at++) {
    for (const value of [0, 0x22, 0x80, 0xff, random() * 256]) {
      const bad = file.slice();
      bad[at] = value;
      const index = await harmless(`byte ${at}`, () => Index.load(bad));
      for (const { score } of index?.search([1, 2, 3, 4, 5]) ?? []) assert.ok(Math.abs(score) <= 1, `byte ${at}: ${score}`);
    }
  }
});
