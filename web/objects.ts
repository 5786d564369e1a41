/** Turns what detection tokens give into objects. It is part of text.js, which is loaded only for models of its kinds. */
import type { Attention } from "./attention.js";
import type { DetectedObject, Detection, DetectOptions } from "./calls.js";
import type { VitConfig } from "./config.js";
import type { Result, Wants } from "./engine/model.js";
import type { Shape } from "./engine/shape.js";
import { show, VitError } from "./errors.js";
import type { Picture } from "./images.js";

/** Numbers of a box: the column and the row of its centre, its width and its height. */
const BOX = 4;

/** Lengths are multiples of it. */
const STEP = 16;

/** A photo's own size by the config's `edges`, with the roundings of YOLOS's code. Python rounds halves to even. */
function sizeOf({ rows, columns }: { readonly rows: number; readonly columns: number }, [short, long]: readonly [number, number]) {
  const least = Math.min(rows, columns), most = Math.max(rows, columns), exact = Math.min(short, (long * least) / most);
  const side = exact % 1 === 0.5 ? 2 * Math.round(exact / 2) : Math.round(exact);
  const other = rows <= columns && rows === side ? columns : Math.floor((exact * most) / least);
  const [a, b] = [side, other].map((length) => Math.max(STEP, length - (length % STEP))) as [number, number];
  return rows <= columns ? [a, b] as const : [b, a] as const;
}

/**
 * The likeliest class of each detection token, by a softmax with "no object" that is then left out.
 *
 * @param layers whose attention is kept
 * @param sized the model's shape for images of a size, or of the options' size
 */
export async function detected(
  picture: Promise<Picture>,
  options: DetectOptions,
  layers: number[],
  { classes, labels, prepare }: Readonly<VitConfig>,
  sized: (size?: readonly [number, number]) => Shape,
  run: (shape: Shape, wants: Omit<Wants, "size">) => Promise<readonly Result[]>,
  attentionOf: (maps: Result["attention"], shape: Shape) => Attention | undefined,
): Promise<Detection> {
  const { detections, depth } = sized(), { threshold = 0.9 } = options;
  if (detections === 0) throw new VitError("unsupported", "detect: this model has no detection tokens; use classify or embed");
  if (classes === 0) throw new VitError("unsupported", "detect: this model has no head, so it finds no objects; use embed");
  if (!(typeof threshold === "number" && threshold >= 0 && threshold <= 1)) {
    throw new VitError("bad_option", `threshold: expected 0 to 1, got ${show(threshold)}`);
  }
  const ready = await picture, edges = prepare?.kind === "photo" && !options.size && "rows" in ready && prepare.edges;
  const shape = sized(edges ? sizeOf(ready, edges) : undefined), { rows, columns, prefix, grid } = shape;
  const views = depth > 0 && !layers.includes(depth - 1);
  const [output] = await run(shape, { attention: layers, tokens: false, views, ...(options.keepInput === false && { bare: true }) });
  const { logits: all, input, placement, views: viewMaps, milliseconds } = output!, { left, top, width, height } = placement;
  const attention = attentionOf(output!.attention, shape), size = grid[0] * grid[1], first = prefix - detections;
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
      map: viewMaps?.slice(at * size, (at + 1) * size) ?? attention?.fromPrefix(first + at) ?? new Float32Array(size),
      token: first + at,
    });
  }
  return {
    objects: objects.sort((a, b) => b.p - a.p),
    logits,
    boxes,
    grid: [...grid],
    size: [rows, columns],
    ...(input && { input }),
    placement,
    ...(attention && { attention }),
    milliseconds,
  } as Detection;
}
