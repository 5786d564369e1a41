// A user's program for TypeScript 5.2 and later. package.test.mjs compiles it and never runs it.
import { type Classification, Vit } from "vitrine";

export async function classify(image: Uint8Array<ArrayBuffer>): Promise<Classification> {
  using vit = await Vit.load(import.meta.resolve("vitrine/weights/digits.safetensors"));
  return vit.classify({ data: image, width: 28, height: 28, channels: 1 });
}
