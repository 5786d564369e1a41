// A user's program. TypeScript 5.1 and later compile it with the package's types. It is never run.
import {
  Attention, type Classification, type DetectedObject, type Detection, type Drawing, type Found, type ImageInput, Index, type OverlayOptions, type PenPoint, Vit, VitError,
} from "vitrine";
import { type Epoch, quantize, type Recipe, Trainer } from "vitrine/train";

const digits = "vitrine/weights/digits.safetensors";

export async function classify(image: ImageInput, signal: AbortSignal): Promise<string> {
  const vit = await Vit.load(digits, {
    worker: true,
    variant: "relaxed",
    threads: 2,
    signal,
    onProgress: (loaded: number, total: number) => console.log(loaded / total),
  });
  console.log(vit.threads satisfies number, vit.variant);
  const result: Classification = await vit.classify(image, { topK: 3, attention: [0, 1] });
  const { attention } = result;
  if (attention instanceof Attention) {
    const [rows, columns] = attention.grid;
    const maps: Float32Array[] = [
      attention.at(0, 1),
      attention.fromClass(),
      attention.fromPatch(rows - 1, columns - 1, 1, "mean"),
      attention.rollout({ discard: 0.5, fuse: "max" }),
    ];
    console.log(maps.length, vit.config.labels, vit.config.head_width + vit.config.position_size[0], vit.config["accuracy"]);
  }
  const { placement } = result;
  const options: OverlayOptions = { grid: [7, 7], placement, colour: [255, 60, 0], smooth: true };
  console.log(options, placement.left + placement.width satisfies number);
  return result.classes[0]?.label ?? "";
}

export async function find(photo: ImageInput, file: ArrayBuffer): Promise<Found[]> {
  const vit = await Vit.load(digits);
  const index = new Index(vit.config.width, { about: "digits" });
  index.add("first", (await vit.embed(photo)).pooled);
  index.merge(Index.load(file));
  console.log(index.ids().length === index.size, index.has("first"), index.save().buffer satisfies ArrayBuffer);
  return index.search([1, 2, 3], 10);
}

export async function detect(photo: ImageInput): Promise<number[]> {
  const vit = await Vit.load("yolos-tiny/");
  const found: Detection = await vit.detect(photo, { threshold: 0.7, attention: true });
  const objects: readonly DetectedObject[] = found.objects;
  console.log(found.logits.length, found.boxes.length, found.placement.left, found.attention?.fromPrefix(objects[0]!.token, 0, 1));
  // @ts-expect-error: the option is called threshold
  await vit.detect(photo, { least: 0.5 });
  return objects.flatMap(({ label, index, p, box, map }) => [label.length, index, p, box.left + box.width, box.top + box.height, map.length]);
}

export async function forms(vit: Vit, weights: ArrayBuffer): Promise<void> {
  const bytes = { data: new Uint8Array(4), width: 1, height: 1 };
  const [first] = await vit.classifyAll([bytes, new Float32Array(784)], { attention: true });
  const { cls, patches, grid, width } = await vit.embed(new Float32Array(784));
  console.log(first?.logits, first?.uncertain, cls, patches, grid, width);
  const stroke: readonly PenPoint[] = [{ x: 90, y: 20, width: 9 }];
  const drawing: Drawing = { strokes: [stroke], width: 280, height: 280 };
  await vit.classify(drawing);
  // @ts-expect-error: a pad has a size
  await vit.classify({ strokes: [stroke] });
  await Vit.load({ weights, config: { classes: 10 }, prepare: { kind: "digit" } });
  await Vit.load(new Response(weights), { wasm: new Uint8Array(weights) });
  await Vit.load(digits, { wasm: "/vitrine/" });
  await Vit.load(digits, { wasm: { relaxed: "/a.wasm", "simd128-threads": new URL("file:///b.wasm"), worker: "/c.js" } });
  await Vit.load(new Uint8Array(weights));
  // @ts-expect-error: a number is no source
  await Vit.load(42).catch((error: unknown) => error instanceof VitError && error.code);
  // @ts-expect-error: the option is called topK
  await vit.classify(bytes, { topk: 1 });
}

export async function teach(recipe: Recipe, images: ImageInput[], signal: AbortSignal): Promise<Uint8Array> {
  const scratch = await Trainer.create({ recipe }, { worker: true, threads: 2, seed: 3, signal });
  scratch.dispose();
  const trainer = await Trainer.create({ from: digits, labels: ["star", "heart"], freeze: "all but head" });
  await trainer.add(images, images.map((_, index) => index % 2), { part: "train" });
  await trainer.add(images, images.map(() => "star"), { part: "validation" });
  const epochs: Epoch[] = [];
  for await (const at of trainer.run({ epochs: 2, signal, onStep: ({ step, steps }) => console.log(step / steps) })) epochs.push(at);
  console.log(epochs[0]?.loss, epochs[0]?.validation?.accuracy, epochs[0]?.secondsLeft, trainer.labels);
  const vit: Vit = await trainer.vit({ variant: "simd128" });
  vit.dispose();
  console.log((await quantize(await trainer.save(), { variant: "simd128", signal })).length);
  const again = await Trainer.resume(await trainer.checkpoint());
  // @ts-expect-error: there are two parts
  await again.add(images, [], { part: "test" });
  // @ts-expect-error: labels are needed to train weights further
  await Trainer.create({ from: digits });
  return again.save();
}
