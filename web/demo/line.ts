/** How fast files come, as far as the page can know before it asks for a large one. */

/** What takes longer than this is worth a stand-in meanwhile. */
const LONG_SECONDS = 6;
/** Of smaller files the time is not the line's. */
const LEAST_BYTES = 10_000;

/** Of Chromium alone. */
interface Connection {
  saveData?: boolean;
  effectiveType?: string;
}

/** Whether so many bytes are long in coming; false for what is stored, and where nothing is known. */
export async function isLongInComing(url: string, bytes: number): Promise<boolean> {
  if (navigator.onLine && !saysSlow() && bytes / bytesPerSecond() < LONG_SECONDS) return false;
  try {
    return (await caches.match(new URL(url, document.baseURI))) === undefined;
  } catch {
    return true; // nothing is stored over http:
  }
}

function saysSlow(): boolean {
  const { connection } = navigator as { connection?: Connection };
  if (!connection) return false;
  const { saveData = false, effectiveType = "4g" } = connection;
  return saveData || effectiveType !== "4g";
}

/** Of the page's own files, some of which came at the same time; infinite where none did. */
function bytesPerSecond(): number {
  const came = (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).filter(
    ({ transferSize }) => transferSize > LEAST_BYTES,
  );
  const bytes = came.reduce((sum, { transferSize }) => sum + transferSize, 0);
  const begin = Math.min(...came.map(({ responseStart }) => responseStart));
  const end = Math.max(...came.map(({ responseEnd }) => responseEnd));
  return came.length > 0 ? (1000 * bytes) / Math.max(end - begin, 1) : Infinity;
}
