// The sides of a contest in training: ours, tfjs and jax-js. A side's `run` takes one step on the
// whole batch and resolves to its loss before the step.
import { readSafetensors } from "../../web/base/safetensors.mjs";
import { decays, forPeers, loss, patchRows } from "./training-model.mjs";

/** Ours. `start` is the model before the first step. An epoch is one step, because the data is one
 *  batch; so the order of the images does not matter. */
export async function oursSide(Trainer, recipe, { images, labels }, options) {
  const trainer = await Trainer.create({ recipe }, options);
  await trainer.add(images, labels);
  const { config } = trainer, start = { config, tensors: readSafetensors(await trainer.save()).tensors };
  const epochs = trainer.run({ epochs: 100_000 });
  return {
    start,
    variant: trainer.variant,
    threads: trainer.threads,
    run: async () => (await epochs.next()).value.loss,
    close: () => trainer.dispose(),
    times: [],
  };
}

/** The constants of a step of AdamW; step is counted from 1. */
const corrections = ({ beta1, beta2 }, step) => [1 - beta1 ** step, 1 - beta2 ** step];

/** What `loss` takes as input, of a batch. */
function inputs({ config, position }, { images, labels }) {
  const { classes } = config;
  const hot = new Float32Array(labels.length * classes);
  labels.forEach((label, i) => { hot[i * classes + label] = 1; });
  const all = { patches: patchRows(images, config), classes: { shape: [labels.length, classes], data: hot } };
  return { ...all, ...(position && { position }) };
}

/** tfjs with its own Adam, in the backend that is set; what decays shrinks before a step. */
export function tfjsSide(tf, start, training, data) {
  const peer = forPeers(start), batch = data.images.length;
  const tensor = ({ shape, data }) => tf.tensor(data, shape);
  const map = (object, change) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
  const w = map(peer.tensors, (one) => tf.tidy(() => tf.variable(tensor(one))));
  const input = map(inputs(peer, data), tensor);
  const { learning_rate, weight_decay, beta1, beta2, epsilon } = training;
  const adam = tf.train.adam(learning_rate, beta1, beta2, epsilon);
  const shrunk = weight_decay > 0 ? Object.keys(w).filter(decays) : [];
  const ops = tfjsOps(tf);
  const step = () => tf.tidy(() => {
    const { value, grads } = tf.variableGrads(() => loss(ops, peer.config, w, input, batch), Object.values(w));
    for (const name of shrunk) w[name].assign(tf.mul(w[name], 1 - learning_rate * weight_decay));
    adam.applyGradients(grads);
    return value;
  });
  return {
    run: async () => {
      const value = step(), [number] = await value.data();
      value.dispose();
      return number;
    },
    close: () => {
      adam.dispose();
      tf.dispose([...Object.values(w), ...Object.values(input)]);
    },
    times: [],
  };
}

const tfjsOps = (tf) => ({
  number: (x) => x,
  add: tf.add,
  mul: tf.mul,
  matMul: (a, b) => tf.matMul(a, b),
  reshape: tf.reshape,
  transpose: tf.transpose,
  concat: tf.concat,
  repeat: (x, count) => tf.tile(x, [count, 1, 1]),
  parts: (x) => tf.unstack(x),
  first: (x) => tf.reshape(tf.slice(x, [0, 0, 0], [-1, 1, -1]), [x.shape[0], x.shape[2]]),
  softmax: (x) => tf.softmax(x),
  gelu: (x) => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1)),
  standardize: (x, eps) => {
    const centred = tf.sub(x, tf.mean(x, -1, true));
    return tf.mul(centred, tf.rsqrt(tf.add(tf.mean(tf.square(centred), -1, true), eps)));
  },
  crossEntropy: (hot, logits) => tf.losses.softmaxCrossEntropy(hot, logits),
});

/** jax-js on its default device; the whole step is one `jit`. */
export function jaxSide(jax, start, training, data) {
  const { numpy: np, jit, valueAndGrad } = jax;
  const peer = forPeers(start), batch = data.images.length, names = Object.keys(peer.tensors);
  const array = ({ shape, data }) => np.array(data).reshape(shape);
  const each = (make) => Object.fromEntries(names.map((name) => [name, make(name)]));
  const input = Object.fromEntries(Object.entries(inputs(peer, data))
    .map(([name, value]) => [name, array(value)]));
  const ops = jaxOps(jax);
  const gradient = valueAndGrad((w, examples) => loss(ops, peer.config, w, examples, batch));
  const { learning_rate, weight_decay, beta1, beta2, epsilon } = training;
  const step = jit((state, examples, first, second) => {
    const [value, g] = gradient(state.w, examples);
    const m = each((name) => ops.add(state.m[name].ref.mul(beta1), g[name].ref.mul(1 - beta1)));
    const v = each((name) => ops.add(state.v[name].ref.mul(beta2), np.square(g[name].ref).mul(1 - beta2)));
    const w = each((name) => {
      const move = m[name].ref.div(first.ref).div(np.sqrt(v[name].ref.div(second.ref)).add(epsilon));
      const weight = state.w[name].ref.mul(decays(name) ? 1 - learning_rate * weight_decay : 1);
      return weight.sub(move.mul(learning_rate));
    });
    return [value, { w, m, v }];
  });
  const zeros = () => each((name) => np.zeros(peer.tensors[name].shape));
  let state = { w: each((name) => array(peer.tensors[name])), m: zeros(), v: zeros() }, steps = 0;
  return {
    run: async () => {
      const examples = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, value.ref]));
      const [value, next] = step(state, examples, ...corrections(training, ++steps).map((x) => np.array(x)));
      state = next;
      await jax.blockUntilReady(state);
      return (await value.data())[0];
    },
    close: () => {
      step.dispose();
      const groups = [input, ...Object.values(state)];
      for (const value of groups.flatMap((group) => Object.values(group))) value.dispose();
    },
    times: [],
  };
}

/** jax-js frees an argument unless it is given as `ref`. */
function jaxOps({ numpy: np, nn, lax }) {
  return {
    number: (x) => x,
    add: (a, b) => a.ref.add(b.ref),
    mul: (a, b) => a.ref.mul(b.ref ?? b),
    matMul: (a, b) => np.matmul(a.ref, b.ref),
    reshape: (x, shape) => x.ref.reshape(shape),
    transpose: (x, order) => np.transpose(x.ref, order),
    concat: (list, axis) => np.concatenate(list.map((x) => x.ref), axis),
    repeat: (x, count) => np.tile(x.ref, [count, 1, 1]),
    parts: (x) => [0, 1, 2].map((i) => x.ref.slice(i)),
    first: (x) => x.ref.slice([], 0),
    softmax: (x) => nn.softmax(x.ref, -1),
    gelu: (x) => nn.gelu(x.ref, { approximate: false }),
    standardize: (x, epsilon) => nn.standardize(x.ref, -1, { epsilon }),
    crossEntropy: (hot, logits) => hot.ref.mul(nn.logSoftmax(logits.ref, -1)).sum().mul(-1 / logits.shape[0]),
  };
}
