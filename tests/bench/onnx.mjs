// A model of ours as an ONNX file, so that ONNX Runtime runs the same weights.
import { withPositions } from "./models.mjs";
import { Graph, MICROSOFT, types } from "./onnx-graph.mjs";

/** The operators in which the graph is written: `standard` ones only, like those of exporters and
 *  quantize_dynamic; or ONNX Runtime's own fused ones for attention and int8 products. */
export const forms = ["standard", "fused"];

// Values of the config that can be exported. A key that is not listed is exported with any value.
const exported = {
  norm: ["pre", "post"],
  position: ["none", "learned", "sincos2d"],
  attention: ["standard"],
  qk_norm: [false],
};

const activations = {
  gelu: (graph, x) => graph.op("Gelu", [x]),
  gelu_tanh: (graph, x) => graph.op("Gelu", [x], { approximate: "tanh" }),
  quick_gelu: (graph, x) =>
    graph.op("Mul", [x, graph.op("Sigmoid", [graph.op("Mul", [x, graph.scalar(1.702)])])]),
  relu: (graph, x) => graph.op("Relu", [x]),
};

/** A model from readSafetensors → the bytes of an ONNX file: `image` (batch,C,H,W) → `logits`
 *  (batch,K), or with doubt (batch,K + 1), for this batch only. The input of an int8 weight is
 *  quantised during the run, in 8 bits with one scale for the tensor. */
export function toOnnx(model, { batch = 1, form = "standard" } = {}) {
  const { config, tensors } = withPositions(model);
  for (const [key, values] of Object.entries(exported)) {
    if (key in config && !values.includes(config[key])) {
      throw new Error(`no ONNX export for ${key} ${config[key]}, only for ${values.join(", ")}`);
    }
  }
  const graph = new Graph(tensors);
  let x = tokens(graph, config, batch);
  for (let l = 0; l < config.depth; l++) x = block(graph, config, x, `blocks.${l}`, batch, form);
  logits(graph, config, x);
  const { image_size: [rows, columns], channels } = config, [classes] = graph.shape("head.weight");
  return graph.encode([batch, channels, rows, columns], [batch, classes]);
}

/** image (B,C,H,W) → maps (B,S,rows,columns) */
function convolutions(graph, { stem = [], activation }) {
  return stem.reduce((maps, layer, i) => {
    const [, stride = 2] = [layer].flat();
    const shape = { kernel_shape: [3, 3], strides: [stride, stride], pads: [1, 1, 1, 1] };
    const name = `patch_embed.backbone.${2 * i}`;
    const kernel = graph.weights(`${name}.weight`, `${name}.bias`);
    return activations[activation](graph, graph.op("Conv", [maps, ...kernel], shape));
  }, "image");
}

/** image (B,C,H,W) → tokens (B,T,D) */
function tokens(graph, config, batch) {
  const { image_size, patch_size, width, position } = config;
  const patches = (image_size[0] / patch_size[0]) * (image_size[1] / patch_size[1]);
  const kernel = graph.weights("patch_embed.proj.weight", "patch_embed.proj.bias");
  const size = graph.shape("patch_embed.proj.weight").slice(2);
  const stride = { kernel_shape: size, strides: size };
  const grid = graph.op("Conv", [convolutions(graph, config), ...kernel], stride);
  const flat = graph.op("Reshape", [grid, graph.ints([batch, width, patches])]);
  const x = graph.op("Transpose", [flat], { perm: [0, 2, 1] });

  const prefix = graph
    .weights("cls_token", "dist_token", "reg_token")
    .map((token) => graph.op("Expand", [token, graph.ints([batch, 1, 1])]));
  const prefixed = (y) => (prefix.length ? graph.op("Concat", [...prefix, y], { axis: 1 }) : y);
  if (position === "none") return prefixed(x);
  const addPositions = (y) => graph.op("Add", [y, ...graph.weights("pos_embed")]);
  return graph.shape("pos_embed")[1] === patches ? prefixed(addPositions(x)) : addPositions(prefixed(x));
}

/** One block, (B,T,D) → (B,T,D) */
function block(graph, config, x, name, batch, form) {
  const legs = [
    ["norm1", "ls1", (y) => attention(graph, config, y, `${name}.attn`, batch, form)],
    ["norm2", "ls2", (y) => mlp(graph, config, y, `${name}.mlp`, form)],
  ];
  for (const [norm, scale, leg] of legs) {
    const normed = (y) => layerNorm(graph, config, y, `${name}.${norm}`);
    const gamma = graph.weights(`${name}.${scale}.gamma`);
    const scaled = (y) => gamma.reduce((z, gain) => graph.op("Mul", [z, gain]), y);
    x =
      config.norm === "post"
        ? normed(graph.op("Add", [x, scaled(leg(x))]))
        : graph.op("Add", [x, scaled(leg(normed(x)))]);
  }
  return x;
}

