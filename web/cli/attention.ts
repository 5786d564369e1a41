import { VitError, type VitConfig } from "vitrine";
import { type PhotoCommand, refusal, type Tools } from "./command.ts";
import { bytesOf, npyHeader } from "./npy.ts";
import { SIZE_OPTION, sizeOf, textOf, UsageError } from "./options.ts";
import { isFolder, makeFolder, outputsOf, writeWhole } from "./output.ts";
import { type HeatMap, overlay } from "./overlay.ts";
import { type PhotoResult, withoutName } from "./photos.ts";
import { layersOf, mapOf, readView, type View, VIEW_OPTIONS } from "./view.ts";

/** One photo's map in the JSON output, or its error. */
interface Report extends Partial<View> {
  readonly file: string;
  readonly error?: string;
  readonly out?: string;
  readonly grid?: readonly [rows: number, columns: number];
  readonly values?: readonly number[];
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
    const lines = values["ndjson"] === true;
    const json = lines || values["json"] === true;
    const viewFor = readView(values);
    const { size } = sizeOf(values);
    const out = textOf(values, "out");
    if (out === undefined && !json) {
      throw new UsageError("--out: expected a file such as overlay.png, got none; name one or use --json");
    }
    const outputs = outputsOf(out, files, "attention", ["png", "npy"]);
    return async (tools) => {
      const { terminal } = tools;
      const config = { ...tools.vit.config, ...(size && { image_size: size }) };
      const view = viewFor(config);
      if (out !== undefined && isFolder(out)) await makeFolder(out);
      const reports: Report[] = [];
      for await (const group of tools.photos.groups(files)) {
        for (const read of group) {
          terminal.status(`${reports.length}/${files.length} photos`);
          const report = await look(tools, config, view, read, outputs[reports.length]);
          if (report.error !== undefined) terminal.complain(`${report.file}: ${report.error}`);
          if (lines) terminal.printLine(report);
          reports.push(report);
        }
      }
      if (json && !lines) terminal.printJson(reports);
      return reports.every(({ error }) => error === undefined);
    };
  },
};

async function look(tools: Tools, config: VitConfig, view: View, read: PhotoResult, out?: string): Promise<Report> {
  if ("error" in read) return read;
  const { file, photo } = read;
  const seen = await tools.vit.embed(photo, { attention: layersOf(view), size: config.image_size }).catch(refusal);
  if (seen instanceof VitError) return { file, error: withoutName(seen) };
  const { grid } = seen;
  const values = mapOf(seen.attention!, view);
  if (out !== undefined) await write(out, tools, config, seen.input, { values, grid, patch: view.patch });
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
