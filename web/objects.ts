/** Turns what detection tokens give into objects. It is part of text.js, which is loaded only for models of its kinds. */
import type { Attention } from "./attention.js";
import type { DetectedObject, Detection, DetectOptions } from "./calls.js";
import type { VitConfig } from "./config.js";
import type { Result } from "./engine/model.js";
import type { Shape } from "./engine/shape.js";
import { show, VitError } from "./errors.js";

/** Numbers of a box: the column and the row of its centre, its width and its height. */
const BOX = 4;

/**
 * The likeliest class of each detection token, by a softmax with "no object" that is then left out.
 *
 * @param run what a model with detection tokens and a head gave
 */
export async function detected(
  run: Promise<readonly Result[]> | undefined,
  { classes, labels }: Readonly<VitConfig>,
  { detections, prefix, grid }: Shape,
  { threshold = 0.9 }: DetectOptions,
  attentionOf: (maps: Result["attention"]) => Attention | undefined,
): Promise<Detection> {
  if (detections === 0) throw new VitError("unsupported", "detect: this model has no detection tokens; use classify or embed");
  if (!run) throw new VitError("unsupported", "detect: this model has no head, so it finds no objects; use embed");
  if (!(typeof threshold === "number" && threshold >= 0 && threshold <= 1)) {
    throw new VitError("bad_option", `threshold: expected 0 to 1, got ${show(threshold)}`);
  }
  const [output] = await run, { logits: all, input, placement, views, milliseconds } = output!;
  const { left, top, width, height } = placement;
  const attention = attentionOf(output!.attention), size = grid[0] * grid[1], first = prefix - detections;
  const scores = classes + 1, each = scores + BOX;
  const logits = new Float32Array(detections * scores), boxes = new Float32Array(detections * BOX);
  const objects: DetectedObject[] = [];
  for (let at = 0; at < detections; at++) {
    const own = all.subarray(at * each, at * each + scores), box = all.subarray(at * each + scores, (at + 1) * each);
    logits.set(own, at * scores);
    boxes.set(box, at * BOX);
    const known = own.subarray(0, classes), largest = known.reduce((a, b) => Math.max(a, b));
    const index = known.indexOf(largest);
    const p = 1 / own.reduce((sum, logit) => sum + Math.exp(logit - largest), 0);
    if (p < threshold) continue;
    const [x, y, across, down] = box as unknown as readonly [number, number, number, number];
    objects.push({
      label: labels[index]!,
      index,
      p,
      box: { left: left + (x - across / 2) * width, top: top + (y - down / 2) * height, width: across * width, height: down * height },
      map: views?.slice(at * size, (at + 1) * size) ?? attention?.fromPrefix(first + at) ?? new Float32Array(size),
      token: first + at,
    });
  }
  return {
    objects: objects.sort((a, b) => b.p - a.p),
    logits,
    boxes,
    grid: [...grid],
    ...(input && { input }),
    placement,
    ...(attention && { attention }),
    milliseconds,
  } as Detection;
}
