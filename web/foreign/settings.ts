/**
 * Settings that a training script saved beside the weights, in the same pickle or as a config.json.
 * This is a bundle of its own, loaded only for a file that has some.
 */
import type { Json } from "../base/json.js";

/** Other scripts' words for our keys. */
const WORDS: Readonly<Record<string, string>> = {
  heads: "heads num_heads nhead n_heads n_head num_attention_heads nheads",
  activation: "activation act hidden_act activation_fn act_layer",
  image_size: "image_size img_size input_size",
  patch_size: "patch_size patch",
  channels: "channels in_channels in_chans num_channels n_channels",
  norm_eps: "norm_eps layer_norm_eps layer_norm_epsilon eps",
  pool: "pool pooling",
  norm: "norm_first pre_norm",
  labels: "labels classes class_names class_to_idx idx_to_class",
};

/** A config of ours from settings as JSON; the last text wins. What is not understood is left out, and so is asked for. */
export function besideOf(texts: readonly string[]): Json {
  const all = Object.assign({}, ...texts.map((text) => JSON.parse(text) as Json)) as Json;
  const nested = Object.entries(all).filter(([key, value]) => /model|param|arg|config|net|vit/i.test(key) && value instanceof Object && !Array.isArray(value));
  const beside = { ...Object.assign({}, ...nested.map(([, value]) => value as Json)), ...all } as Json;
  const config: Record<string, unknown> = {};
  for (const [ours, words] of Object.entries(WORDS)) {
    const value = words.split(" ").map((word) => beside[word]).find((one) => one !== undefined);
    const meaning = value === undefined ? undefined : meaningOf(ours, value);
    if (meaning !== undefined) config[ours] = meaning;
  }
  const [mean, std] = [beside.mean, beside.std].map((value) => [value].flat());
  const isChannels = (values: readonly unknown[]) => values.length <= 4 && values.every((one) => typeof one === "number");
  if (isChannels(mean!) && isChannels(std!)) config.prepare = { kind: "photo", resize: null, mean, std };
  return config;
}

function meaningOf(key: string, value: unknown): unknown {
  const whole = Number.isInteger(value) && (value as number) > 0;
  if (key === "heads" || key === "channels") return whole ? value : undefined;
  if (key === "norm_eps") return typeof value === "number" && value > 0 && value < 1e-2 ? value : undefined;
  if (key === "image_size" || key === "patch_size") {
    return whole ? [value, value] : Array.isArray(value) && value.length === 2 && value.every(Number.isInteger) ? value : undefined;
  }
  if (key === "norm") return typeof value === "boolean" ? (value ? "pre" : "post") : undefined;
  if (key === "pool") return ({ cls: "class", class: "class", token: "class", mean: "mean", avg: "mean" } as Record<string, string>)[String(value)];
  if (key === "activation") return ["gelu", "relu", "gelu_tanh", "quick_gelu"].find((word) => word === String(value).toLowerCase());
  if (Array.isArray(value)) return value.every((one) => typeof one === "string") ? value : undefined;
  const pairs = Object.entries(Object(value) as object);
  const byIndex = pairs.map(([a, b]) => (typeof b === "number" ? [b, a] : [Number(a), b]) as [number, unknown]).sort(([a], [b]) => a - b);
  return byIndex.length > 0 && byIndex.every(([at, label], index) => at === index && typeof label === "string") ? byIndex.map(([, label]) => label) : undefined;
}
