/** A map of patches, drawn where the model looked. */
import { show, takeOptions, VitError } from "./errors.js";
import { contextOf, type Dom, type Placement } from "./images.js";

export interface OverlayOptions {
  /** The map's rows and columns: an Attention's `grid`, or an Embedding's. */
  grid: readonly [rows: number, columns: number];
  /** Where the model's image lies in the source: the answer's `placement`. */
  placement: Placement;
  /** The source's size in its own pixels, such as `image.naturalWidth`; the canvas's by default. */
  width?: number;
  height?: number;
  /** Red, green and blue of all patches, 0 to 255. */
  colour?: readonly [red: number, green: number, blue: number];
  /** How opaque the largest value is, 0 to 1. A value of 0 or less shows the source alone. */
  opacity?: number;
  /** Whether values between patches' centres are interpolated. */
  smooth?: boolean;
}

const OPTIONS = ["grid", "placement", "width", "height", "colour", "opacity", "smooth"] as const;

/**
 * Draws a map of patches on a canvas that lies over the whole source, so that each patch lies on what
 * the model saw there, whether the photo was stretched, cropped or letter-boxed. It replaces what the
 * canvas showed. The canvas may have another size than the source.
 *
 * @param map (rows·columns), such as `attention.rollout()`.
 * @throws {VitError} code `bad_option` or `bad_argument`.
 * @example
 * const { attention, placement } = await vit.classify(image, { attention: true });
 * const { grid } = attention;
 * const { naturalWidth: width, naturalHeight: height } = image;
 * drawOverlay(canvas, attention.rollout(), { grid, placement, width, height });
 */
export function drawOverlay(
  canvas: Dom<"HTMLCanvasElement"> | Dom<"OffscreenCanvas">,
  map: Float32Array,
  options: OverlayOptions,
): void {
  const own = takeOptions("drawOverlay", options, OPTIONS);
  const { grid, placement, colour = [255, 60, 0], opacity = 0.8, smooth = false } = own;
  const { width = canvas.width, height = canvas.height } = own;
  const [rows, columns] = grid ?? [];
  if (!(map?.length > 0) || map.length !== rows! * columns!) {
    throw wrong(`a map of grid rows × columns values, got ${show(map?.length)} for ${show(rows)}×${show(columns)}`);
  }
  const { left, top, width: across, height: down } = placement ?? {};
  if (![left, top, across, down].every(Number.isFinite)) {
    throw wrong("placement from the result of classify or embed");
  }
  if (!(width > 0 && height > 0)) {
    throw wrong(`the source's width and height in pixels, got ${show(width)}×${show(height)}; wait until it has loaded`);
  }
  const context = (canvas as HTMLCanvasElement).getContext?.("2d");
  const heat = contextOf(columns!, rows!);
  if (!context || !heat) throw wrong("a canvas with a 2d context");
  heat.putImageData(new ImageData(tints(map, colour, opacity), columns!, rows!), 0, 0);
  context.save();
  context.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
  context.clearRect(0, 0, width, height);
  context.imageSmoothingEnabled = smooth;
  context.drawImage(heat.canvas, 0, 0, columns!, rows!, left!, top!, across!, down!);
  context.restore();
}

const wrong = (expected: string) => new VitError("bad_argument", `drawOverlay: expected ${expected}`);

/** The colour of each patch, as transparent as its value is small. */
function tints(map: Float32Array, colour: readonly number[], opacity: number): Uint8ClampedArray<ArrayBuffer> {
  const most = map.reduce((a, b) => Math.max(a, b), 0) || 1;
  const data = new Uint8ClampedArray(map.length * 4);
  map.forEach((value, patch) => data.set([...colour, (255 * opacity * value) / most], patch * 4));
  return data;
}
