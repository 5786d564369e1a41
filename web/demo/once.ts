/** Returns what loads something, once. After a failure the next call tries again. */
export function once<Made>(load: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => (made ??= load().catch((error: unknown) => {
    made = undefined;
    throw error;
  }));
}
