/** The weights of the story's model, from its file, because the API gives none. */
import { readSafetensors } from "../../base/safetensors.mjs";
import { inWords } from "../status.ts";
import { write } from "../dom.ts";
import { bytesOf } from "./bytes.ts";
import type { Scene, Story } from "./scene.ts";

/** Gives a tensor by its name in the file, as floats; undefined where the model has none. */
export type Weights = (name: string) => Float32Array | undefined;

/** The browser has the file in its cache, because the page has loaded the model from it. */
async function weightsIn(file: Scene["file"]): Promise<Weights> {
  const { tensors } = readSafetensors(typeof file === "string" ? await bytesOf(file, "the weights", { cache: "force-cache" }) : file);
  return (name) => {
    const data = tensors.get(name)?.data;
    if (!(data instanceof Int8Array)) return data;
    const scales = tensors.get(`${name}.scale`)!.data, columns = data.length / scales.length;
    return Float32Array.from(data, (step, i) => step * scales[Math.floor(i / columns)]!);
  };
}

/** All chapters read one file. */
let last: { file: Scene["file"]; weights: Promise<Weights> } | undefined;

/** Returns what gives a scene's weights once they are here, when all is drawn again. `status` says why they are not, if so. */
export function loadWeights(story: Story, status: HTMLElement, missing: (values: { why: string }) => string): (scene: Scene) => Weights | undefined {
  let file: Scene["file"] | undefined, loaded: Weights | undefined;
  const load = async (newFile: Scene["file"]) => {
    [file, loaded] = [newFile, undefined];
    if (last?.file !== newFile) last = { file: newFile, weights: weightsIn(newFile) };
    try {
      const weights = await last.weights;
      if (file !== newFile) return; // another model was chosen
      loaded = weights;
      write(status, "");
      story.redraw();
    } catch (failure) {
      if (last?.file === newFile) last = undefined;
      if (file !== newFile) return;
      file = undefined; // the next scene tries again
      write(status, missing({ why: inWords(failure) }));
    }
  };
  return (scene) => {
    if (file !== scene.file) void load(scene.file);
    return loaded;
  };
}
