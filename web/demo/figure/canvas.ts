/** Canvases whose size is in CSS pixels, drawn at the screen's resolution. */

/**
 * Gives a canvas the resolution for a size, and clears it. Returns its context, in CSS pixels, or in
 * parts of which `columns` are side by side and `rows` below each other.
 */
export function scaled(canvas: HTMLCanvasElement, width: number, height: number, columns = width, rows = height): CanvasRenderingContext2D {
  const [across, down] = [width, height].map((side) => Math.max(1, Math.round(side * devicePixelRatio))) as [number, number];
  if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
  const context = canvas.getContext("2d")!;
  context.setTransform(across / columns, 0, 0, down / rows, 0, 0);
  context.clearRect(0, 0, columns, rows);
  return context;
}

/** The same for a canvas whose size no style sheet gives. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number, columns = width, rows = height): CanvasRenderingContext2D {
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  return scaled(canvas, width, height, columns, rows);
}
