import { type Classification, type ClassifyOptions, type Vit, VitError } from "vitrine";
import { jsonOf, type PhotoCommand, refusal } from "./command.ts";
import { SHARD_OPTION, SIZE_OPTION, sizeOf, textOf, whole } from "./options.ts";
import { type PhotoResult, withoutName } from "./photos.ts";
import type { Terminal } from "./terminal.ts";

const DEFAULT_LINES = 1;
const DEFAULT_JSON = 5;

interface FileClassification extends Pick<Classification, "classes" | "problemType" | "uncertain" | "milliseconds"> {
  readonly file: string;
}
type Answer = FileClassification | { readonly file: string; readonly error: string };

export const classify: PhotoCommand = {
  about: "classify photos: one line each with file, label, probability (a regression's value) and, if unsure, `uncertain`",
  operand: "PHOTO …",
  options: {
    top: {
      value: "K",
      help: `print the K most likely classes; ${DEFAULT_LINES} by default, ${DEFAULT_JSON} with JSON`,
    },
    labels: { value: "TEXTS", help: 'texts in place of the classes, such as "a photo of a cat,a photo of a dog": of CLIP and SigLIP' },
    ...SIZE_OPTION,
    ...SHARD_OPTION,
  },
  plan(values, files) {
    const { json, lines } = jsonOf(values);
    const top = textOf(values, "top");
    const topK = top === undefined ? (json ? DEFAULT_JSON : DEFAULT_LINES) : whole("--top", top, 1);
    const labels = textOf(values, "labels")?.split(",").map((text) => text.trim());
    const options = { topK, ...(labels && { labels }), ...sizeOf(values) };
    return async ({ vit, photos, terminal }) => {
      const answers: Answer[] = [];
      for await (const group of photos.groups(files)) {
        terminal.status(`${answers.length}/${files.length} photos`);
        const judged = await judge(vit, group, options);
        for (const answer of judged) {
          if ("error" in answer) terminal.complain(`${answer.file}: ${answer.error}`);
          else if (!json) printAnswer(terminal, answer);
          if (lines) terminal.printLine(answer);
        }
        answers.push(...judged);
      }
      if (json && !lines) terminal.printJson(answers);
      return answers.every((answer) => !("error" in answer));
    };
  },
};

/** Classifies a group in one batch, or photo by photo where the model refuses one of them. */
async function judge(vit: Vit, group: readonly PhotoResult[], options: ClassifyOptions): Promise<Answer[]> {
  const images = group.flatMap((read) => ("photo" in read ? [read.photo] : []));
  const together = await vit.classifyAll(images, options).catch(refusal);
  const answers: Answer[] = [];
  for (const read of group) {
    const { file } = read;
    if ("error" in read) answers.push(read);
    else {
      const judged =
        together instanceof VitError
          ? await vit.classify(read.photo, options).catch(refusal)
          : together.shift()!;
      answers.push(answerOf(file, judged));
    }
  }
  return answers;
}

function answerOf(file: string, judged: Classification | VitError): Answer {
  if (judged instanceof VitError) return { file, error: withoutName(judged) };
  const { classes, problemType, uncertain, milliseconds } = judged;
  return { file, classes, problemType, uncertain, milliseconds };
}

/** Prints an answer: its file, label, probability and perhaps `uncertain`. */
function printAnswer(terminal: Terminal, { file, classes, uncertain }: FileClassification): void {
  classes.forEach(({ label, p }, rank) => {
    const unsure = uncertain && rank === 0 ? ["uncertain"] : [];
    terminal.printRow([file, label, p.toFixed(4), ...unsure]);
  });
}
