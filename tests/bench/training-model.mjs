// A model of ours to train in a peer's operators. The peer gets the patches cut already and its
// matrices turned, so that a layer is one product.
import { withPositions } from "./models.mjs";
import { transpose } from "./onnx-graph.mjs";

/** What is written here. A key that is not listed may have any value. */
const supported = { norm: "pre", activation: "gelu", pool: "class", prefix: ["class"], qkv_bias: true, qk_norm: false, layer_scale: false };

/** Whether weight decay shrinks a parameter: in timm's names, only matrices. */
export const decays = (name) => name.endsWith(".weight") && !/(^|\.)norm\d?\.weight$/.test(name);

/**
 * The model at the start of training, for a peer.
 * @returns {{ config, tensors: object, position: object }} `tensors`: what is trained,
 *   { shape, data } by name, a Linear's weight as (K,N), per_head's as (h,d,3d); `position`: (1,T,D)
 *   where positions are fixed
 */
export function forPeers(model) {
  const { config } = model;
  for (const [key, value] of Object.entries(supported)) {
    if (JSON.stringify(config[key] ?? value) !== JSON.stringify(value)) throw new Error(`no form of ${key} ${config[key]} to train`);
  }
  const tensors = Object.fromEntries([...model.tensors].map(([name, tensor]) => [name, tensorForPeers(name, tensor, config)]));
  const position = tensors.pos_embed ? undefined : withPositions(model).tensors.get("pos_embed");
  return { config, tensors, ...(position && { position }) };
}

function tensorForPeers(name, { shape, data }, config) {
  const [rows, ...rest] = shape, columns = rest.reduce((a, b) => a * b, 1);
  if (config.attention === "per_head" && name.includes(".attn.qkv.")) return byHead(data, columns, config);
  if (!decays(name)) return { shape, data };
  return { shape: [columns, rows], data: transpose(data, rows, columns) };
}

/** The matrices (d,d) of q, k and v of every head → (h,d,3d); their biases → (h,1,3d). */
function byHead(data, columns, { width, heads }) {
  const d = width / heads, out = new Float32Array(data.length);
  for (let row = 0; row < 3 * width; row++) {
    const part = Math.floor(row / width), head = Math.floor((row % width) / d), column = part * d + (row % d);
    for (let i = 0; i < columns; i++) out[(head * columns + i) * 3 * d + column] = data[row * columns + i];
  }
  return { shape: [heads, columns, 3 * d], data: out };
}

/** Images (C,H,W) → their patches as rows, each (C,P,Q): an array of B·N rows. */
export function patchRows(images, { channels, image_size: [height, width], patch_size: [rows, columns] }) {
  const across = width / columns, count = across * (height / rows), size = channels * rows * columns;
  const out = new Float32Array(images.length * count * size);
  images.forEach((image, b) => {
    image.forEach((value, at) => {
      const x = at % width, y = Math.floor(at / width) % height, c = Math.floor(at / (width * height));
      const patch = Math.floor(y / rows) * across + Math.floor(x / columns);
      out[(b * count + patch) * size + (c * rows + (y % rows)) * columns + (x % columns)] = value;
    });
  });
  return { shape: [images.length * count, size], data: out };
}

/**
 * The mean cross-entropy of a batch.
 * @param ops the peer's operators, as in training-sides.mjs; none frees its arguments
 * @param w the peer's tensors by name
 * @param input { patches: patchRows', position where it is fixed, classes: (B,K) of 0 and 1 }
 */
export function loss(ops, config, w, input, batch) {
  const { depth, width, final_norm } = config;
  const linear = (x, name) => ops.add(ops.matMul(x, w[`${name}.weight`]), w[`${name}.bias`]);
  const norm = (x, name) => ops.add(ops.mul(ops.standardize(x, config.norm_eps), w[`${name}.weight`]), w[`${name}.bias`]);
  const patches = ops.reshape(linear(input.patches, "patch_embed.proj"), [batch, -1, width]);
  const tokens = ops.concat([ops.repeat(w.cls_token, batch), patches], 1);
  let x = ops.reshape(ops.add(tokens, w.pos_embed ?? input.position), [-1, width]);
  for (let l = 0; l < depth; l++) {
    const name = `blocks.${l}`;
    x = ops.add(x, attention(ops, config, w, norm(x, `${name}.norm1`), `${name}.attn`, batch));
    const hidden = ops.gelu(linear(norm(x, `${name}.norm2`), `${name}.mlp.fc1`));
    x = ops.add(x, linear(hidden, `${name}.mlp.fc2`));
  }
  const first = ops.first(ops.reshape(x, [batch, -1, width]));
  return ops.crossEntropy(input.classes, linear(final_norm ? norm(first, "norm") : first, "head"));
}

/** (B·T,D) → (B·T,D) */
function attention(ops, { attention: kind, heads: h, width: D }, w, x, name, B) {
  const d = D / h, perHead = kind === "per_head";
  const qkv = (order) => {
    const input = perHead ? ops.transpose(ops.reshape(x, [-1, h, d]), [1, 0, 2]) : x;
    const all = ops.add(ops.matMul(input, w[`${name}.qkv.weight`]), w[`${name}.qkv.bias`]);
    return ops.transpose(ops.reshape(all, perHead ? [h, B, -1, 3, d] : [B, -1, 3, h, d]), order);
  };
  const [q, k, v] = ops.parts(qkv(perHead ? [3, 1, 0, 2, 4] : [2, 0, 3, 1, 4])); // (B,h,T,d) each
  const scores = ops.mul(ops.matMul(q, ops.transpose(k, [0, 1, 3, 2])), ops.number(1 / Math.sqrt(d)));
  const mixed = ops.transpose(ops.matMul(ops.softmax(scores), v), [0, 2, 1, 3]);
  const outputs = ops.reshape(mixed, [-1, D]);
  return perHead ? outputs : ops.add(ops.matMul(outputs, w[`${name}.proj.weight`]), w[`${name}.proj.bias`]);
}
