// Image to text: what models with a decoder write, and where they look, are those of the models' own code.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { splitFile } from "../../web/base/safetensors.mjs";
import { folder, picture, printed, refused, sharp, skip, variant } from "./command.mjs";
import { farthest, modelBytes, readTensors, rewritten, shared } from "./golden.mjs";
import { load, rejects, ways } from "./support.mjs";

/** As the data's README says, of the largest value. */
const NEAR = 1e-4;

const MODELS = ["trocr", "trocr_sinusoidal", "gpt2", "bert", "roberta", "mbart"];

/** Writes a golden model as transformers does. Returns the folder's path. `change` may change its configs. */
function readerFolder({ path, write }, name, change = () => {}) {
  const bytes = modelBytes(`readers/${name}`), { __metadata__ } = splitFile(bytes).header;
  const files = { config: JSON.parse(__metadata__.config), generation_config: JSON.parse(__metadata__.generation_config) };
  change(files);
  mkdirSync(join(path, name), { recursive: true });
  write(`${name}/model.safetensors`, bytes);
  for (const [file, json] of Object.entries(files)) if (json) write(`${name}/${file}.json`, JSON.stringify(json));
  return join(path, name);
}

const oracleOf = (bytes) => readTensors(bytes);

/** Row `index` of a tensor (B,…), or of (L,B,…) for attention. */
function part({ shape, values }, index, first = 0) {
  const batch = shape[first], outer = first ? shape[0] : 1, each = values.length / batch / outer;
  return Array.from({ length: outer }, (_, layer) => [...values.subarray((layer * batch + index) * each, (layer * batch + index + 1) * each)]).flat();
}

/** What generate() wrote after the first token, up to the end: paddings follow it. */
function written(row, { end }) {
  const ids = row.slice(1), at = ids.indexOf(end);
  return at < 0 ? ids : ids.slice(0, at + 1);
}

async function check(vit, oracle, options = {}) {
  const { decoder } = vit.config;
  for (let index = 0; index < oracle.images.shape[0]; index++) {
    const image = Float32Array.from(part(oracle.images, index)), force = part(oracle.ids, index);
    const forced = await vit.read(image, { force, attention: true });
    assert.deepEqual(forced.tokens.map(({ id }) => id), force);
    const near = (got, want, what) => assert.ok(farthest(got, want) <= NEAR, `${what} of image ${index}: ${farthest(got, want)}`);
    near(forced.logits, part(oracle.logits, index), "logits");
    for (const kind of ["self", "cross"]) {
      const maps = Array.from({ length: decoder.depth * decoder.heads }, (_, at) => [...forced.attention[kind](Math.floor(at / decoder.heads), at % decoder.heads)]);
      near(maps.flat(), part(oracle[kind], index, 1), kind);
    }
    for (const [kind, beams] of [["greedy", 1], ["beams", 3]]) {
      if (!oracle[kind]) continue;
      const { tokens } = await vit.read(image, { beams, maxTokens: oracle[kind].shape[1] - 1, ...options });
      assert.deepEqual(tokens.map(({ id }) => id), written(part(oracle[kind], index), decoder), `${kind} of image ${index}`);
    }
  }
}

const words = shared("words");
const CASES = words ? ["trocr_learned_gelu", "trocr_sinusoidal_relu", "vit_gpt2"].map((name) => join(words, `transformers-4.48.0_${name}`)) : [];
if (!words) test("checkpoints that transformers saved", { skip: "no folder words in the data that VITRINE_DATA names" }, () => {});
for (const place of CASES) {
  test(`${place.replace(/.*\//, "")}: logits, attention and ids are those of transformers`, async () => {
    await check(await load(place, { variant }), oracleOf(readFileSync(join(place, "oracle.safetensors"))));
  });
}

for (const name of MODELS) {
  test(`${name}: logits, attention and ids equal PyTorch's, with every build`, async (t) => {
    const place = readerFolder(folder(t), name);
    for (const way of ways) await check(await load(place, way), oracleOf(modelBytes(`readers/${name}.golden`)));
  });
}

