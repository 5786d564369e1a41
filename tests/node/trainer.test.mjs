// The Trainer of "vitrine/train": a task learnt, the same bits however it is run, and what it refuses.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { Trainer } from "../../dist/train.js";
import { Vit, VitError } from "../../dist/vit.js";
import { BARS, bars, KINDS, SIDE, SPELLED, spelled, values } from "./bars.mjs";
import { caseOf, modelBytes, shared } from "./golden.mjs";
import { during, rejects, variants, ways } from "./support.mjs";

/** Enough to learn the task of bars. */
const EPOCHS = 20;

/** A recipe that learns it in seconds. */
const recipe = {
  model: BARS,
  training: { batch: 16, learning_rate: 4e-3, min_learning_rate: 1e-4, warmup_epochs: 1, clip_norm: 1, ema_decay: 0.9, drop_path: 0.1, augment: { shift: 0.5, rotation: 5 } },
};

const made = [];
afterEach(() => made.splice(0).forEach((one) => one.dispose()));

async function create(source = { recipe }, options = {}) {
  made.push(await Trainer.create(source, { seed: 5, ...options }));
  return made.at(-1);
}

async function filled(options, count = 96) {
  const trainer = await create({ recipe }, options);
  const { images, labels } = bars(count);
  await trainer.add(images.map(values), labels);
  return trainer;
}

const all = async (run) => {
  const epochs = [];
  for await (const epoch of run) epochs.push(epoch);
  return epochs;
};

/** A file's config, and its tensors' numbers by name. */
function contents(file) {
  const { config, tensors } = readSafetensors(file);
  return { config, arrays: Object.fromEntries([...tensors].map(([name, { data }]) => [name, data])) };
}

/** Stops a run after some steps, by breaking off or by a signal. */
async function stopAfter(trainer, steps, epochs) {
  const stop = new AbortController();
  const reason = new Error("enough");
  let count = 0;
  const onStep = () => ++count === steps && stop.abort(reason);
  await assert.rejects(all(trainer.run({ epochs, signal: stop.signal, onStep })), reason);
  assert.equal(count, steps);
}

