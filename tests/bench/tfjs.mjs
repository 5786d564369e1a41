// A model of ours in tfjs operators, so that TensorFlow.js runs the same weights.
import { withPositions } from "./models.mjs";

/** How attention's two products are written: for all heads at once, or head by head. Head by head,
 *  tfjs-backend-wasm hands them to XNNPACK, which is faster for one image. */
export const forms = (batch) => ["batched", batch === 1 ? "by head" : "image by image"];

// The config that is written here. A key that is not listed may have any value. `withPositions`
// makes learned positions of sincos2d.
const supported = {
  norm: "pre",
  final_norm: true,
  activation: "gelu",
  position: "learned",
  pool: "class",
  prefix: ["class"],
  attention: "standard",
  qkv_bias: true,
  qk_norm: false,
  layer_scale: false,
};

/** Why this config has no tfjs form; undefined if it has one. */
export function missing(config) {
  const peerConfig = config.position === "sincos2d" ? { ...config, position: "learned" } : config;
  const other = ([key, value]) => key in peerConfig && JSON.stringify(peerConfig[key]) !== JSON.stringify(value);
  const [[key, value] = []] = Object.entries(supported).filter(other);
  return key && `no tfjs form of ${key} ${config[key]}, only of ${value}`;
}

/** { run: image (B,H,W,C) → logits (B,K), dispose }, for this batch only; `tf` is tfjs-core. */
export function tfjsVit(tf, model, { batch = 1, form = "batched" } = {}) {
  const { config, tensors } = withPositions(model);
  const why = missing(config);
  if (why) throw new Error(why);
  const weights = upload(tf, tensors);
  const one = form === "image by image";
  const vit = new TfjsVit(tf, config, weights, one ? 1 : batch, form !== "batched");
  const eachOf = (images) => tf.split(images, batch).map((image) => tf.tidy(() => vit.logits(image)));
  return {
    run: (images) => tf.tidy(() => (one ? tf.concat(eachOf(images)) : vit.logits(images))),
    dispose: () => tf.dispose([...weights.values()]),
  };
}

/** A Linear's weight (N,K) becomes (K,N), a convolution's (D,C,P,P) becomes (P,P,C,D). */
function upload(tf, tensors) {
  const orders = { 2: [1, 0], 4: [2, 3, 1, 0] };
  const entries = [...tensors].map(([name, { shape, data }]) => {
    const order = orders[shape.length];
    const turn = (tensor) => (order ? tf.transpose(tensor, order) : tensor);
    return [name, tf.tidy(() => turn(tf.tensor(data, shape)))];
  });
  return new Map(entries);
}

class TfjsVit {
  constructor(tf, config, weights, batch, byHead) {
    Object.assign(this, { tf, config, weights, batch, byHead });
  }

  logits(image) {
    const { tf, batch, config: { depth, width } } = this;
    let x = this.tokens(image);
    for (let l = 0; l < depth; l++) x = this.block(x, `blocks.${l}`);
    const first = tf.slice(tf.reshape(x, [batch, -1, width]), [0, 0, 0], [batch, 1, width]);
    return this.linear(this.norm(tf.reshape(first, [batch, width]), "norm"), "head");
  }

  /** image (B,H,W,C) → tokens (B·T,D) */
  tokens(image) {
    const { tf, weights, batch, config: { stem = [], width } } = this;
    const maps = stem.reduce((x, layer, i) =>
      this.convolution(x, `patch_embed.backbone.${2 * i}`, [layer].flat()[1]), image);
    const kernel = weights.get("patch_embed.proj.weight"), [rows, columns] = kernel.shape;
    const grid = tf.conv2d(maps, kernel, [rows, columns], "valid");
    const flat = tf.reshape(grid, [batch, -1, width]);
    const patches = tf.add(flat, weights.get("patch_embed.proj.bias"));
    const prefixed = tf.concat([tf.tile(weights.get("cls_token"), [batch, 1, 1]), patches], 1);
    return tf.reshape(tf.add(prefixed, weights.get("pos_embed")), [-1, width]);
  }

  /** (B,H,W,C) → (B,H/stride,W/stride,S) */
  convolution(x, name, stride = 2) {
    const { tf, weights } = this;
    const y = tf.conv2d(x, weights.get(`${name}.weight`), stride, 1, "NHWC", 1, "floor");
    return this.gelu(tf.add(y, weights.get(`${name}.bias`)));
  }

  /** (B·T,D) → (B·T,D) */
  block(x, name) {
    const { tf } = this;
    const qkv = this.linear(this.norm(x, `${name}.norm1`), `${name}.attn.qkv`);
    const mixed = this.byHead ? this.attentionByHead(qkv) : this.attention(qkv);
    const y = tf.add(x, this.linear(mixed, `${name}.attn.proj`));
    const hidden = this.gelu(this.linear(this.norm(y, `${name}.norm2`), `${name}.mlp.fc1`));
    return tf.add(y, this.linear(hidden, `${name}.mlp.fc2`));
  }

  /** (B·T,3D) → (B·T,D) */
  attention(qkv) {
    const { tf } = this;
    const [q, k, v] = tf.unstack(this.split(qkv));
    const weights = this.softmax(tf.matMul(q, k, false, true));
    return this.joinHeads(tf.matMul(weights, v));
  }

  attentionByHead(qkv) {
    const { tf, batch, config: { heads, width } } = this;
    const count = batch * heads;
    const parts = tf.unstack(tf.reshape(this.split(qkv), [3 * count, -1, width / heads]));
    const [q, k, v] = [0, 1, 2].map((i) => parts.slice(i * count, (i + 1) * count));
    const scores = tf.stack(q.map((queries, i) => tf.matMul(queries, tf.transpose(k[i]))));
    const weights = tf.unstack(this.softmax(scores));
    return this.joinHeads(tf.stack(weights.map((rows, i) => tf.matMul(rows, v[i]))));
  }

  /** (B·T,3D) → q, k, v as (3,B,h,T,d) */
  split(qkv) {
    const { tf, batch, config: { heads, width } } = this;
    return tf.transpose(tf.reshape(qkv, [batch, -1, 3, heads, width / heads]), [2, 0, 3, 1, 4]);
  }

  /** (B,h,T,d), grouped in any way → (B·T,D) */
  joinHeads(x) {
    const { tf, batch, config: { heads, width } } = this;
    const split = tf.reshape(x, [batch, heads, -1, width / heads]);
    return tf.reshape(tf.transpose(split, [0, 2, 1, 3]), [-1, width]);
  }

  softmax(scores) {
    const { tf, config: { heads, width } } = this;
    return tf.softmax(tf.mul(scores, Math.sqrt(heads / width)));
  }

  linear(x, name) {
    const { tf, weights } = this;
    const [b, bias] = [weights.get(`${name}.weight`), weights.get(`${name}.bias`)];
    return tf.fused.matMul({ a: x, b, bias });
  }

  norm(x, name) {
    const { tf, weights, config: { norm_eps } } = this;
    const centred = tf.sub(x, tf.mean(x, -1, true));
    const variance = tf.mean(tf.square(centred), -1, true);
    const normed = tf.mul(centred, tf.rsqrt(tf.add(variance, norm_eps)));
    return tf.add(tf.mul(normed, weights.get(`${name}.weight`)), weights.get(`${name}.bias`));
  }

  gelu(x) {
    const { tf } = this;
    return tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));
  }
}
