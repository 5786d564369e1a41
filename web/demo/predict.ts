import { Vit, VitError } from "vitrine";
import { drawingOf } from "./ink.ts";
import type { ModelFile } from "./models.ts";
import { onPad } from "./photo.ts";
import type { Reading, State } from "./state.ts";

/** Loads a model in the page's own thread, because a worker's start takes longer than a digit. */
export function loadModel(
  { url, bytes, own }: ModelFile,
  signal: AbortSignal,
  onProgress: (loaded: number, total: number) => void,
): Promise<Vit> {
  return Vit.load(own?.file ?? new URL(url, document.baseURI), {
    signal,
    onProgress: (loaded, total) => onProgress(loaded, total || bytes),
  });
}

/** Reads the drawing or the photo as it is now; undefined where there is no ink. */
export async function read({ model, strokes, photo, unfinished, version }: State): Promise<Reading | undefined> {
  if (!model) return undefined;
  try {
    const result = await model.classify(photo?.file ?? drawingOf(strokes, unfinished), { attention: true });
    if (photo) result.placement = onPad(photo, result.placement);
    return { result, version, unfinished };
  } catch (error) {
    if (error instanceof VitError && error.code === "blank_image") return undefined;
    throw error;
  }
}
