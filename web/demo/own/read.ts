/** Runs a model on a photo. */
import { shapeOf } from "../pixels.ts";
import type { Photo } from "./photo.ts";
import type { OwnState, Reading } from "./state.ts";

/** The most bytes of attention to keep. If all layers need more, only the chosen layer is kept. */
const MOST_BYTES = 2 ** 28;
const TOP = 5;

/** The least probability of an object that is shown. An untrained model's likeliest are shown anyway. */
const LEAST = 0.5;

export function attentionLayers({ model, view }: OwnState): true | number[] {
  const { depth, heads, prefix, detections } = model!.config;
  const { gridRows, gridCols } = shapeOf(model!.config);
  const bytes = 4 * depth * heads * (prefix.length + detections + gridRows * gridCols) ** 2;
  return bytes <= MOST_BYTES || [view.layer];
}

export async function read(state: OwnState, photo: Photo): Promise<Reading> {
  const { version } = state;
  const model = state.model!;
  const attention = attentionLayers(state);
  if (model.config.classes === 0) {
    const start = performance.now();
    const embedding = await model.embed(photo.source, { attention });
    const { input, placement, patches } = embedding;
    const result = { attention: embedding.attention! };
    return { version, input, placement, result, patches, milliseconds: performance.now() - start };
  }
  if (model.config.detections > 0) {
    const { untrained } = model.config;
    const detection = await model.detect(photo.source, { threshold: untrained ? 0 : LEAST, attention });
    const { input, placement, size, milliseconds } = detection, objects = untrained ? detection.objects.slice(0, TOP) : detection.objects;
    return { version, objects, input, placement, size, result: { attention: detection.attention! }, milliseconds };
  }
  const answer = await model.classify(photo.source, { topK: TOP, attention });
  const { input, placement, milliseconds, uncertain } = answer;
  const classes = answer.classes.map((one) => ({ ...one, label: state.names?.[one.index] ?? one.label }));
  return { version, classes, uncertain, input, placement, result: { attention: answer.attention! }, milliseconds };
}