describe("a task is learnt", () => {
  for (const { variant, worker } of ways) {
    test(`by the ${variant} build${worker ? ", in a worker" : ""}`, async () => {
      const trainer = await filled({ variant, worker }, 240);
      const other = bars(60, 99);
      await trainer.add(other.images.map(values), other.labels.map((kind) => KINDS[kind]), { part: "validation" });
      assert.equal(trainer.variant, variant);
      const steps = [];
      const epochs = await all(trainer.run({ epochs: EPOCHS, onStep: (step) => steps.push(step) }));
      assert.deepEqual(epochs.map(({ epoch }) => epoch), Array.from({ length: EPOCHS }, (_, index) => index + 1));
      assert.equal(steps.length, EPOCHS * Math.ceil(240 / 16));
      assert.deepEqual(steps.slice(0, 2).map(({ epoch, epochs, step, steps }) => [epoch, epochs, step, steps]), [[1, EPOCHS, 1, 15], [1, EPOCHS, 2, 15]]);
      assert.ok(steps.every(({ loss, imagesPerSecond, secondsLeft }) => loss > 0 && imagesPerSecond > 0 && secondsLeft >= 0));
      assert.ok(epochs[EPOCHS - 1].loss < epochs[0].loss / 2, JSON.stringify(epochs));
      assert.ok(epochs[EPOCHS - 1].validation.accuracy >= 0.95, JSON.stringify(epochs));
      const vit = await trainer.vit();
      made.push(vit);
      const answers = await vit.classifyAll(other.images.map(values));
      const right = answers.filter(({ classes }, index) => classes[0].index === other.labels[index]).length;
      assert.equal(right / 60, epochs[EPOCHS - 1].validation.accuracy); // the weights that were measured are the ones that run
      assert.equal(answers[0].classes[0].label, KINDS[answers[0].classes[0].index]);
      assert.deepEqual(vit.config.log.map(({ epoch, loss, validation }) => [epoch, loss, validation]), epochs.map(({ epoch, loss, validation }) => [epoch, loss, validation]));
      assert.equal(vit.config.training.learning_rate, 4e-3);
    });
  }

  test("of images with three channels", async () => {
    const model = { ...recipe.model, channels: 3, prepare: { kind: "photo", resize: SIDE, mean: [0.1, 0.2, 0.3], std: [0.5, 0.4, 0.3] } };
    const trainer = await create({ recipe: { ...recipe, model } });
    const { images, labels } = bars(240, 7, 3);
    await trainer.add(images, labels);
    const epochs = await all(trainer.run({ epochs: EPOCHS }));
    const vit = await trainer.vit();
    made.push(vit);
    const other = bars(60, 99, 3);
    const answers = await vit.classifyAll(other.images);
    const right = answers.filter(({ classes }, index) => classes[0].index === other.labels[index]).length;
    assert.ok(right >= 57, `${right} of 60; ${JSON.stringify(epochs)}`);
  });

  test("from drawings, on top of a model that knows other signs", async () => {
    const digits = readFileSync(new URL("../../weights/digits.safetensors", import.meta.url));
    const trainer = await create({ from: digits, labels: ["square", "cross"], freeze: "all but head" });
    const point = (x, y) => ({ x, y, width: 12 });
    const draw = (index) => {
      const [a, b] = [40 + (index % 5) * 4, 150 + (index % 3) * 10];
      const square = [[point(a, a), point(b, a), point(b, b), point(a, b), point(a, a)]];
      const cross = [[point(a, a), point(b, b)], [point(b, a), point(a, b)]];
      return { strokes: index % 2 ? cross : square, width: 200, height: 200 };
    };
    const drawings = Array.from({ length: 12 }, (_, index) => draw(index));
    await trainer.add(drawings, drawings.map((_, index) => ["square", "cross"][index % 2]));
    await all(trainer.run({ epochs: 30 }));
    const vit = await trainer.vit();
    made.push(vit);
    for (let index = 20; index < 26; index++) {
      const { classes } = await vit.classify(draw(index));
      assert.equal(classes[0].label, ["square", "cross"][index % 2]);
      assert.ok(classes[0].p > 0.8, `${classes[0].p}`);
    }
    const before = contents(digits).arrays, after = contents(await trainer.save()).arrays;
    for (const [name, numbers] of Object.entries(after)) {
      if (!name.startsWith("head.")) assert.deepEqual(numbers, before[name], `${name} was to stay as it is`);
    }
    assert.equal(vit.config.temperature, 1);
  });
});

