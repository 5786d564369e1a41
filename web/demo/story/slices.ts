/** Long work in slices, so that the page can draw and answer between them. */

const SLICE = 6; // milliseconds

/**
 * Returns a function to await after each piece of work. It pauses whenever a slice is used up;
 * `pausing` is called before.
 */
export function slices(pausing = () => {}): () => Promise<void> {
  let begin = performance.now();
  return async () => {
    if (performance.now() - begin < SLICE) return;
    pausing();
    await new Promise((next) => setTimeout(next));
    begin = performance.now();
  };
}