function attention(graph, { width, heads }, x, name, batch, form) {
  const mixed = form === "fused"
    ? fusedAttention(graph, heads, x, `${name}.qkv`)
    : standardAttention(graph, [batch, -1, heads, width / heads], x, `${name}.qkv`);
  return linear(graph, mixed, `${name}.proj`, form);
}

function fusedAttention(graph, num_heads, x, name) {
  const weight = graph.transposed(`${name}.weight`);
  const bias = optional(graph, `${name}.bias`);
  if (!graph.isInt8(`${name}.weight`)) {
    return graph.op("Attention", [x, weight, bias], { num_heads }, { domain: MICROSOFT });
  }
  const [q, scale, zero] = quantize(graph, x);
  const inputs = [q, weight, bias, scale, ...graph.weights(`${name}.weight.scale`), "", zero];
  return graph.op("QAttention", inputs, { num_heads }, { domain: MICROSOFT });
}

function standardAttention(graph, split, x, name) {
  const [batch, , heads, size] = split;
  const thirds = { axis: 2, num_outputs: 3 };
  const parts = graph.op("Split", [linear(graph, x, name)], thirds, { outputs: 3 });
  const [q, k, v] = parts.map((part, i) =>
    graph.op("Transpose", [graph.op("Reshape", [part, graph.ints(split)])], {
      perm: i === 1 ? [0, 2, 3, 1] : [0, 2, 1, 3], // k as (B,h,d,T), q and v as (B,h,T,d)
    }),
  );
  const scaled = graph.op("Mul", [q, graph.scalar(1 / Math.sqrt(size))]);
  const weights = graph.op("Softmax", [graph.op("MatMul", [scaled, k])], { axis: -1 });
  const mixed = graph.op("Transpose", [graph.op("MatMul", [weights, v])], { perm: [0, 2, 1, 3] });
  return graph.op("Reshape", [mixed, graph.ints([batch, -1, heads * size])]);
}

function mlp(graph, { activation }, x, name, form) {
  const hidden = activations[activation](graph, linear(graph, x, `${name}.fc1`, form));
  return linear(graph, hidden, `${name}.fc2`, form);
}

/** tokens (B,T,D) → `logits` (B,K) */
function logits(graph, config, x) {
  const normed = (y, name) =>
    graph.shape(`${name}.weight`) ? layerNorm(graph, config, y, name) : y;
  const tokens = normed(x, "norm");
  const token = (at) => graph.op("Gather", [tokens, graph.ints(at)], { axis: 1 });
  const patches = () => {
    const [from, to, axis] = [config.prefix.length, 2 ** 31 - 1, 1].map((n) => graph.ints([n]));
    const rows = graph.op("Slice", [tokens, from, to, axis]);
    return graph.op("ReduceMean", [rows, axis], { keepdims: 0 });
  };
  const pooled = config.pool === "mean" ? patches() : token(0);
  let scores = linear(graph, normed(pooled, "fc_norm"), "head");
  if (config.prefix.includes("distillation")) {
    const both = graph.op("Add", [scores, linear(graph, token(1), "head_dist")]);
    scores = graph.op("Mul", [both, graph.scalar(0.5)]);
  }
  graph.op("Identity", [scores], {}, { output: "logits" });
}

/** y = x Wᵀ + b */
function linear(graph, x, name, form = "standard") {
  const weight = graph.transposed(`${name}.weight`);
  const bias = optional(graph, `${name}.bias`);
  const biased = (y) => (bias ? graph.op("Add", [y, bias]) : y);
  if (!graph.isInt8(`${name}.weight`)) return biased(graph.op("MatMul", [x, weight]));

  const scales = graph.weights(`${name}.weight.scale`);
  if (form === "fused") {
    const inputs = [x, weight, ...scales, "", bias];
    return graph.op("DynamicQuantizeMatMul", inputs, {}, { domain: MICROSOFT });
  }
  const [q, scale, zero] = quantize(graph, x);
  const sums = graph.op("Cast", [graph.op("MatMulInteger", [q, weight, zero])], { to: types.FLOAT });
  return biased(graph.op("Mul", [sums, graph.op("Mul", [scale, ...scales])]));
}

/** [uint8 values, their scale, the value that stands for 0] */
function quantize(graph, x) {
  return graph.op("DynamicQuantizeLinear", [x], {}, { outputs: 3 });
}

/** An input that may be missing. ONNX writes a missing one as "". */
function optional(graph, name) {
  return graph.weights(name)[0] ?? "";
}

function layerNorm(graph, { norm_eps }, x, name) {
  const inputs = [x, ...graph.weights(`${name}.weight`, `${name}.bias`)];
  return graph.op("LayerNormalization", inputs, { axis: -1, epsilon: Float32Array.of(norm_eps) });
}