// ---- The call ------------------------------------------------------------------------

const golden = (name) => oracleOf(modelBytes(`readers/${name}.golden`));
const firstImage = (name) => Float32Array.from(part(golden(name).images, 0));

/** A model of our own format: a golden one's tensors with its config in the file. */
async function labelled(t, name = "trocr", word = (id) => `${id} `) {
  const labels = Array.from({ length: 11 }, (_, id) => (id < 4 ? `<${id}>` : word(id)));
  return load({ weights: readerFolder(folder(t), name), config: { decoder: { labels } } }, { variant });
}

test("tokens come one by one, to a loop and to onToken, and the promise has the whole", async (t) => {
  for (const worker of [false, true]) {
    const vit = await load(readerFolder(folder(t), "trocr"), { worker });
    const fromCallback = [], fromLoop = [];
    const reading = vit.read(firstImage("trocr"), { onToken: (token) => fromCallback.push(token) });
    for await (const token of reading) fromLoop.push(token);
    const { tokens, placement, input } = await reading;
    assert.deepEqual([fromLoop, fromCallback], [tokens, tokens]);
    assert.deepEqual(tokens.map(({ id }) => id), written(part(golden("trocr").greedy, 0), vit.config.decoder));
    assert.ok(tokens.every(({ p, text }) => p > 0 && p <= 1 && text === ""));
    assert.deepEqual([placement, input], [{ left: 0, top: 0, width: 12, height: 8 }, firstImage("trocr")]);
  }
});

test("p is the softmax of the logits that chose the token, and attention's rows are those of the tokens", async (t) => {
  const vit = await labelled(t), { vocabulary, depth, heads } = vit.config.decoder;
  const { tokens, logits, attention } = await vit.read(firstImage("trocr"), { logits: true, attention: true, beams: 1 });
  assert.equal(logits.length, tokens.length * vocabulary);
  for (const [at, { id, p }] of tokens.entries()) {
    const row = [...logits.subarray(at * vocabulary, (at + 1) * vocabulary)];
    assert.equal(id, row.indexOf(Math.max(...row)));
    assert.ok(Math.abs(p - Math.exp(row[id]) / row.reduce((sum, logit) => sum + Math.exp(logit), 0)) < 1e-5);
  }
  const S = tokens.length, T = 7;
  assert.deepEqual([attention.layers, attention.heads, attention.length, attention.grid], [depth, heads, S, [2, 3]]);
  assert.deepEqual([attention.cross(1, 0).length, attention.self(0, 1).length], [S * T, S * S]);
  const want = Float32Array.from({ length: 6 }, (_, at) => (attention.cross(1, 0)[2 * T + 1 + at] + attention.cross(1, 1)[2 * T + 1 + at]) / 2);
  assert.ok(farthest(attention.fromToken(2), want) < 1e-6);
  await rejects(() => attention.cross(2, 0), "bad_argument", /^layer: expected 0 to 1, got 2$/);
  await rejects(() => attention.fromToken(S), "bad_argument", /^token: expected 0 to/);
});

test("the config's temperature and threshold say how sure a text is, and change no id", async (t) => {
  const weights = readerFolder(folder(t), "trocr"), image = firstImage("trocr"), temperature = 0.5;
  const plain = await load(weights, { variant });
  for (const options of [{ beams: 1 }, { beams: 3 }, { force: [2, 5, 6, 3] }]) {
    const before = await plain.read(image, options), force = options.force ?? [2, ...before.tokens.map(({ id }) => id)];
    const { logits } = await plain.read(image, { force }), { vocabulary } = plain.config.decoder;
    const wants = force.slice(1).map((id, at) => {
      const row = [...logits.subarray(at * vocabulary, (at + 1) * vocabulary)].map((logit) => Math.exp(logit / temperature));
      return row[id] / row.reduce((sum, one) => sum + one);
    });
    const p = wants.reduce((product, one) => product * one);
    for (const uncertain_below of [p * 0.99, p * 1.01]) {
      const vit = await load({ weights, config: { temperature, uncertain_below } }, { variant }), got = await vit.read(image, options);
      assert.deepEqual(got.tokens.map(({ id }) => id), before.tokens.map(({ id }) => id));
      const after = got.tokens.slice(options.force ? 1 : 0);
      for (const [at, token] of after.entries()) assert.ok(Math.abs(token.p - wants[at]) < 1e-5, `token ${at}: ${token.p}, not ${wants[at]}`);
      assert.ok(Math.abs(got.p / p - 1) < 1e-4, `${got.p}, not ${p}`);
      assert.equal(got.uncertain, uncertain_below > p);
    }
    assert.equal(before.uncertain, false, "without a threshold");
  }
});