describe("texts", () => {
  const LONG = 30;
  const spelling = { model: SPELLED, training: { ...recipe.training, learning_rate: 1e-2, min_learning_rate: 1e-3 } };

  /** A trainer with images and their kinds' names as tokens. */
  async function spellingTrainer(options, count = 96, source = { recipe: spelling }) {
    const trainer = await create(source, options);
    const { images, labels } = bars(count);
    await trainer.add(images.map(values), labels.map(spelled));
    return trainer;
  }

  for (const options of [{}, { worker: true, threads: 2 }]) {
    test(`a decoder learns to spell what it sees${options.threads ? ", by two threads" : ""}`, async () => {
      const trainer = await spellingTrainer(options, 240);
      const { images, labels } = bars(60, 99);
      await trainer.add(images.map(values), labels.map((kind) => Uint16Array.from(spelled(kind))), { part: "validation" });
      const epochs = await all(trainer.run({ epochs: LONG }));
      assert.ok(epochs[LONG - 1].loss < epochs[0].loss / 10, JSON.stringify(epochs));
      const vit = await trainer.vit();
      made.push(vit);
      let right = 0;
      for (const [n, image] of images.entries()) {
        const { text, tokens } = await vit.read(values(image));
        right += text === KINDS[labels[n]] && tokens.at(-1).id === SPELLED.decoder.end;
      }
      assert.equal(right / 60, epochs[LONG - 1].validation.accuracy); // a text is right as a whole
      assert.equal(right, 60);
      const further = await spellingTrainer({}, 48, { from: await trainer.save(), labels: [], freeze: "all but head" });
      const [{ loss }] = await all(further.run({ epochs: 1 }));
      assert.ok(loss < epochs[0].loss / 10, `${loss}`);
      const [before, after] = [contents(await trainer.save()).arrays, contents(await further.save()).arrays];
      for (const [name, numbers] of Object.entries(after)) {
        if (!name.startsWith("decoder.")) assert.deepEqual(numbers, before[name], `${name} was to stay as it is`);
      }
      assert.notDeepEqual(after["decoder.head.weight"], before["decoder.head.weight"]);
    });
  }

  test("a trainer resumed from a checkpoint gives the same bits, and takes longer texts afterwards", async () => {
    const whole = await spellingTrainer({});
    await all(whole.run({ epochs: 2 }));
    for (const steps of [0, 1, 5, 6, 11]) {
      const trainer = await spellingTrainer({});
      if (steps > 0) await stopAfter(trainer, steps, 2);
      const other = await Trainer.resume(await trainer.checkpoint());
      made.push(other);
      await all(other.run({ epochs: 2 }));
      assert.deepEqual(await other.save(), await whole.save(), `resumed after ${steps}`);
    }
    const longer = [...spelled(0).slice(0, -1), 3, 4, 1], image = values(bars(1).images[0]), again = await Trainer.resume(await whole.checkpoint());
    made.push(again);
    for (const trainer of [whole, again]) {
      await trainer.add([image], [longer]);
      await all(trainer.run({ epochs: 1 }));
    }
    assert.deepEqual(await again.save(), await whole.save());
  });

  test("what is no text of the model is refused, and takes none of its call's images in", async () => {
    const trainer = await create({ recipe: spelling });
    const { images } = bars(2), good = images.map(values);
    const wrong = (text, message) => rejects(() => trainer.add(good, [spelled(0), text]), "bad_argument", message);
    await rejects(() => all(trainer.run({ epochs: 1 })), "bad_argument", /images with their texts to train on, got none/);
    await wrong([0, 13, 1], /^image 1: labels: expected tokens from 0 to 12, got 13/);
    await wrong([0, -1, 1], /from 0 to 12, got -1/);
    await wrong([0, 1.5], /from 0 to 12, got 1.5/);
    await wrong([0, "a"], /from 0 to 12, got a/);
    await wrong([0, undefined, 1], /from 0 to 12, got undefined/);
    await wrong([], /the text's 2 to 10 tokens, its first one among them, got /);
    await wrong([1], /2 to 10 tokens, its first one among them, got 1/);
    await wrong(Array(11).fill(3), /2 to 10 tokens.*got 11/);
    await wrong("across", /2 to 10 tokens.*got across/);
    await wrong(1, /2 to 10 tokens.*got 1/);
    await rejects(() => trainer.add(good, [spelled(0)]), "bad_argument", /one for each of 2 images, got 1/);
    await rejects(() => trainer.add([good[0], good[0].slice().fill(2)], good.map(() => spelled(0))), "bad_image", /image 1: .*pixels/);
    await rejects(() => all(trainer.run({ epochs: 1 })), "bad_argument", /got none/);
    await trainer.add(good, [[0, 3], spelled(1)]); // a text need not end
    assert.equal((await all(trainer.run({ epochs: 1 }))).length, 1);
  });

  test("without paddings all texts have one length, and an end that is the padding is not learnt", async () => {
    const { padding, ...decoder } = SPELLED.decoder;
    const trainer = await create({ recipe: { ...spelling, model: { ...SPELLED, decoder } } });
    const [image] = bars(1).images.map(values);
    await rejects(() => trainer.add([image, image], [[0, 1], [0, 3, 1]]), "bad_argument", /image 1: expected texts of one length.*got 3 tokens after 2/);
    await trainer.add([image, image], [[0, 3, 1], [0, 4, 1]]);
    await rejects(() => trainer.add([image], [[0, 1]]), "bad_argument", /got 2 tokens after 3/);
    assert.equal((await all(trainer.run({ epochs: 1 }))).length, 1);
    const model = { ...SPELLED, decoder: { ...decoder, padding: decoder.end } };
    await rejects(() => create({ recipe: { ...spelling, model } }), "bad_config", /decoder.padding: expected another token than the end, 1/);
  });

  test("labels are for classes, texts for decoders", async () => {
    const file = await (await spellingTrainer({}, 6)).save();
    await rejects(() => create({ from: file, labels: ["a"] }), "bad_argument", /labels: expected \[\] for a decoder/);
    for (const labels of [undefined, []]) await rejects(() => create({ from: modelBytes("per_head"), labels }), "bad_argument", /labels: expected an array/);
    await rejects(() => filled({}).then((trainer) => trainer.add([values(bars(1).images[0])], [[0, 1]])), "bad_argument", /class's name or number/);
    const large = { ...SPELLED, decoder: { ...SPELLED.decoder, vocabulary: 257, labels: undefined } };
    await rejects(() => create({ recipe: { ...spelling, model: large } }), "bad_config", /vocabulary: expected at most 256/);
  });
});

describe("the same bits", () => {
  const once = async (options, epochs = 3) => {
    const trainer = await filled(options);
    await all(trainer.run({ epochs }));
    return trainer.save();
  };

  for (const variant of variants) {
    test(`with and without a worker, by the ${variant} build`, async () => {
      assert.deepEqual(await once({ variant, worker: true }), await once({ variant }));
    });
  }

  test("each time with two threads, and nearly those of one", async () => {
    const [two, again, one] = [await once({ threads: 2 }), await once({ threads: 2, worker: true }), await once({})];
    assert.deepEqual(two, again);
    const [a, b] = [two, one].map((file) => contents(file).arrays["head.weight"]);
    assert.ok(a.every((value, index) => Math.abs(value - b[index]) < 1e-3));
    assert.equal((await filled({ threads: 2 })).threads, 2);
  });

  test("another seed gives others", async () => {
    assert.notDeepEqual(await once({ seed: 6 }), await once({}));
  });

  test("a run that is stopped after any step goes on", async () => {
    const whole = await once({}, 2);
    for (let steps = 1; steps < 12; steps++) {
      const trainer = await filled({});
      await stopAfter(trainer, steps, 2);
      await all(trainer.run({ epochs: 2 }));
      assert.deepEqual(await trainer.save(), whole, `stopped after ${steps}`);
    }
  });

  test("a loop that is left after an epoch goes on", async () => {
    const trainer = await filled({});
    for await (const { epoch } of trainer.run({ epochs: 3 })) if (epoch === 1) break;
    assert.deepEqual((await all(trainer.run({ epochs: 3 }))).map(({ epoch }) => epoch), [2, 3]);
    assert.deepEqual(await trainer.save(), await once({}));
  });

  test("a trainer that is resumed from a checkpoint after any step", async () => {
    const whole = await once({}, 2);
    for (let steps = 0; steps < 12; steps++) {
      const trainer = await filled({});
      if (steps > 0) await stopAfter(trainer, steps, 2);
      const checkpoint = await trainer.checkpoint();
      trainer.dispose();
      const other = await Trainer.resume(checkpoint, { worker: steps % 2 === 1 });
      made.push(other);
      await all(other.run({ epochs: 2 }));
      assert.deepEqual(await other.save(), whole, `resumed after ${steps}`);
    }
  });

  test("runs after each other, and a checkpoint between them", async () => {
    const trainer = await filled({});
    await all(trainer.run({ epochs: 1 }));
    const other = await Trainer.resume(await trainer.checkpoint());
    made.push(other);
    assert.deepEqual(contents(await other.save()).arrays, contents(await trainer.save()).arrays);
    await all(trainer.run({ epochs: 2 }));
    await all(other.run({ epochs: 2 }));
    const [a, b] = [contents(await trainer.save()), contents(await other.save())];
    assert.deepEqual(a, b);
    assert.deepEqual(a.config.log.map(({ epoch }) => epoch), [1, 2, 3]);
  });

  test("a model that learns nothing is the model that it began from", async () => {
    for (const name of ["pre_gelu_learned", "tanh_sincos2d_rectangular", "registers_scale_qknorm", "stem", "fc_norm", "relative"]) {
      const file = modelBytes(name);
      const before = await Vit.load(file);
      made.push(before);
      const { channels, image_size: [height, width], labels } = before.config;
      const image = Float32Array.from({ length: channels * height * width }, (_, index) => (index * 37 % 256) / 255);
      const trainer = await create({ from: file, labels, training: { learning_rate: 0, batch: 2 } });
      await trainer.add(labels.map(() => image), labels);
      await all(trainer.run({ epochs: 1 }));
      const after = await trainer.vit();
      made.push(after);
      assert.deepEqual((await after.classify(image)).logits, (await before.classify(image)).logits, name);
    }
  });
});

describe("checkpoints of other libraries, which learn nothing", () => {
  /** Of what the trainer cannot go back through: it says so. */
  const REFUSALS = /has no backward pass|expected class or mean/;
  const folder = shared("families");
  const cases = folder ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "case.json"))) : [];
  const skip = cases.length === 0 && "no folder families in the data that VITRINE_DATA names";

  test("stay the models that they are, or are refused by the reason", { skip }, async (t) => {
    let same = 0;
    for (const name of cases) {
      const { source: from, expect } = caseOf(folder, name);
      if (expect === "refused") continue;
      const before = await Vit.load(from);
      made.push(before);
      const { channels, image_size: [height, width], classes, prepare } = before.config;
      const plane = height * width;
      const image = Float32Array.from({ length: channels * plane }, (_, index) => {
        const value = (index * 37 % 256) / 255, channel = Math.floor(index / plane);
        return prepare?.kind === "photo" ? (value - prepare.mean[channel]) / prepare.std[channel] : value;
      });
      const labels = Array.from({ length: classes || 2 }, (_, index) => `class ${index}`);
      let trainer;
      try {
        trainer = await create({ from, labels, training: { learning_rate: 0, batch: 2 } });
        await trainer.add(labels.map(() => image), labels);
        await all(trainer.run({ epochs: 1 }));
      } catch (error) {
        assert.equal(error.code, "bad_config", `${name}: ${error.stack}`);
        assert.match(error.message, REFUSALS, name);
        continue;
      }
      const after = await trainer.vit();
      made.push(after);
      assert.deepEqual((await after.embed(image)).pooled, (await before.embed(image)).pooled, name);
      if (classes) assert.deepEqual((await after.classify(image)).logits, (await before.classify(image)).logits, name);
      same++;
    }
    t.diagnostic(`${same} of ${cases.length} checkpoints of other libraries can be trained further`);
    assert.ok(same >= 10, `only ${same}`);
  });
});

