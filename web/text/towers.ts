/** Text towers of other libraries: their tensors' names, and what their configs say or leave to their code. */
import { isObject, type Json, parseObject } from "../base/json.js";
import type { Checkpoint, Foreign, Header } from "../foreign/checkpoint.js";
import type { Family } from "../foreign/family.js";
import { ACTIVATIONS, meaning, RESBLOCKS } from "../foreign/words.js";
import { MOST_DEPTH } from "../generated/config.js";
import { bundle } from "../load/bundles.js";
import type { LoadSource } from "../load/resolve-source.js";

/** What a config says, or a library's code does without one. */
interface TowerSettings {
  readonly heads: unknown;
  readonly norm_eps: unknown;
  readonly activation: unknown;
  readonly mask: "causal" | "none";
  readonly pool: unknown;
  readonly end?: unknown;
  /** What fills the places after a text that is not given as ids; undefined: nothing has to. */
  readonly padding?: unknown;
}

interface Library {
  /** Tensors of each tower, after a prefix that they share. */
  readonly needs: readonly [string, ...string[]];
  readonly family: Family;
  /**
   * @param siglip whether cosines have a bias: in SigLIP all tokens see each other, and the last is pooled
   * @param image the config of the images' tower
   */
  read(config: Json, siglip: boolean, image: Json): TowerSettings;
}

export const objectIn = (value: unknown): Json => (isObject(value) ? value : {});

const family = (name: string, names: string, headTransposed = false): Family =>
  ({ name, names, anchors: [], fixed: {}, resize: "plain", headTransposed });

const OWN_NAMES = `
  token_embed.weight token_embedding.weight
  pos_embed positional_embedding
  ${RESBLOCKS}
  norm ln_final`;

/** open_clip's words for what is pooled. */
const POOLS: Readonly<Record<string, string>> = { argmax: "largest", eos: "end", last: "last" };

/** Of a file alone, `text_config: { num_attention_heads }` of the caller is read, in transformers' words. */
function ofOpenClip({ model_cfg, text_config }: Json, siglip: boolean, { activation, norm_eps }: Json): TowerSettings {
  const model = objectIn(model_cfg), c = objectIn(model.text_cfg);
  if (!isObject(model.text_cfg)) {
    const own = { heads: objectIn(text_config).num_attention_heads, activation, mask: siglip ? "none" : "causal" } as const;
    return siglip ? { ...own, norm_eps, pool: "last", padding: 1 } : { ...own, norm_eps: 1e-5, pool: "largest" };
  }
  const tanh = objectIn(c.act_kwargs).approximate === "tanh", bare = c.no_causal_mask === true;
  const pool = meaning("text_cfg.pool_type", c.pool_type ?? "argmax", POOLS);
  return {
    heads: c.heads ?? 8,
    norm_eps: objectIn(c.norm_kwargs).eps ?? 1e-5,
    activation: model.quick_gelu ? "quick_gelu" : tanh ? "gelu_tanh" : "gelu",
    mask: bare ? "none" : "causal",
    pool,
    end: pool === "end" ? c.eos_id ?? 2 : undefined,
    padding: bare || pool === "last" ? c.pad_id ?? (siglip ? 1 : 0) : undefined,
  };
}

function ofTransformers({ text_config, text_config_dict, model_type }: Json, siglip: boolean): TowerSettings {
  const isConfigured = isObject(text_config) || model_type !== undefined;
  const c = { ...objectIn(text_config), ...objectIn(text_config_dict) };
  const own = {
    heads: c.num_attention_heads ?? (isConfigured ? (siglip ? 12 : 8) : undefined),
    activation: meaning("text_config.hidden_act", c.hidden_act ?? (siglip ? "gelu_pytorch_tanh" : "quick_gelu"), ACTIVATIONS),
    norm_eps: c.layer_norm_eps ?? (siglip ? 1e-6 : 1e-5),
  };
  if (siglip) return { ...own, mask: "none", pool: "last", padding: c.pad_token_id ?? 1 };
  const end = isConfigured ? c.eos_token_id ?? 49407 : 2; // older configs say 2, which is no end: their code takes the largest id
  return { ...own, mask: "causal", ...(end === 2 ? { pool: "largest" } : { pool: "end", end }) };
}

const OWN_BLOCK = "transformer.resblocks.0.attn.in_proj_weight";

