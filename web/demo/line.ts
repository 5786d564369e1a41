/** Estimates how long a large file will take, before the page asks for it. */

/** A model that takes longer than this gets a stand-in in the meantime. */
const LONG_SECONDS = 6;
/** The time of a smaller file says little about the line's speed. */
const LEAST_BYTES = 10_000;

/** Whether a file will take long. False for stored files, and where nothing is known. */
export async function isLongInComing(url: string, bytes: number): Promise<boolean> {
  if (navigator.onLine && !saysSlow() && bytes / bytesPerSecond() < LONG_SECONDS) return false;
  try {
    return (await caches.match(new URL(url, document.baseURI))) === undefined;
  } catch {
    return true; // a page over http: has no stored files
  }
}

function saysSlow(): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean; effectiveType?: string } }; // only Chromium has it
  if (!connection) return false;
  const { saveData = false, effectiveType = "4g" } = connection;
  return saveData || effectiveType !== "4g";
}

/** The speed at which the page's own files came; infinite where no file counts. */
function bytesPerSecond(): number {
  const came = (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).filter(
    ({ transferSize }) => transferSize > LEAST_BYTES,
  );
  const bytes = came.reduce((sum, { transferSize }) => sum + transferSize, 0);
  const begin = Math.min(...came.map(({ responseStart }) => responseStart));
  const end = Math.max(...came.map(({ responseEnd }) => responseEnd));
  return came.length > 0 ? (1000 * bytes) / Math.max(end - begin, 1) : Infinity;
}
