/** The filters of the page's model, from the model's file, because the API gives no weights. */
import { readSafetensors } from "../../../base/safetensors.mjs";
import type { Filters } from "./embed.ts";

/** The browser has the file in its cache, because the page has loaded the model from it. */
export async function filtersIn(file: string): Promise<Filters> {
  const response = await fetch(new URL(file, document.baseURI), { cache: "force-cache" });
  if (!response.ok) throw new Error(`the weights did not load: the server answered ${response.status}`);
  const { tensors } = readSafetensors(new Uint8Array(await response.arrayBuffer()));
  const { shape, data } = tensors.get("patch_embed.proj.weight")!;
  const count = shape[0]!;
  return { weights: data, bias: tensors.get("patch_embed.proj.bias")?.data, count, size: data.length / count };
}
