/** One token through one block, by the weights of the model's file. Needs no page. */
import type { VitConfig } from "vitrine";
import { dot, rowOf } from "../../vectors.ts";
import type { Weights } from "../../weights.ts";

type Numbers = Float32Array | Float64Array;

/** Ba et al., arXiv:1607.06450, section 3. */
function normed(x: Numbers, gain: Numbers, bias: Numbers, epsilon: number) {
  let mean = 0, variance = 0;
  for (const value of x) mean += value / x.length;
  for (const value of x) variance += (value - mean) ** 2 / x.length;
  const y = Float64Array.from(x, (value, i) => (gain[i]! * (value - mean)) / Math.sqrt(variance + epsilon) + bias[i]!);
  return { x, mean, spread: Math.sqrt(variance), gain, bias, y };
}

/** W x + b, for each row of W. */
export const linear = (x: Numbers, weight: Float32Array, bias: Float32Array | undefined): Float64Array =>
  Float64Array.from({ length: weight.length / x.length }, (_, row) => dot(rowOf(weight, row, x.length), x) + (bias?.[row] ?? 0));

/** The normal distribution's integral from −∞ to x, within 1e-7: Abramowitz and Stegun, 7.1.26. */
function normalCdf(x: number): number {
  const z = Math.abs(x) / Math.SQRT2, t = 1 / (1 + 0.3275911 * z);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const half = (series * Math.exp(-z * z)) / 2;
  return x > 0 ? 1 - half : half;
}

export const ACTIVATIONS: Record<VitConfig["activation"], { name: string; of(x: number): number }> = {
  gelu: { name: "GELU", of: (x) => x * normalCdf(x) },
  gelu_tanh: { name: "GELU", of: (x) => (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))) / 2 },
  quick_gelu: { name: "QuickGELU", of: (x) => x / (1 + Math.exp(-1.702 * x)) },
  relu: { name: "ReLU", of: (x) => Math.max(0, x) },
  tanh: { name: "tanh", of: Math.tanh },
  silu: { name: "SiLU", of: (x) => x / (1 + Math.exp(-x)) },
};

export type Inside = ReturnType<typeof insideOf>;

/**
 * `before` is the token before the block, `attention` what attention adds to it. Returns both norms; what attention reads;
 * the hidden units (M) before the activation and as the second layer reads them; what the MLP adds (D), layer scale included.
 */
export function insideOf(config: Readonly<VitConfig>, weights: Weights, layer: number, before: Float32Array, attention: Float32Array) {
  const of = (name: string) => weights(`blocks.${layer}.${name}`), pre = config.norm === "pre";
  const norm = (which: number, x: Numbers) => normed(x, of(`norm${which}.weight`)!, of(`norm${which}.bias`)!, config.norm_eps);
  const plus = (x: Numbers, more: Numbers) => Float64Array.from(more, (value, i) => value + (config.residual ? x[i]! : 0));
  const middle = plus(before, attention), first = norm(1, pre ? before : middle);
  const token = pre ? middle : first.y, second = pre ? norm(2, token) : undefined;
  const made = linear(second?.y ?? token, of("mlp.fc1.weight")!, of("mlp.fc1.bias"));
  const hidden = made.slice(0, config.mlp_width), values = made.slice(config.mlp_width); // values: if it is gated
  const gain = of("mlp.norm.weight"), scale = of("ls2.gamma");
  const acts = hidden.map((value, i) => ACTIVATIONS[config.activation].of(value) * (values[i] ?? 1));
  const active = gain ? normed(acts, gain, of("mlp.norm.bias")!, config.norm_eps).y : acts;
  const mlp = linear(active, of("mlp.fc2.weight")!, of("mlp.fc2.bias")).map((value, i) => value * (scale?.[i] ?? 1));
  return { norms: [first, second ?? norm(2, plus(token, mlp))] as const, input: pre ? first.y : before, hidden, active, mlp };
}

/** One number of a head's query, key or value (0, 1, 2) as a product: the inputs, a row of the matrix, its bias. */
export function rowOfQkv({ attention, heads, head_width: d }: Readonly<VitConfig>, weights: Weights, layer: number, input: Numbers, which: number, head: number, number: number) {
  const row = (which * heads + head) * d + number, matrix = weights(`blocks.${layer}.attn.qkv.weight`)!;
  const inputs = attention === "per_head" ? rowOf(input, head, d) : input;
  return { inputs, weights: rowOf(matrix, row, inputs.length), bias: weights(`blocks.${layer}.attn.qkv.bias`)?.[row] ?? 0 };
}
