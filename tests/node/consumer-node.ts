// A user's program for Node. TypeScript 5.1 and later compile it, also with @types/node 22, whose Buffer
// may be of shared memory. It is never run.
import { readFile } from "node:fs/promises";
import { Vit } from "vitrine/all";
import { Trainer } from "vitrine/train";

export async function read(path: string, buffer: Buffer): Promise<Uint8Array> {
  const vit = await Vit.load(await readFile(path));
  await Vit.load({ weights: buffer }, { wasm: await readFile("vit.simd128.wasm") });
  const image = { data: buffer, width: 28, height: 28, channels: 1 };
  await vit.classify(image, { keepInput: false });
  const trainer = await Trainer.resume(buffer, { fetch: (address, init) => fetch(address, { ...init, headers: { a: "b" } }) });
  await trainer.add([image], [0]);
  const saved = await trainer.save();
  await Vit.load(saved);
  new Blob([saved]);
  return saved;
}