test("labels are the text, without what begins and ends it; a start may be a label", async (t) => {
  const vit = await labelled(t), image = firstImage("trocr");
  const { text, tokens } = await vit.read(image);
  assert.equal(text, tokens.map(({ id }) => `${id} `).join(""));
  assert.equal(tokens.map((token) => token.text).join(""), text);
  const { tokens: other } = await vit.read(image, { start: "5 " });
  assert.deepEqual(other, (await vit.read(image, { start: 5 })).tokens);
  const forced = await vit.read(image, { force: [2, 5, 6, 3] });
  assert.equal(forced.text, "5 6 ");
  assert.deepEqual(forced.tokens.map(({ text: one }) => one), ["", "5 ", "6 ", ""]);
  await rejects(() => vit.read(image, { start: "French" }), "bad_option", /^start: expected one of the config's decoder.labels, got "French"$/);
});

test("a text by labels loses the space that it begins with, and no more, and so does its first token", async (t) => {
  for (const [front, lost] of [[" ", 1], ["  ", 1], ["\n", 0]]) {
    const { text, tokens } = await (await labelled(t, "trocr", (id) => `${front}${id}`)).read(firstImage("trocr"));
    assert.equal(text, tokens.map(({ id }) => `${front}${id}`).join("").slice(lost));
    assert.equal(tokens.map((token) => token.text).join(""), text);
  }
});

test("chance repeats itself by its seed, and a share of nothing is the most probable token", async (t) => {
  const vit = await labelled(t), image = firstImage("trocr");
  const idsOf = async (options) => (await vit.read(image, options)).tokens.map(({ id }) => id).join();
  const samples = await Promise.all([1, 2, 3, 4, 5].map((seed) => idsOf({ temperature: 5, seed })));
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map((seed) => idsOf({ temperature: 5, seed }))), samples);
  assert.ok(new Set(samples).size > 1);
  assert.equal(await idsOf({ temperature: 5, topP: 1e-6 }), await idsOf({}));
});

test("a tokenizer gives the text: the caller's, or none", async (t) => {
  const place = readerFolder(folder(t), "trocr");
  const tokenizer = { decode: (ids) => ids.map((id) => `w${id}`).join(" ") };
  const vit = await load(place, { variant, tokenizer });
  const { text, tokens } = await vit.read(firstImage("trocr"));
  assert.equal(text, tokens.map(({ id }) => `w${id}`).join(" "));
  assert.equal(tokens.map((token) => token.text).join(""), text);
});

const none = await import("@huggingface/tokenizers").then(() => false, () => "@huggingface/tokenizers is not installed");

test("the package @huggingface/tokenizers makes the text, by the folder's tokenizer.json", { skip: none }, async (t) => {
  const place = readerFolder(folder(t), "trocr"), pieces = ["a", "<pad>", "<s>", "</s>", "b", "Ġc", "d", "e", "Ġf", "g", "Ã©"];
  const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  writeFileSync(join(place, "tokenizer.json"), JSON.stringify({
    version: "1.0", normalizer: null, pre_tokenizer: bytes, post_processor: null, decoder: bytes,
    added_tokens: [1, 2, 3].map((id) => ({ id, content: pieces[id], single_word: false, lstrip: false, rstrip: false, normalized: false, special: true })),
    model: { type: "BPE", vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])), merges: [] },
  }));
  const vit = await load(place, { variant });
  const { text, tokens } = await vit.read(firstImage("trocr"), { force: [2, 4, 5, 8, 10, 3] });
  assert.equal(text, "b c fé");
  assert.deepEqual(tokens.map((token) => token.text), ["", "b", " c", " f", "é", ""]);
});

