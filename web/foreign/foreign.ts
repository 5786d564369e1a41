/**
 * Checkpoints of other libraries: their configs, and their tensors' names and shapes, become a plain config
 * and a map of the tensors. This is a bundle of its own, which is loaded only for such a file.
 */
import { isObject, type Json } from "../base/json.js";
import { MOST_DEPTH } from "../generated/config.js";
import type { Mapping, Origin } from "../config.js";
import { addedTo, append, fileOf } from "./added.js";
import { asTimms, Checkpoint, findFamily, type Foreign, type Header, noFamily, type Pieces, tensorsOf } from "./checkpoint.js";
import type { DecoderSource } from "./decoders.js";
import type { Family } from "./family.js";
import { Refusal } from "./refusal.js";
import type { Bytes, RareBundles } from "./structure/structure.js";
import { mapOf } from "./map.js";
import { ofOpenClip } from "./open-clip.js";
import { withPositions } from "./positions.js";
import { prepareOf } from "./processor.js";
import { complete, isWhole } from "./sizes.js";
import { ofTimm } from "./timm.js";
import { ofTransformers, typeOf } from "./transformers.js";
import { objectOr, pair, wordOf } from "./words.js";

export { Checkpoint, tensorsOf };

export interface ConfigSources {
  /** The folder's config, and the caller's, whose keys win. Each may be in another library's words. */
  readonly folderConfig: Json | undefined;
  readonly callerConfig: Json | undefined;
  /** transformers' description of how a photo is prepared. */
  readonly processor: Json | undefined;
  /** transformers' description of how text is generated. */
  readonly generation?: Json | undefined;
  /** Whether a `prepare` is wanted. Otherwise a bad one is not refused. */
  readonly wantsPrepare: boolean;
}

/**
 * Translates other libraries' configs into ours: `config.json` of transformers and timm, open_clip's,
 * and their processors. Keys may be missing.
 *
 * @throws {Refusal} if the model or a key's value is not known here.
 */
export function translateConfig({ folderConfig: beside = {}, callerConfig: apart = {}, processor, generation, wantsPrepare }: ConfigSources): Json {
  const [folderConfig, callerConfig] = [beside, apart].map((config) => encoderOf(config, generation)) as [Json, Json];
  const both = { ...folderConfig, ...callerConfig };
  const photo = wantsPrepare && processor ? prepareOf(processor, both, typeOf(both.model_type)) : undefined;
  const own = ourConfig(folderConfig, wantsPrepare);
  const overrides = ourConfig(callerConfig, wantsPrepare);
  const crop = photo && pair(photo.crop);
  // DINOv2 and YOLOS take images of any size, so their processor's size is used.
  const image_size = overrides.image_size ?? (/^(dinov[23]|yolos)/.test(wordOf(folderConfig.model_type)) ? crop : undefined);
  const resized = image_size && own.image_size && !same(image_size, own.image_size);
  // The processor makes images of one size, so another size from the caller needs another `prepare`.
  const fits = overrides.image_size === undefined || same(overrides.image_size, crop);
  return {
    ...(fits && photo ? { prepare: photo } : {}),
    ...own,
    ...(image_size ? { image_size } : {}),
    ...(resized ? { position_size: own.image_size } : {}),
    ...overrides,
    ...(own.decoder !== undefined && overrides.decoder !== undefined && { decoder: { ...objectOr(overrides.decoder, {}), ...objectOr(own.decoder, {}) } }),
  };
}

/** The config of a VisionEncoderDecoder's encoder, with what decoders.ts reads when the file's names are known. */
function encoderOf(config: Json, generation: Json | undefined): Json {
  if (config.model_type !== "vision-encoder-decoder") return config;
  const { encoder, decoder, ...whole } = config, encoderConfig = objectOr(encoder, {});
  return { ...encoderConfig, decoder: { theirs: objectOr(decoder, {}), whole, encoder: encoderConfig.model_type, generation } };
}

function ourConfig(config: Json, wantsPrepare: boolean): Json {
  if (config.model_type && config.model_type !== "timm_wrapper") {
    return { ...ofTransformers(config), ...(isDecoderSource(config.decoder) && { decoder: config.decoder }) };
  }
  if (config.architecture) return ofTimm(config, wantsPrepare);
  return config.model_cfg ? ofOpenClip(config, wantsPrepare) : config;
}

/** Whether a decoder is in transformers' words. */
const isDecoderSource = (decoder: unknown): decoder is DecoderSource => isObject(decoder) && isObject(decoder.theirs);

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Completes a config by a file's tensors, and maps the tensors. The core checks everything again.
 * Undefined for a header that the core refuses.
 *
 * @param isOurs whether the config is of our own format, whose missing keys have defaults
 * @throws {Refusal} for a file of another kind, or for a key that neither file nor family sets.
 */