describe("refused, and the trainer stays usable", () => {
  test("a class without an example, and a part that is not there", async () => {
    const trainer = await create();
    const { images, labels } = bars(3);
    await rejects(() => all(trainer.run({ epochs: 1 })), "bad_argument", /none of "across"/);
    await trainer.add(images.slice(0, 2).map(values), labels.slice(0, 2));
    await rejects(() => all(trainer.run({ epochs: 1 })), "bad_argument", /none of "slant"/);
    await rejects(() => trainer.add([], [], { part: "test" }), "bad_option", /part/);
    await trainer.add([values(images[2])], ["slant"]);
    assert.equal((await all(trainer.run({ epochs: 1 }))).length, 1); // one example of each is enough
  });

  test("a bad image takes none of its call's images in", async () => {
    const trainer = await create();
    const { images } = bars(3);
    const good = images.map(values);
    const nan = good[0].slice().fill(NaN, 3, 4), loud = good[0].slice().fill(2, 3, 4);
    await rejects(() => trainer.add([...good, nan], [0, 1, 2, 0]), "bad_image", /image 3: .*NaN/);
    await rejects(() => trainer.add([...good, loud], [0, 1, 2, 0]), "bad_image", /image 3: .*pixels/);
    await rejects(() => trainer.add(good, [0, 1]), "bad_argument", /labels: expected one for each of 3 images, got 2/);
    await rejects(() => trainer.add(good, [0, 1, "round"]), "bad_argument", /labels: .*round/);
    await rejects(() => trainer.add(good, [0, 1, 3]), "bad_argument", /labels: .*3/);
    await rejects(() => all(trainer.run({ epochs: 1 })), "bad_argument", /none of "across"/);
  });

  test("a loss that is no longer finite", async () => {
    const training = { ...recipe.training, learning_rate: 10, weight_decay: 10, warmup_epochs: 0, schedule: "constant" }; // each step makes the matrices 99 times as large
    const trainer = await create({ recipe: { ...recipe, training } });
    const { images, labels } = bars(48);
    await trainer.add(images.map(values), labels);
    await rejects(() => all(trainer.run({ epochs: 20 })), "bad_argument", /no longer finite/);
    for (const [name, numbers] of Object.entries(contents(await trainer.save()).arrays)) {
      assert.ok(numbers.every(Number.isFinite), name);
    }
    await rejects(() => all(trainer.run({ epochs: 20 })), "bad_argument", /no longer finite/); // it goes on from there
  });

  test("two runs at once, an aborted signal, and unknown options", async () => {
    const trainer = await filled({});
    const first = trainer.run({ epochs: 2 });
    await first.next();
    await rejects(() => all(trainer.run({ epochs: 2 })), "bad_argument", /one run at a time/);
    await first.return();
    await assert.rejects(all(trainer.run({ epochs: 1, signal: AbortSignal.abort(new Error("no")) })), /no/);
    assert.throws(() => trainer.run({ epochs: 0 }), { name: "VitError", code: "bad_option" });
    assert.throws(() => trainer.run({ epochs: 1, onstep() {} }), { name: "VitError", code: "bad_option", message: /onstep/ });
    assert.equal((await all(trainer.run({ epochs: 1 }))).length, 1);
  });

  test("without a worker, timers run between steps", async () => {
    const trainer = await filled({});
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("enough")));
    await assert.rejects(all(trainer.run({ epochs: 100_000, signal: stop.signal })), /enough/);
  });

  test("recipes and sources that cannot be trained", async () => {
    const wrong = async (source, code, message) => rejects(() => Trainer.create(source), code, message);
    await wrong({ recipe: 7 }, "bad_config", /recipe/);
    await wrong({ recipe: { model: { ...recipe.model, width: 0 } } }, "bad_config", /width/);
    await wrong({ recipe: { ...recipe, training: { learning_rat: 1 } } }, "bad_config", /learning_rat/);
    await wrong({ recipe: { ...recipe, model: { ...recipe.model, classes: 300, labels: undefined } } }, "bad_config", /at most 255/);
    await wrong({ from: modelBytes("per_head"), labels: [] }, "bad_argument", /labels/);
    await wrong({ from: modelBytes("per_head"), labels: ["a", "a"] }, "bad_argument", /"a" twice/);
    await wrong({ from: modelBytes("per_head"), labels: ["a", "b"], freeze: 9 }, "bad_option", /freeze/);
    await wrong({ from: modelBytes("per_head").subarray(0, 900), labels: ["a", "b"] }, "bad_file", /./);
    const int8 = readFileSync(new URL("../../weights/digits-int8.safetensors", import.meta.url));
    await wrong({ from: int8, labels: ["a", "b"] }, "bad_tensor", /int8/);
    await rejects(() => Trainer.create({ recipe }, { seed: -1 }), "bad_option", /seed/);
    await rejects(() => Trainer.create({ recipe }, { threads: 0 }), "bad_option", /threads/);
    const large = { ...recipe.model, width: 16384, mlp_width: 65536, depth: 64 };
    await wrong({ recipe: { ...recipe, model: large } }, "no_memory", /./);
  });

  test("what a run needs and only the command has", async () => {
    const trainer = await create({ recipe: { ...recipe, training: { ...recipe.training, drawings: 2 } } });
    const { images, labels } = bars(3);
    await trainer.add(images.map(values), labels);
    await rejects(() => all(trainer.run({ epochs: 1 })), "bad_argument", /drawings/);
  });

  test("a module that traps: the trainer says that it has failed, then and later", async () => {
    const instantiate = WebAssembly.instantiate;
    const trapping = async (...args) => {
      const { exports } = await instantiate(...args);
      return { exports: exports.vitt_step ? { ...exports, vitt_step: () => { throw new WebAssembly.RuntimeError("unreachable"); } } : exports };
    };
    const trainer = await during(WebAssembly, "instantiate", trapping, () => filled({}));
    const failed = /^this Trainer has failed/;
    await rejects(() => all(trainer.run({ epochs: 1 })), "internal", /^this Trainer has failed \(.*unreachable/);
    await rejects(() => trainer.save(), "internal", failed);
    await rejects(() => trainer.checkpoint(), "internal", failed);
  });

  test("calls after dispose, and a run under way", async () => {
    const trainer = await filled({ worker: true });
    const run = all(trainer.run({ epochs: 500, onStep: () => trainer.dispose() }));
    await rejects(() => run, "disposed", /disposed/);
    await rejects(() => trainer.save(), "disposed", /disposed/);
    trainer.dispose();
    assert.equal(typeof trainer[Symbol.dispose ?? "dispose"], "function");
  });
});