const LIBRARIES: readonly Library[] = [
  {
    needs: ["text_model.embeddings.token_embedding.weight", "text_model.encoder.layers.0.self_attn.q_proj.weight"],
    family: family("transformers' text tower", `
  token_embed.weight text_model.embeddings.token_embedding.weight
  pos_embed text_model.embeddings.position_embedding.weight
  blocks.*.norm1 text_model.encoder.layers.*.layer_norm1
  blocks.*.attn.qkv text_model.encoder.layers.*.self_attn.{q_proj,k_proj,v_proj}
  blocks.*.attn.proj text_model.encoder.layers.*.self_attn.out_proj
  blocks.*.norm2 text_model.encoder.layers.*.layer_norm2
  blocks.*.mlp.fc1 text_model.encoder.layers.*.mlp.fc1
  blocks.*.mlp.fc2 text_model.encoder.layers.*.mlp.fc2
  norm text_model.final_layer_norm
  proj text_model.head
  proj text_projection`),
    read: ofTransformers,
  },
  {
    needs: ["token_embedding.weight", OWN_BLOCK, "text_projection"],
    family: family("OpenAI's and open_clip's text tower", `${OWN_NAMES}
  proj.weight text_projection`, true),
    read: ofOpenClip,
  },
  {
    needs: ["token_embedding.weight", OWN_BLOCK],
    family: family("open_clip's text tower", `${OWN_NAMES}
  proj text_projection`),
    read: ofOpenClip,
  },
];

/** The heads of towers whose heads are not 64 wide, by their width: SigLIP's SO400M. */
const HEADS: Readonly<Record<number, number>> = { 1152: 16 };

const weightAndBias = (name: string) => [`${name}.weight`, `${name}.bias`];
const TENSORS = ["token_embed.weight", "pos_embed", ...["norm", "proj"].flatMap(weightAndBias)];
const BLOCK_TENSORS = ["norm1", "attn.qkv", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2"].flatMap(weightAndBias);

/** A source's config in its own words. */
export async function configOf({ configs: [folder, caller] }: Pick<LoadSource, "configs">): Promise<Json> {
  return { ...(await folder), ...(caller && parseObject(await caller, "config")) };
}

/**
 * The model of a file together with its text tower; alone if none is known here.
 *
 * @param model the same without that tower
 * @throws a Refusal for a config.
 */
export async function joinTower(model: Foreign, header: Header, source: Pick<LoadSource, "configs">): Promise<Foreign> {
  const config = await configOf(source), { Checkpoint, tensorsOf } = await bundle("foreign");
  const tensors = tensorsOf(header) ?? [], byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (const { needs, family, read } of LIBRARIES) {
    const prefixes = tensors.filter(({ name }) => name === needs[0] || name.endsWith(`.${needs[0]}`)).map(({ name }) => name.slice(0, -needs[0].length));
    const prefix = prefixes.find((before) => needs.every((need) => byName.has(before + need)));
    if (prefix === undefined || model.map === undefined) continue;
    const tower = new Checkpoint(family, prefix, tensors, byName), siglip = tower.find("logit_bias", true) !== undefined;
    return join(model, tower, complete(tower, read(config, siglip, model.config), siglip));
  }
  return model;
}

function complete(tower: Checkpoint, { heads, end, ...settings }: TowerSettings, siglip: boolean): Json {
  const [vocabulary = 0, width = 0] = tower.tensor("token_embed.weight")!.shape;
  const projection = tower.tensor("proj.weight")?.shape[tower.family.headTransposed ? 1 : 0] ?? 0;
  let depth = 0;
  while (depth < MOST_DEPTH && tower.has(`blocks.${depth}.norm1.weight`)) depth++;
  return {
    depth,
    width,
    heads: heads ?? HEADS[width] ?? Math.max(1, Math.floor(width / 64)),
    mlp_width: tower.rows("blocks.0.mlp.fc1.weight"),
    vocabulary,
    max_tokens: tower.tensor("pos_embed")?.shape[0] ?? 0,
    projection,
    projection_bias: tower.has("proj.bias"),
    logit_bias: siglip,
    ...(Number(end) < vocabulary || typeof end !== "number" ? { end } : {}), // else no token is it, and the first is pooled
    ...settings,
  };
}

function join(model: Foreign, tower: Checkpoint, text: Json): Foreign {
  const map = JSON.parse(model.map!) as { readonly tensors: Json; readonly transposed: readonly string[]; readonly skipped: readonly string[] };
  const tensors: Record<string, readonly string[]> = {};
  const add = (ours: string) => {
    const names = tower.sources(ours).map(({ name }) => name);
    tensors[`text.${ours}`] = names.length > 0 ? names : tower.missingNames(ours);
  };
  TENSORS.forEach(add);
  for (let block = 0; block < (text.depth as number); block++) BLOCK_TENSORS.forEach((name) => add(`blocks.${block}.${name}`));
  for (const name of ["logit_scale", "logit_bias"]) tensors[`text.${name}`] = [tower.find(name, true)?.name ?? name];
  const used = new Set(Object.values(tensors).flat());
  const joined = {
    ...map,
    strict: false, // towers are written without dimensions of 1, whatever the images' library does
    tensors: { ...map.tensors, ...tensors },
    transposed: [...map.transposed, ...(tower.family.headTransposed ? ["text.proj.weight"] : [])],
    skipped: map.skipped.filter((name) => !used.has(name)),
  };
  return { ...model, config: { ...model.config, text }, map: JSON.stringify(joined) };
}