export function openForeign(header: Header, config: Json, isOurs = false, decoders?: Decoders): Foreign | undefined {
  const refusals: Refusal[] = [];
  let mapping: Mapping | undefined;
  for (let answers = config; ; ) {
    try {
      const foreign = openAnswered(header, answers, isOurs, decoders);
      if (refusals.length === 0) return foreign;
      mapping = foreign?.origin.mapping;
      break;
    } catch (error) {
      const refusal = error as Refusal, question = refusal.questions?.[0];
      if (!question) {
        if (refusals.length === 0) throw error;
        break;
      }
      refusals.push(refusal);
      if (question.values.length === 0) break; // what follows from sizes is asked later
      answers = { ...answers, [question.key]: question.values[0] };
    }
  }
  const all = new Refusal(refusals.map(({ message }) => message).join("; "));
  throw Object.assign(all, { questions: refusals.flatMap(({ questions }) => questions!), mapping });
}

function openAnswered(header: Header, { decoder: source, ...overrides }: Json, isOurs: boolean, decoders?: Decoders): Foreign | undefined {
  const tensors = tensorsOf(header);
  if (!tensors) return undefined;
  const found = findFamily(tensors);
  const decoder = found && isDecoderSource(source) ? decoders?.decoderOf(found, source) : undefined;
  if (!found && !isOurs && !isWhole(overrides)) throw noFamily(tensors);
  const added = found ? addedTo(found, overrides) : [];
  const checkpoint = found?.with(added) ?? asTimms(tensors); // the core will say that its first block is missing
  const completed = found && !isOurs ? complete(checkpoint, overrides) : { config: overrides, assumed: [] };
  const { config: encoderConfig, assumed } = withPositions(checkpoint, completed);
  const config = { ...encoderConfig, ...(decoder ? { decoder: decoder.config } : source !== undefined && { decoder: source }) };
  const { map, mapping, skipped } = mapOf(checkpoint, config, decoder);
  const { family } = checkpoint;
  const origin = { family: decoder?.family ?? family.name, assumed, skipped, mapping, projection: projectionOf(family, config), ...(decoder && { generation: decoder.generation }) };
  const all = [...added, ...decoder?.added ?? []];
  return { config, map, origin, ...(all.length > 0 && { append: (file: Pieces) => append(file, header, tensors, all) }) };
}

type Decoders = typeof import("./decoders.js");

interface Bundles extends RareBundles {
  readonly structure: typeof import("./structure/structure.js");
  readonly decoders: Decoders;
}

/** A part of web/load/bundles.ts. */
type LoadBundle = <Name extends keyof Bundles>(name: Name) => Promise<Bundles[Name]>;

/** Families whose names people take for models of their own. */
const BORROWED = /^(timm|vit-pytorch|torch\..*)$/;

/** As openForeign; a file that no family explains is read by its structure. */
export async function identifyForeign(header: Header, config: Json, isOurs: boolean, file: Bytes, bundle: LoadBundle): Promise<Foreign | undefined> {
  const tensors = tensorsOf(header);
  if (!tensors || isOurs) return openForeign(header, config, isOurs);
  const found = findFamily(tensors);
  if (isDecoderSource(config.decoder)) return openForeign(header, config, isOurs, await bundle("decoders"));
  if (found && !config.map && !config.decoder && (!BORROWED.test(found.family.name) || explains(found, config))) return openForeign(header, config);
  const { openStructure } = await bundle("structure");
  try {
    const { parameters, ...found } = await openStructure(tensors, header, config, file, bundle);
    return { ...found, written: fileOf(parameters) };
  } catch (cause) {
    const refusal = cause as Refusal;
    if (refusal.code !== "bad_tensor") throw cause; // questions
    try {
      return openForeign(header, config);
    } catch (other) {
      const { message, questions } = other as Refusal;
      if (found && !questions && !/is missing$/.test(message)) throw other;
      if (!questions) refusal.message = `${message}; ${refusal.message}`;
      throw refusal;
    }
  }
}

/** Whether a family's names stand for all tensors. */
function explains(checkpoint: Checkpoint, config: Json): boolean {
  if (!checkpoint.has("patch_embed.proj.weight")) return false;
  const { mapping, skipped } = mapOf(checkpoint, { ...config, depth: MOST_DEPTH }); // it ends at the last block of the file
  const names = new Set([...Object.values(mapping).flat(), ...skipped]);
  return checkpoint.tensors.every(({ name, count }) => count === 0 || names.has(name));
}

function projectionOf({ projection }: Family, { classes }: Json): Origin["projection"] {
  if (!projection) return null;
  if (!classes) return "pooled";
  return projection === "head" ? "head" : null;
}
