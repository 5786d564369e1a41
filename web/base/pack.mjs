// The models to explain with, as one small file: safetensors, gzipped. A series is models of one
// shape: a single model, or the snapshots of a run. Its tensors hold whole numbers (snapshots, …), each
// snapshot as the difference from the one before, and a tensor of scales, one a row.
import { readSafetensors, writeSafetensors } from "./safetensors.mjs";

/** Steps of a scale on each side of 0. Snapshots need fewer, because they are many. */
const LEVELS = { vector: 127, model: 63, snapshot: 25 };

/** Rows with a scale of their own: the first size above 1 of a shape of several. */
const rowsOf = (shape) => (shape.length > 1 ? (shape.find((size) => size > 1) ?? 1) : 1);

/** [{ name, models: [{ step, weights: bytes of safetensors in float32 }] }] → bytes of safetensors */
export function pack(list) {
  const tensors = new Map(), series = {};
  for (const { name, models } of list) {
    const opened = models.map(({ weights }) => readSafetensors(weights));
    series[name] = { config: opened[0].config, steps: models.map(({ step }) => step) };
    for (const [tensor, { shape }] of opened[0].tensors) {
      const each = opened.map(({ tensors }) => tensors.get(tensor).data);
      const levels = shape.length === 1 ? LEVELS.vector : each.length > 1 ? LEVELS.snapshot : LEVELS.model;
      const { data, scale } = packTensor(each, rowsOf(shape), levels);
      tensors.set(`${name}/${tensor}`, { shape: [each.length, ...shape], data });
      tensors.set(`${name}/${tensor}.scale`, { shape: [scale.length], data: scale });
    }
  }
  return writeSafetensors({ config: { series }, tensors });
}

/** data (S, size): `each` in steps of its row's scale, as differences. The largest number of a row
 *  in any snapshot is `levels` steps. */
function packTensor(each, rows, levels) {
  const size = each[0].length, columns = size / rows;
  const scale = new Float32Array(rows);
  for (const numbers of each) {
    numbers.forEach((number, i) => {
      const row = Math.floor(i / columns);
      scale[row] = Math.max(scale[row], Math.abs(number) / levels);
    });
  }
  const data = new Int8Array(each.length * size);
  const before = new Int32Array(size);
  each.forEach((numbers, at) => {
    numbers.forEach((number, i) => {
      const unit = scale[Math.floor(i / columns)];
      const now = unit > 0 ? Math.round(number / unit) : 0;
      data[at * size + i] = now - before[i];
      before[i] = now;
    });
  });
  return { data, scale };
}

/** pack's inverse: { name: [{ step, weights }] }. */
export function unpack(bytes) {
  const { config, tensors } = readSafetensors(bytes);
  const list = Object.entries(config.series).map(([name, { config, steps }]) => {
    const models = steps.map(() => new Map());
    for (const [key, { shape, data }] of tensors) {
      if (!key.startsWith(`${name}/`) || key.endsWith(".scale")) continue;
      const each = unpackTensor(data, steps.length, tensors.get(`${key}.scale`).data);
      const tensor = key.slice(name.length + 1);
      models.forEach((model, at) => model.set(tensor, { shape: shape.slice(1), data: each[at] }));
    }
    const write = (step, at) => ({ step, weights: writeSafetensors({ config, tensors: models[at] }) });
    return [name, steps.map(write)];
  });
  return Object.fromEntries(list);
}

function unpackTensor(data, count, scale) {
  const size = data.length / count, columns = size / scale.length;
  const now = new Int32Array(size);
  return Array.from({ length: count }, (_, at) => {
    for (let i = 0; i < size; i++) now[i] += data[at * size + i];
    return Float32Array.from(now, (steps, i) => steps * scale[Math.floor(i / columns)]);
  });
}
