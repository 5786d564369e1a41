/** The command find: the photos of an index that are nearest to a photo, or to words. */
import { existsSync } from "node:fs";
import type { Vit } from "vitrine";
import type { Base, QueryCommand } from "./command.ts";
import { IMAGE, STDIN } from "./files.ts";
import { aboutOf, ofModel, openIndex, vectorOf } from "./index-photos.ts";
import { textOf, UsageError, whole } from "./options.ts";
import { Photos, withoutName } from "./photos.ts";

const DEFAULT_LINES = 10;

/** A model that has a text tower. */
interface Reader {
  embedText?(texts: readonly string[]): Promise<{ readonly embeds: Float32Array }>;
}

export const find: QueryCommand = {
  about: "find the photos of an index that are like a photo, or show what words say: a line each with file and cosine",
  operand: "PHOTO or WORDS",
  options: {
    index: { value: "FILE", help: "what the command index wrote, by the same model" },
    top: { value: "K", help: `print the K nearest; ${DEFAULT_LINES} by default` },
    ndjson: { help: "print one JSON line for each photo that is found" },
  },
  plan(values, query) {
    const path = textOf(values, "index");
    if (path === undefined) throw new UsageError("--index: expected a file of the command index, got none");
    const count = whole("--top", textOf(values, "top") ?? String(DEFAULT_LINES), 1);
    return async ({ vit, terminal }) => {
      const index = await openIndex(path);
      ofModel(path, index, aboutOf(vit));
      const vector = isPhoto(query) ? await lookAt(vit, query, terminal) : await read(vit, query);
      const found = index.search(vector, count).map(({ id: file, score }) => ({ file, score }));
      if (values["ndjson"]) found.forEach((photo) => terminal.printLine(photo));
      else if (values["json"]) terminal.printJson({ query, found });
      else found.forEach(({ file, score }) => terminal.printRow([file, score.toFixed(4)]));
      return true;
    };
  },
};

/** Whether a query names a photo. What is no file and has no image's name is words. */
const isPhoto = (query: string): boolean => query === STDIN || IMAGE.test(query) || existsSync(query);

async function lookAt(vit: Vit, file: string, { stdin }: Base["terminal"]): Promise<Float32Array> {
  const seen = await (await Photos.load(stdin)).read(file);
  if ("error" in seen) throw new Error(`${file}: ${seen.error}`);
  return vectorOf(await vit.embed(seen.photo).catch((cause: unknown) => {
    throw new Error(`${file}: ${withoutName(cause)}`, { cause });
  }));
}

async function read(vit: Vit & Reader, words: string): Promise<Float32Array> {
  if (!vit.embedText) throw new Error("words: expected a model that reads them, such as CLIP, got another; find by a photo");
  return (await vit.embedText([words])).embeds;
}