describe("a checkpoint from a stranger", () => {
  const checkpoint = async () => {
    const trainer = await filled({}, 12);
    await stopAfter(trainer, 1, 2);
    return trainer.checkpoint();
  };

  test("cut short anywhere is refused", async () => {
    const whole = await checkpoint();
    for (let length = 0; length < whole.length; length += 1 + Math.floor(length / 9)) {
      await rejects(() => Trainer.resume(whole.slice(0, length)), "bad_file", /checkpoint|bytes/);
    }
    await rejects(() => Trainer.resume(new Uint8Array([...whole, 0])), "bad_file", /checkpoint/);
  });

  test("with any byte changed is refused, or a trainer that works", async () => {
    const whole = await checkpoint();
    for (let at = 0; at < whole.length; at += 1 + Math.floor(at / 40)) {
      const changed = whole.slice();
      changed[at] ^= 0x55;
      const trainer = await Trainer.resume(changed).catch((error) => {
        assert.ok(error instanceof VitError && error.code !== "internal", `byte ${at}: ${error.stack}`);
      });
      if (!trainer) continue;
      await trainer.save().finally(() => trainer.dispose());
    }
  });

  /** FNV-1a, as src/train/checkpoint.c computes it. */
  const hash = (bytes) => bytes.reduce((sum, byte) => BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n), 0xcbf29ce484222325n);

  test("whose hash is right, but not its labels, is refused", async () => {
    for (const [model, label] of [[BARS, 0], [SPELLED, spelled(0)]]) {
      const trainer = await create({ recipe: { ...recipe, model } });
      await trainer.add(bars(4).images.map(values), Array(4).fill(label));
      const whole = await trainer.checkpoint(), view = (bytes) => new DataView(bytes.buffer);
      const sizes = Array.from({ length: 4 }, (_, part) => Number(view(whole).getBigUint64(8 + 8 * part, true)));
      const first = 160 + sizes[0] + sizes[1] + sizes[2];
      for (const change of [(bytes) => (bytes[first] = 200), (bytes) => view(bytes).setBigUint64(32, BigInt(sizes[3] - 1), true), (bytes) => view(bytes).setBigUint64(24, 0n, true)]) {
        const changed = whole.slice();
        change(changed);
        view(changed).setBigUint64(changed.length - 8, hash(changed.subarray(0, -8)), true);
        await rejects(() => Trainer.resume(changed), "bad_file", /other examples than its recipe/);
      }
    }
  });

  test("is refused if it is something else", async () => {
    await rejects(() => Trainer.resume(modelBytes("per_head")), "bad_file", /checkpoint/);
  });
});

test("the package's errors are one class, and a trainer's module is recognised by its name", async () => {
  const error = await Trainer.create({ recipe: 1 }).catch((thrown) => thrown);
  assert.ok(error instanceof VitError);
  const inference = readFileSync(new URL("../../dist/vit.simd128.wasm", import.meta.url));
  await rejects(() => Trainer.create({ recipe }, { wasm: inference }), "bad_wasm", /vitt_|vitw_/);
  await during(globalThis, "fetch", () => assert.fail("nothing is fetched"), () => filled({}, 6));
});
