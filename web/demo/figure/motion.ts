/** Movement in figures, which ends at once for visitors who want less of it. */

export const lessMotion = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Calls `move` in each frame with how much of the time is over, at last with 1. Returns what stops it. */
export function animate(milliseconds: number, move: (over: number) => void): () => void {
  let frame = 0, begin: number | undefined;
  const step = (now: number) => {
    begin ??= now;
    const over = Math.min(1, (now - begin) / milliseconds);
    if (over < 1) frame = requestAnimationFrame(step);
    move(over);
  };
  if (lessMotion()) move(1);
  else frame = requestAnimationFrame(step);
  return () => cancelAnimationFrame(frame);
}
