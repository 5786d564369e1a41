import { Vit, VitError } from "vitrine";
import weights from "../../weights/digits.safetensors?url";
import { measure, rasterise } from "./ink.ts";
import type { Reading, State } from "./state.ts";

declare const WEIGHTS_BYTES: number; // see vite.config.ts

/** In the page's own thread: a digit takes less time than a worker to start. */
export function loadModel(onProgress: (loaded: number, total: number) => void): Promise<Vit> {
  return Vit.load(new URL(weights, document.baseURI), {
    onProgress: (loaded, total) => onProgress(loaded, total || WEIGHTS_BYTES),
  });
}

/** Reads the drawing as it is now; undefined where there is no ink. */
export async function read({ model, strokes, version }: State): Promise<Reading | undefined> {
  const raster = rasterise(strokes);
  const ink = measure(raster);
  if (!model || !ink) return undefined;
  try {
    return { result: await model.classify(raster, { attention: true }), ink, version };
  } catch (error) {
    if (error instanceof VitError && error.code === "blank_image") return undefined;
    throw error;
  }
}