test("a loop that is left ends the text, a signal ends the call, and dispose waits for it", async (t) => {
  const vit = await labelled(t), image = firstImage("trocr");
  const reading = vit.read(image);
  for await (const _ of reading) break;
  assert.ok((await reading).tokens.length < 6);
  const reason = new Error("enough");
  await assert.rejects(vit.read(image, { signal: AbortSignal.abort(reason) }), reason);
  const control = new AbortController();
  await assert.rejects(vit.read(image, { signal: control.signal, onToken: () => control.abort(reason) }), reason);
  await assert.rejects(vit.read(image, { onToken: () => { throw reason; } }), reason);
  const last = vit.read(image);
  vit.dispose();
  assert.equal((await last).tokens.length, 6);
  await rejects(() => vit.read(image), "disposed", /disposed/);
});

test("calls may overlap: another image between two readings changes neither", async (t) => {
  const vit = await labelled(t), images = [0, 1].map((index) => Float32Array.from(part(golden("trocr").images, index)));
  const alone = [];
  for (const image of images) alone.push((await vit.read(image)).tokens);
  const all = await Promise.all([vit.read(images[0]), vit.embed(images[1]), vit.read(images[1]), vit.embed(images[0])]);
  assert.deepEqual([all[0].tokens, all[2].tokens], alone);
});

test("wrong options are refused by name, and so is a model without a decoder", async (t) => {
  const vit = await labelled(t), image = firstImage("trocr");
  for (const [options, message] of [
    [{ maxTokens: 0 }, /^maxTokens: expected a whole number from 1 to 8, got 0$/],
    [{ maxTokens: 9 }, /^maxTokens: /],
    [{ beams: 1.5 }, /^beams: expected a whole number from 1 to 11, got 1.5$/],
    [{ temperature: -1 }, /^temperature: expected a number from 0 /],
    [{ temperature: NaN }, /^temperature: /],
    [{ topP: 2 }, /^topP: expected a number from 0 to 1, got 2$/],
    [{ seed: -1 }, /^seed: /],
    [{ beams: 2, temperature: 1 }, /^temperature: expected 0 with beams/],
    [{ force: [] }, /^force: expected 1 to 9 ids, got/],
    [{ force: [2, 11] }, /^force: expected ids from 0 to 10, got 11$/],
    [{ force: "2" }, /^force: expected ids from 0 to 10, got 2$/],
    [{ start: 11 }, /^start: expected ids from 0 to 10, got 11$/],
    [{ beam: 2 }, /^read: expected an object with any of maxTokens, .*, got "beam"$/],
    [{ onToken: 1 }, /^onToken: expected a function, got Number$/],
  ]) await rejects(() => vit.read(image, options), "bad_option", message);
  const plain = await load(modelBytes("per_head"));
  await rejects(() => plain.read(new Float32Array(28 * 28)), "unsupported", /^read: this model has no decoder, so it writes nothing; use classify or embed$/);
  await rejects(() => vit.read("photo.jpg"), "bad_image", /^image: /);
});

test("with two threads a text is the same to the bit", { skip: availableParallelism() < 2 && "one core here" }, async (t) => {
  for (const name of ["trocr", "gpt2"]) {
    const place = readerFolder(folder(t), name), image = firstImage(name), force = part(golden(name).ids, 0);
    const read = async (options) => {
      const vit = await load(place, options), { logits, attention } = await vit.read(image, { force, attention: true });
      const { tokens } = await vit.read(image, { beams: 3 }), cross = attention.cross(1, 1);
      return { threads: vit.threads, results: [logits, cross, tokens] };
    };
    const one = await read({});
    for (const worker of [false, true]) {
      const two = await read({ threads: 2, worker });
      assert.deepEqual([one.threads, two.threads], [1, 2]);
      assert.deepEqual(two.results, one.results, `${name}${worker ? ", in a worker" : ""}`);
    }
  }
});

