/** The bytes of the page's own files. */
import { VitError } from "vitrine";

/** `what` begins the error where they do not come. A file that is a gzip is unpacked. */
export async function bytesOf(address: string, what: string, options?: RequestInit): Promise<Uint8Array<ArrayBuffer>> {
  const url = new URL(address, document.baseURI), response = await fetch(url, options).catch((cause: unknown) => {
    throw new VitError("network", `${what}: expected an answer from ${url}, got none`, { cause });
  });
  if (!response.ok) throw new VitError("network", `${what}: expected 200 OK from ${url}, got ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  // Some servers announce a .gz file as compressed, so that the browser has decompressed it already.
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const open = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(open).arrayBuffer());
}
