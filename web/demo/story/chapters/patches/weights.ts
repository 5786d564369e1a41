/** The filters of the page's model, from the model's file, because the API gives no weights. */
import { readSafetensors } from "../../../../base/safetensors.mjs";
import type { Scene } from "../../scene.ts";
import type { Filters } from "./embed.ts";

/** The browser has the file in its cache, because the page has loaded the model from it. */
async function fetched(address: string): Promise<Uint8Array> {
  const response = await fetch(new URL(address, document.baseURI), { cache: "force-cache" });
  if (!response.ok) throw new Error(`the weights did not load: the server answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

export async function filtersIn(file: Scene["file"]): Promise<Filters> {
  const { tensors } = readSafetensors(typeof file === "string" ? await fetched(file) : file);
  const { shape, data } = tensors.get("patch_embed.proj.weight")!;
  const count = shape[0]!;
  return { weights: data, bias: tensors.get("patch_embed.proj.bias")?.data, count, size: data.length / count };
}
