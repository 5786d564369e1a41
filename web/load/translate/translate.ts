/**
 * Translates other code's configs into ours: `config.json` of transformers and timm, open_clip's,
 * and their processors. This is a bundle of its own, which is loaded only for such a config.
 */
import { ourConfig, pair } from "./config.js";
import type { Json } from "../../base/json.js";
import { prepareOf } from "./processor.js";
import { wordOf } from "./words.js";

export interface Given {
  /** The folder's config, and the given one, whose keys win. Each may be in other code's words. */
  readonly beside: Json | undefined;
  readonly apart: Json | undefined;
  /** transformers' description of how a photo is prepared. */
  readonly processor: Json | undefined;
  /** Whether a `prepare` is wanted. Otherwise a bad one is not refused. */
  readonly asks: boolean;
}

/** @throws {Refusal} if the model or a key's value is not known here. */
export function translate({ beside = {}, apart = {}, processor, asks }: Given): Json {
  const photo = asks && processor ? prepareOf(processor, { ...beside, ...apart }) : undefined;
  const own = ourConfig(beside, asks);
  const told = ourConfig(apart, asks);
  const crop = photo && pair(photo.crop);
  // A DINOv2 takes images of any size, so its processor's size is used.
  const image_size = told.image_size ?? (/^dinov2/.test(wordOf(beside.model_type)) ? crop : undefined);
  const resized = image_size && own.image_size && !same(image_size, own.image_size);
  // The processor makes images of one size. Another given size needs another `prepare`.
  const fits = told.image_size === undefined || same(told.image_size, crop);
  return {
    ...(fits && photo ? { prepare: photo } : {}),
    ...own,
    ...(image_size ? { image_size } : {}),
    ...(resized ? { position_size: own.image_size } : {}),
    ...told,
  };
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
