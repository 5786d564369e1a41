/** MNIST's images to train on. They load once, when a visitor trains. */
import { VitError } from "vitrine";
import address from "virtual:mnist-digits"; // see web/demo/mnist.mjs
import { COUNTS, type Digits, unpackDigits } from "../../../../../base/digits.mjs";
import type { Source } from "./own.ts";

/** Whether this build of the page has them. */
export const haveDigits = address !== undefined;

let loading: Promise<Digits> | undefined;

/** A failed load is tried again by the next call. */
function digits(): Promise<Digits> {
  loading ??= read(new URL(address!, document.baseURI));
  loading.catch(() => (loading = undefined));
  return loading;
}

export const MNIST: Source = { ...COUNTS, open: digits };

async function read(url: URL): Promise<Digits> {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new VitError("network", `MNIST's images: expected an answer from ${url}, got none`, { cause });
  });
  if (!response.ok) throw new VitError("network", `MNIST's images: expected 200 OK from ${url}, got ${response.status}`);
  const open = response.body!.pipeThrough(new DecompressionStream("gzip"));
  return unpackDigits(new Uint8Array(await new Response(open).arrayBuffer()));
}
