/** The answers of a model on the labelled images that eval and calibrate name. */
import type { Vit, VitConfig } from "vitrine";
import type { Answers } from "vitrine/train";
import { reportAssumed } from "./command.ts";
import { takeAll } from "./dataset.ts";
import type { DataSet } from "./examples.ts";
import { type HeldOutPart, openHeldOutFolders } from "./folders.ts";
import { type Files, findIdx, openIdx } from "./idx.ts";
import { type Options, textOf, UsageError, type Values } from "./options.ts";
import type { Terminal } from "./terminal.ts";

export const DATA_OPTIONS: Options = {
  images: { value: "IDX", help: "IDX images, gzipped or not" },
  labels: { value: "IDX", help: "IDX labels, gzipped or not" },
  data: { value: "FOLDER", help: "instead: a folder of photos for each class, or IDX files under MNIST's names of the test part" },
};

/** The labelled images: a folder, or two IDX files. */
export type DataSource = string | Files;

export function readDataSource(values: Values): DataSource {
  const [data, images, labels] = ["data", "images", "labels"].map((name) => textOf(values, name));
  if (data !== undefined && images === undefined && labels === undefined) return data;
  if (data === undefined && images !== undefined && labels !== undefined) return { images, labels };
  const got = ["data", "images", "labels"].filter((name) => values[name] !== undefined).map((name) => `--${name}`);
  throw new UsageError(`data: expected either --images and --labels, or --data, got ${got.join(" and ") || "none"}`);
}

/** Opens examples to measure on, which are all for validation. Checks that the model has their classes. */
async function openDataSource(dataSource: DataSource, preferred: HeldOutPart, { labels }: Readonly<VitConfig>, terminal: Terminal): Promise<DataSet> {
  const idx = typeof dataSource === "string" ? await findIdx(dataSource, "t10k") : dataSource;
  const data = idx ? await openIdx(idx.images, idx, undefined) : await openHeldOutFolders(dataSource as string, preferred, terminal);
  const other = data.named ? data.labels.find((label) => !labels.includes(label)) : undefined;
  if (other !== undefined) {
    throw new Error(`${data.path}: expected folders of the model's classes, got "${other}", which is not one; name them as vitrine info --json prints its labels`);
  }
  if (!data.named && data.labels.length > labels.length) {
    throw new Error(`${idx!.labels}: expected labels below the model's ${labels.length} classes, got ${data.labels.length - 1}`);
  }
  return data;
}

/** @throws unless the model gives each image one of its classes. */
function checkClasses({ config }: Vit): void {
  if (config.decoder) throw new Error("model: expected a model that classifies, got one that writes texts, which the trainer's build/native/vit eval and calibrate measure");
  if (config.classes === 0) throw new Error("model: expected a model with a head, got one without, which cannot classify");
  if (config.problem_type === "single_label_classification") return;
  throw new Error(`model: expected a model whose problem_type is single_label_classification, because each image has one label here, got ${config.problem_type}`);
}

/** @param part the examples from `first` on: `count` of them, or all that follow. */
export async function answersOf(
  vit: Vit,
  dataSource: DataSource,
  preferred: HeldOutPart,
  terminal: Terminal,
  { first = 0, count }: { readonly first?: number; readonly count?: number | undefined } = {},
): Promise<Answers> {
  checkClasses(vit);
  reportAssumed(vit, terminal);
  const { config } = vit;
  const data = partOf(await openDataSource(dataSource, preferred, config, terminal), first, count);
  const logits = new Float32Array(data.parts.length * config.classes), doubt = new Float32Array(config.doubt ? data.parts.length : 0);
  const labels: number[] = [];
  await takeAll(data, config, terminal, "nothing was measured", async (examples) => {
    const answers = await vit.classifyAll(examples.map(({ image }) => image), { topK: 1, keepInput: false });
    answers.forEach((answer, n) => {
      logits.set(answer.logits.subarray(0, config.classes), (labels.length + n) * config.classes);
      if (answer.doubt !== undefined) doubt[labels.length + n] = answer.doubt;
    });
    labels.push(...examples.map(({ label }) => (typeof label === "number" ? label : config.labels.indexOf(label))));
  });
  terminal.status("");
  return { logits, labels, doubt };
}

function partOf(data: DataSet, first: number, count = Math.max(data.parts.length - first, 0)): DataSet {
  const { length } = data.parts;
  if (count === 0 || first + count > length) {
    throw new Error(`${data.path}: --first ${first} --count ${count}: expected a part of its ${length} images`);
  }
  return {
    ...data,
    parts: data.parts.slice(first, first + count),
    async *groups(config) {
      let at = -first;
      for await (const group of data.groups(config)) {
        yield group.slice(Math.max(-at, 0), Math.max(count - at, 0));
        if ((at += group.length) >= count) return;
      }
    },
  };
}
