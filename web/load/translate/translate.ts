/**
 * Other code's configs in our words: `config.json` of transformers and timm, open_clip's, and their
 * processors. A bundle of its own, which is loaded only where there is such a config.
 */
import { ourConfig, pair } from "./config.js";
import type { Json } from "../../base/json.js";
import { prepareOf } from "./processor.js";
import { wordOf } from "./words.js";

export interface Given {
  /** The folder's, and over it the one given apart: each in anybody's words. */
  readonly beside: Json | undefined;
  readonly apart: Json | undefined;
  /** What is done to a photo, in transformers' words. */
  readonly processor: Json | undefined;
  /** Whether a `prepare` is wanted; else none is refused. */
  readonly asks: boolean;
}

/** @throws {Refusal} where it is of a model that is not known here, or a key's value is not. */
export function translate({ beside = {}, apart = {}, processor, asks }: Given): Json {
  const photo = asks && processor ? prepareOf(processor, { ...beside, ...apart }) : undefined;
  const own = ourConfig(beside, asks);
  const told = ourConfig(apart, asks);
  const crop = photo && pair(photo.crop);
  // a DINOv2 takes images of any size, so its processor's is the one
  const image_size = told.image_size ?? (/^dinov2/.test(wordOf(beside.model_type)) ? crop : undefined);
  const resized = image_size && own.image_size && !same(image_size, own.image_size);
  // of images of a size told apart, the processor makes none: pixels then need another `prepare`
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
