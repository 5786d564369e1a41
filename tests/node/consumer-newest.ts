// What a user's program may say since TypeScript 5.2; compiled by package.test.mjs, never run.
import { type Classification, Vit } from "vitrine";

export async function classify(image: Uint8Array<ArrayBuffer>): Promise<Classification> {
  using vit = await Vit.load(import.meta.resolve("vitrine/weights/digits.safetensors"));
  return vit.classify({ data: image, width: 28, height: 28, channels: 1 });
}