test("a decoder of an int8 file stays floats, and reads nearly the same", async (t) => {
  const { quantize } = await import("../../dist/train.js");
  for (const name of MODELS) {
    const place = readerFolder(folder(t), name), image = firstImage(name), force = part(golden(name).ids, 0);
    const file = await quantize(place, { variant }), { header } = splitFile(file);
    const types = (pattern) => [...new Set(Object.entries(header).filter(([key]) => pattern.test(key)).map(([, { dtype }]) => dtype))];
    assert.deepEqual([types(/^decoder\./), types(/^blocks\.\d+\.(attn|mlp).*weight$/)], [["F32"], ["I8"]]);
    for (const way of ways) {
      const whole = await load(place, way), small = await load(file, way);
      const [tokens, less] = [await whole.embed(image), await small.embed(image)];
      const [want, got] = [await whole.read(image, { force }), await small.read(image, { force })];
      assert.ok(farthest(less.patches, tokens.patches) < 0.05, `${name}: tokens ${farthest(less.patches, tokens.patches)}`);
      assert.ok(farthest(got.logits, want.logits) < 0.05, `${name}: logits ${farthest(got.logits, want.logits)}`);
    }
  }
});

// ---- Folders that are not as they should be ------------------------------------------

test("a config that cannot be computed is refused by the key's name", async (t) => {
  for (const [name, change, message] of [
    ["trocr", ({ config }) => (config.decoder.model_type = "t5"), /^config: decoder.model_type: t5 is not known here; known are trocr, /],
    ["trocr", ({ config }) => (config.encoder.model_type = "swin"), /^config: model_type: swin is not known here/],
    ["trocr", ({ config }) => (config.encoder.model_type = "clip_vision_model"), /^config: encoder.model_type: clip_vision_model is not known here, because/],
    ["trocr", ({ config }) => (config.decoder.activation_function = "mish"), /^config: activation_function: expected one of gelu/],
    ["trocr", ({ config }) => (config.decoder.decoder_attention_heads = 3), /^config: decoder.heads: expected a divisor of width 8, got 3$/],
    ["trocr", ({ generation_config: all }) => (all.decoder_start_token_id = 11), /^config: decoder.start: expected a number below vocabulary 11, got 11$/],
    ["trocr", ({ generation_config: all }) => (all.eos_token_id = [2, 3]), /^config: decoder.end: expected a token's number/],
    ["bert", ({ config }) => (config.decoder.position_embedding_type = "relative_key"), /^config: decoder.position_embedding_type: expected absolute, got "relative_key"$/],
    ["roberta", ({ config }) => (config.decoder.hidden_act = "relu"), /^config: decoder.hidden_act: expected gelu, got "relu"$/],
  ]) await rejects(() => load(readerFolder(folder(t), name, change)), "bad_config", message);
  for (const [change, message] of [
    [(all) => delete all["decoder.model.decoder.layers.1.fc2.weight"], /"decoder.model.decoder.layers.1.fc2.weight"/],
    [(all) => delete all["decoder.output_projection.weight"], /"decoder.output_projection.weight"/],
    [(all) => delete all["enc_to_dec_proj.bias"], /"enc_to_dec_proj.bias"/],
    [(all) => (all["decoder.adapter.weight"] = { dtype: "F32", shape: [1], data: Buffer.alloc(4) }), /"decoder.adapter.weight"/],
    [(all) => (all["decoder.model.decoder.embed_tokens.weight"].shape = [22, 4]), /embed_tokens|encoder|decoder/],
  ]) {
    const { path, write } = folder(t), place = readerFolder({ path, write }, "trocr");
    write("trocr/model.safetensors", rewritten(modelBytes("readers/trocr"), change));
    await rejects(() => load(place), "bad_tensor", message);
  }
});

test("how generate() writes is the folder's, and what is not computed here is said before it is left out", async (t) => {
  const image = firstImage("trocr");
  const countOf = async (change) => {
    const vit = await load(readerFolder(folder(t), "trocr", change), { variant });
    return (await vit.read(image)).tokens.length;
  };
  assert.equal(await countOf(({ generation_config: all }) => (all.max_length = 4)), 3);
  assert.equal(await countOf(({ generation_config: all }) => (all.max_new_tokens = 2)), 2);
  assert.equal(await countOf((files) => {
    Object.assign(files.config, { decoder_start_token_id: 2, eos_token_id: 3, max_length: 5 }); // before 4.26
    delete files.generation_config;
  }), 4);
  const vit = await load(readerFolder(folder(t), "trocr", ({ generation_config: all }) => Object.assign(all, { no_repeat_ngram_size: 3, num_beams: 4 })), { variant });
  await rejects(() => vit.read(image), "unsupported", /^read: the model's own settings have no_repeat_ngram_size, which is not computed here; pass beams to write without \(4 there\)$/);
  assert.equal((await vit.read(image, { beams: 4 })).tokens.length, 6);
  for (const [key, value] of [["forced_decoder_ids", [[1, 4]]], ["penalty_alpha", 0.6], ["suppress_tokens", [4]]]) {
    const other = await load(readerFolder(folder(t), "trocr", ({ generation_config: all }) => (all[key] = value)), { variant });
    await rejects(() => other.read(image), "unsupported", new RegExp(`^read: the model's own settings have ${key}, `));
  }
  const usual = { suppress_tokens: [], begin_suppress_tokens: [], eos_token_id: [3], length_penalty: 2, early_stopping: true, penalty_alpha: null, temperature: 0.5 };
  const same = await load(readerFolder(folder(t), "trocr", ({ generation_config: all }) => Object.assign(all, usual)), { variant });
  assert.deepEqual((await same.read(image)).tokens.map(({ id }) => id), written(part(golden("trocr").greedy, 0), same.config.decoder), "what changes nothing");
  const none = await load(readerFolder(folder(t), "trocr", ({ generation_config: all }) => delete all.decoder_start_token_id), { variant });
  await rejects(() => none.read(image), "bad_option", /^start: expected an id, because the config has no decoder.start, got none$/);
  assert.equal((await none.read(image, { start: 2 })).tokens.length, 6);
});

const STRANGERS = {
  torch: [{ norm: "pre", decoder_norm: "post", activation: "relu" }, /decoder.layers.0.multihead_attn.in_proj_weight/],
  narrow: [{ norm: "post", decoder_norm: "pre", activation: "gelu", pool: "class", final_norm: false }, /dec.0.cross_attn.key.weight,dec.0.cross_attn.val.weight/],
  bridged: [{ norm: "pre", decoder_norm: "post", activation: "relu", decoder_position: "sincos_halves" }, /decoder.layers.0.multihead_attn.in_proj_weight/, { embedding_scale: Math.sqrt(8), padding: null }],
};

/** Puts tensors in the order of their names, as safetensors does. */
function sort(tensors) {
  for (const name of Object.keys(tensors).sort()) {
    const tensor = tensors[name];
    delete tensors[name];
    tensors[name] = tensor;
  }
}

for (const [name, [answers, cross, own]] of Object.entries(STRANGERS)) {
  test(`a stranger's encoder and decoder, ${name}, are read by their structure, in the file's order or by name`, async () => {
    const { images, ids, logits, greedy } = golden(name), config = { heads: 2, image_size: [8, 12], ...answers, decoder: { start: 2, end: 3, padding: 1, ...own } };
    for (const weights of [modelBytes(`readers/${name}`), rewritten(modelBytes(`readers/${name}`), sort)]) {
      const error = await load(weights).catch((thrown) => thrown);
      assert.deepEqual(error.questions.map(({ key }) => key).sort(), ["heads", "image_size", ...Object.keys(answers)].sort());
      assert.match(error.mapping["decoder.blocks.0.cross.kv.weight"].join(), cross);
      const vit = await load({ weights, config }, { variant });
      for (const index of [0, 1]) {
        const image = Float32Array.from(part(images, index));
        const far = farthest((await vit.read(image, { force: part(ids, index) })).logits, part(logits, index));
        assert.ok(far <= NEAR, `${far} of image ${index}`);
        const { tokens } = await vit.read(image, { maxTokens: 6 });
        assert.deepEqual(tokens.map(({ id }) => id), written(part(greedy, index), vit.config.decoder));
      }
    }
  });
}

test("a cross-attention that torch.nn saves as three weights and one bias gives the same logits", async () => {
  const { images, ids, logits } = golden("torch"), [answers] = STRANGERS.torch;
  const weights = rewritten(modelBytes("readers/torch"), (tensors) => {
    for (const name of Object.keys(tensors).filter((name) => name.endsWith("multihead_attn.in_proj_weight"))) {
      const { dtype, shape: [rows, columns], data } = tensors[name], size = data.length / 3;
      ["q", "k", "v"].forEach((role, at) => {
        tensors[name.replace("in_proj", `${role}_proj`)] = { dtype, shape: [rows / 3, columns], data: data.subarray(at * size, (at + 1) * size) };
      });
      delete tensors[name];
    }
  });
  const vit = await load({ weights, config: { heads: 2, image_size: [8, 12], ...answers, decoder: { start: 2, end: 3, padding: 1 } } }, { variant });
  for (const index of [0, 1]) {
    const got = await vit.read(Float32Array.from(part(images, index)), { force: part(ids, index) });
    assert.ok(farthest(got.logits, part(logits, index)) <= NEAR, `image ${index}`);
  }
});

test("a stranger's decoder that is not computed here is refused with the reason, and decoder: null reads the encoder alone", async () => {
  const answers = { heads: 2, image_size: [8, 12], norm: "post", activation: "gelu", pool: "class", final_norm: false };
  const renamed = (pattern, other) => (tensors) => {
    for (const name of Object.keys(tensors).filter((name) => pattern.test(name))) {
      if (other) tensors[name.replace(pattern, other)] = tensors[name];
      delete tensors[name];
    }
  };
  for (const [change, message] of [
    [renamed(/cross_attn.layer_norm/), /a decoder's block without three norms is not computed here$/],
    [renamed(/mlp\.0/, "mlp.4"), /a block of attention, an MLP of two \(no SwiGLU or norm\)/],
    [renamed(/emb_output.*|fin_output.1.*/), /a decoder without a table of tokens is not computed here/],
    [(tensors) => [[/cross_attn.layer_norm/], [/^emb_output/, "wte"], [/^pos_output/, "wpe"], [/^fin_output/, "lm_head"]].forEach((change) => renamed(...change)(tensors)), /without three norms/],
  ]) {
    const weights = rewritten(modelBytes("readers/narrow"), change);
    const error = await load({ weights, config: { ...answers, decoder_norm: "pre" } }).catch((thrown) => thrown);
    assert.match(error.message, message);
    assert.match(error.message, /set decoder to null to read the encoder alone: /);
    const vit = await load({ weights, config: { ...answers, decoder: null } }, { variant });
    assert.equal(vit.config.decoder, null);
    assert.equal(vit.config.classes, 5);
  }
});

// ---- The command -----------------------------------------------------------------------

test("vitrine read prints each photo's text, or as JSON its tokens", { skip }, async (t) => {
  const { path, write } = folder(t), place = readerFolder({ path, write }, "trocr");
  write("trocr/preprocessor_config.json", JSON.stringify({ image_processor_type: "ViTImageProcessor", size: { height: 8, width: 12 } }));
  const photo = join(path, "photo.png");
  const { data, ...raw } = picture(24, 16, 3);
  await sharp(data, { raw }).png().toFile(photo);
  const text = await printed(["read", "--model", place, "--config", JSON.stringify({ decoder: { labels: Array.from({ length: 11 }, (_, id) => `w${id} `) } }), photo]);
  assert.match(text, /^\S*photo\.png\t(w\d+ )+/);
  const [report] = JSON.parse(await printed(["read", "--model", place, "--max-tokens", "3", "--beams", "2", "--json", photo]));
  assert.equal(report.tokens.length, 3);
  await refused(["read", "--beams", "x", photo], 2, /--beams: expected a whole number from 1, got "x"/);
  await refused(["read", photo], 1, /read: this model has no decoder/);
});
