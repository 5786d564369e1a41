/** The command find: the photos of an index that are nearest to a photo, or to words. */
import { existsSync } from "node:fs";
import type { Embedding, Vit } from "vitrine";
import type { Base, QueryCommand } from "./command.ts";
import { IMAGE, STDIN } from "./files.ts";
import { aboutOf, ofModel, openIndex, vectorOf } from "./index-photos.ts";
import { textOf, UsageError, whole } from "./options.ts";
import { outputsOf, writeWhole } from "./output.ts";
import { overlay } from "./overlay.ts";
import { Photos, withoutName } from "./photos.ts";

const DEFAULT_LINES = 10;

export const find: QueryCommand = {
  about: "find the photos of an index that are like a photo, or show what words say: a line each with file and cosine",
  operand: "PHOTO or WORDS",
  options: {
    index: { value: "FILE", help: "what the command index wrote, by the same model" },
    top: { value: "K", help: `print the K nearest; ${DEFAULT_LINES} by default` },
    map: { value: "FILE.png", help: "the nearest photo, and under colours which patches match the words most; CLIP only" },
    ndjson: { help: "print one JSON line for each photo that is found" },
  },
  plan(values, query) {
    const path = textOf(values, "index");
    if (path === undefined) throw new UsageError("--index: expected a file of the command index, got none");
    const count = whole("--top", textOf(values, "top") ?? String(DEFAULT_LINES), 1);
    const map = textOf(values, "map");
    if (map !== undefined && isPhoto(query)) throw new UsageError(`--map: expected words, got the photo ${query}`);
    if (map !== undefined) outputsOf(map, [""], "map", ["png"]);
    return async ({ vit, terminal }) => {
      const index = await openIndex(path);
      ofModel(path, index, aboutOf(vit));
      const vector = isPhoto(query) ? vectorOf((await look(vit, query, terminal)).embedding) : (await vit.embedText([query])).embeds;
      const found = index.search(vector, count).map(({ id: file, score }) => ({ file, score }));
      if (map !== undefined && found[0]) await drawMatch(map, vit, found[0].file, vector, terminal);
      if (values["ndjson"]) found.forEach((photo) => terminal.printLine(photo));
      else if (values["json"]) terminal.printJson({ query, found });
      else found.forEach(({ file, score }) => terminal.printRow([file, score.toFixed(4)]));
      return true;
    };
  },
};

/** Whether a query names a photo. What is no file and has no image's name is words. */
const isPhoto = (query: string): boolean => query === STDIN || IMAGE.test(query) || existsSync(query);

async function look(vit: Vit, file: string, { stdin }: Base["terminal"]): Promise<{ readonly embedding: Embedding; readonly photos: Photos }> {
  const photos = await Photos.load(stdin);
  const photo = await photos.read(file);
  if ("error" in photo) throw new Error(`${file}: ${photo.error}`);
  const embedding = await vit.embed(photo.photo).catch((cause: unknown) => {
    throw new Error(`${file}: ${withoutName(cause)}`, { cause });
  });
  return { embedding, photos };
}

/**
 * Draws the patches' cosines with the words, from the least to the greatest: a map of likeness, and not of what the
 * model attends to, nor of why the photo was found.
 */
async function drawMatch(path: string, vit: Vit, file: string, words: Float32Array, terminal: Base["terminal"]): Promise<void> {
  const { embedding: { projectedPatches, grid, input }, photos } = await look(vit, file, terminal);
  if (!projectedPatches) throw new Error("--map: expected a model that projects its patches, such as CLIP, got another");
  const patches = Array.from({ length: grid[0] * grid[1] }, (_, at) => projectedPatches.subarray(at * words.length, (at + 1) * words.length));
  const cosines = patches.map((patch) => patch.reduce((sum, value, i) => sum + value * words[i]!, 0) / (Math.hypot(...patch) * Math.hypot(...words)));
  const least = Math.min(...cosines);
  const values = Float32Array.from(cosines, (cosine) => cosine - least);
  await writeWhole(path, await photos.png(overlay(input, vit.config, { values, grid })));
}
