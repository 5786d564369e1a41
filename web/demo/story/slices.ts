/** Long work in slices, so that the page can draw and answer between them. */

const SLICE = 6; // milliseconds

/** Returns a function to await after each piece of work. It pauses whenever a slice is used up. */
export function slices(): () => Promise<void> {
  let begin = performance.now();
  return async () => {
    if (performance.now() - begin < SLICE) return;
    await new Promise((next) => setTimeout(next));
    begin = performance.now();
  };
}
