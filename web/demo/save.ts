/** Gives the browser files to save. */
import { h } from "./dom.ts";
import { allWords } from "./texts/words.ts";

export const save = async (canvas: HTMLCanvasElement, name: string): Promise<void> => download(await pngOf(canvas), name);

export async function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  const blob = await new Promise<Blob | null>((made) => canvas.toBlob(made, "image/png"));
  if (!blob) throw new Error(allWords().send.noPng);
  return blob;
}

export function download(blob: Blob, name: string): void {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may still be reading it
}
