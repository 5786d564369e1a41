import type { VitConfig } from "vitrine";
import { jsonOf, type PhotoCommand, reportEach, type Tools } from "./command.ts";
import { bytesOf, npyHeader } from "./npy.ts";
import { SIZE_OPTION, sizeOf, textOf, UsageError } from "./options.ts";
import { isFolder, makeFolder, outputsOf, writeWhole } from "./output.ts";
import { type HeatMap, overlay } from "./overlay.ts";
import type { Photo } from "./photos.ts";
import { layersOf, mapOf, readView, type View, VIEW_OPTIONS } from "./view.ts";

/** One photo's map in the JSON output. */
interface Report extends View {
  readonly file: string;
  readonly out?: string;
  readonly grid: readonly [rows: number, columns: number];
  readonly values: readonly number[];
}

export const attention: PhotoCommand = {
  about: "where the model looks: a heat map over each photo as the model saw it",
  operand: "PHOTO …",
  options: {
    out: { value: "FILE", help: "FILE.png, FILE.npy, or for several photos FOLDER/" },
    ...VIEW_OPTIONS,
    ...SIZE_OPTION,
  },
  plan(values, files) {
    const format = jsonOf(values);
    const viewFor = readView(values);
    const { size } = sizeOf(values);
    const out = textOf(values, "out");
    if (out === undefined && !format.json) {
      throw new UsageError("--out: expected a file such as overlay.png, got none; name one or use --json");
    }
    const outputs = outputsOf(out, files, "attention", ["png", "npy"]);
    return async (tools) => {
      const config = { ...tools.vit.config, ...(size && { image_size: size }) };
      const view = viewFor(config);
      if (out !== undefined && isFolder(out)) await makeFolder(out);
      return reportEach(tools, files, format, ({ file, photo }, index) => look(tools, config, view, file, photo, outputs[index]));
    };
  },
};

async function look(tools: Tools, config: VitConfig, view: View, file: string, photo: Photo, out?: string): Promise<Report> {
  const embedding = await tools.vit.embed(photo, { attention: layersOf(view), size: config.image_size });
  const { grid } = embedding;
  const values = mapOf(embedding.attention!, view);
  if (out !== undefined) await write(out, tools, config, embedding.input, { values, grid, patch: view.patch });
  return { file, ...(out !== undefined && { out }), ...view, grid, values: Array.from(values) };
}

async function write(
  path: string,
  { photos }: Tools,
  config: VitConfig,
  input: Float32Array,
  map: HeatMap,
): Promise<void> {
  if (path.endsWith(".npy")) return writeWhole(path, npyHeader(map.grid), bytesOf(map.values));
  await writeWhole(path, await photos.png(overlay(input, config, map)));
}
