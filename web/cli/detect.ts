import type { DetectedObject, Detection, DetectOptions } from "vitrine";
import { jsonOf, type PhotoCommand, reportEach, type Tools } from "./command.ts";
import { SIZE_OPTION, sizeOf, textOf, UsageError, whole } from "./options.ts";
import { isFolder, makeFolder, outputsOf, writeWhole } from "./output.ts";
import { overlay } from "./overlay.ts";
import type { Photo } from "./photos.ts";

/** One photo's objects in the JSON output, or its error. */
interface Report extends Partial<Pick<Detection, "grid" | "size" | "placement" | "milliseconds">> {
  readonly file: string;
  readonly error?: string;
  readonly out?: string;
  readonly objects?: readonly (Omit<DetectedObject, "map"> & { readonly map?: readonly number[] })[];
}

interface Task {
  readonly options: DetectOptions;
  /** The object whose map is wanted, or all of them. */
  readonly only: number | undefined;
  readonly maps: boolean;
}

export const detect: PhotoCommand = {
  about: "find objects in photos: one line each with file, label, probability, and the box's left, top, width and height",
  operand: "PHOTO …",
  options: {
    threshold: { value: "P", help: "the least probability; 0.9 by default" },
    out: { value: "FILE", help: "FILE.png, or for several photos FOLDER/: the boxes, and what their tokens attend to" },
    object: { value: "N", help: "draw only the N-th object of a photo, from 0, with its own map" },
    maps: { help: "print each object's map with JSON" },
    ...SIZE_OPTION,
  },
  plan(values, files) {
    const format = jsonOf(values);
    const out = textOf(values, "out"), object = textOf(values, "object");
    if (object !== undefined && out === undefined) throw new UsageError("--object: expected --out beside it, got none");
    if (values["maps"] && !format.json) throw new UsageError("--maps: expected --json or --ndjson beside it, got neither");
    const only = object === undefined ? undefined : whole("--object", object, 0);
    const threshold = shareOf(textOf(values, "threshold"));
    const options = { ...(threshold !== undefined && { threshold }), ...sizeOf(values) };
    const task: Task = { options, only, maps: values["maps"] === true };
    const outputs = outputsOf(out, files, "boxes", ["png"]);
    return async (tools) => {
      const { terminal } = tools;
      if (out !== undefined && isFolder(out)) await makeFolder(out);
      const print = ({ file, objects = [] }: Report) => objects.forEach(({ label, p, box }) => {
        const sides = [box.left, box.top, box.width, box.height].map((side) => side.toFixed(1));
        terminal.printRow([file, label, p.toFixed(4), ...sides]);
      });
      return reportEach(tools, files, format, ({ file, photo }, index) => find(tools, task, file, photo, outputs[index]), print);
    };
  },
};

function shareOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const share = Number(text);
  if (text.trim() !== "" && share >= 0 && share <= 1) return share;
  throw new UsageError(`--threshold: expected 0 to 1, got "${text}"`);
}

async function find(tools: Tools, { options, only, maps }: Task, file: string, photo: Photo, out?: string): Promise<Report> {
  const detection = await tools.vit.detect(photo, options);
  const { objects, grid, size, placement, milliseconds } = detection;
  if (only !== undefined && only >= objects.length) {
    return { file, error: `--object: expected one of the ${objects.length} objects, counted from 0, got ${only}` };
  }
  if (out !== undefined) await draw(out, tools, detection, only === undefined ? objects : [objects[only]!]);
  const entries = objects.map(({ map, ...object }) => ({ ...object, ...(maps && { map: Array.from(map) }) }));
  return { file, ...(out !== undefined && { out }), objects: entries, grid, size, placement, milliseconds };
}

/** Colours that stay apart on any photo, with black around them. */
const COLOURS = ["#ffd23f", "#3ddbd9", "#ff7eb6", "#7ee787", "#82b1ff", "#ffab70"];

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Draws boxes over the image that the model saw, and under them the hottest of their maps. */
async function draw(
  path: string,
  { vit, photos }: Tools,
  { input, grid, size, placement }: Detection,
  objects: readonly DetectedObject[],
): Promise<void> {
  const hottest = objects.map(({ map }) => map.reduce((a, b) => Math.max(a, b), 0) || 1);
  const values = Float32Array.from({ length: grid[0] * grid[1] }, (_, at) =>
    objects.reduce((most, { map }, index) => Math.max(most, map[at]! / hottest[index]!), 0));
  const picture = overlay(input, { ...vit.config, image_size: size }, { values, grid });
  const across = picture.width / placement.width, down = picture.height / placement.height;
  const letters = Math.max(12, Math.round(Math.min(picture.width, picture.height) / 32));
  const shapes = objects.map(({ label, p, box }, index) => {
    const x = (box.left - placement.left) * across, y = (box.top - placement.top) * down;
    const colour = COLOURS[index % COLOURS.length]!;
    const rect = `x="${x}" y="${y}" width="${box.width * across}" height="${box.height * down}" fill="none"`;
    const at = `x="${Math.max(2, x)}" y="${Math.max(letters, y - letters / 3)}"`;
    const text = `font-size="${letters}" font-family="sans-serif" fill="${colour}" stroke="#000" stroke-width="3" paint-order="stroke"`;
    return [
      `<rect ${rect} stroke="#000" stroke-width="5"/><rect ${rect} stroke="${colour}" stroke-width="3"/>`,
      `<text ${at} ${text}>${escaped(label)} ${p.toFixed(2)}</text>`,
    ] as const;
  }).reverse(); // the likeliest lies on top
  const parts = [...shapes.map(([box]) => box), ...shapes.map(([, text]) => text)];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${picture.width}" height="${picture.height}">${parts.join("")}</svg>`;
  await writeWhole(path, await photos.withOverlay(picture, svg));
}
