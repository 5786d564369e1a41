/** The small models that the story explains with. They load once, when a chapter asks for them. */
import { Vit, type VitConfig } from "vitrine";
import packed from "../../../weights/explain.safetensors.gz?url";
import { type Packed, unpack } from "../../base/pack.mjs";
import { once } from "../once.ts";
import { bytesOf } from "../story/bytes.ts";

export type Small = VitConfig["position"] | "convolutions";

const allSeries = once<Record<string, Packed[]>>(async () => unpack(await bytesOf(packed, "the small models")));
const models = new Map<string, () => Promise<Vit>>();

/** One of the small models. All chapters share it, so do not dispose of it. */
export const smallModel = (name: Small): Promise<Vit> => model(name, 0);

/** The snapshots of one run: how many steps each had been trained. */
export const snapshotSteps = async (): Promise<number[]> =>
  (await allSeries()).learning!.map(({ step }) => step);

/** The model as it was at a snapshot of that run. All chapters share it. */
export const snapshot = (index: number): Promise<Vit> => model("learning", index);

/** The weights of a small model or a snapshot, as bytes of safetensors. */
export const weightsOf = async (name: Small | "learning", index = 0): Promise<Uint8Array<ArrayBuffer>> =>
  (await allSeries())[name]![index]!.weights;

function model(name: Small | "learning", index: number): Promise<Vit> {
  const key = `${name} ${index}`, load = models.get(key) ?? once(async () => Vit.load(await weightsOf(name, index)));
  models.set(key, load);
  return load();
}
