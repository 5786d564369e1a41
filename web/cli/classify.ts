import { type Classification, type Vit, VitError } from "vitrine";
import { type PhotoCommand, refusal } from "./command.ts";
import { textOf, whole } from "./options.ts";
import { type Read, withoutName } from "./photos.ts";
import { complain, printJson, printLine, printRow, status } from "./terminal.ts";

const DEFAULT_LINES = 1;
const DEFAULT_JSON = 5;

type Judged = Pick<Classification, "classes" | "uncertain" | "milliseconds">;
type Answer = { readonly file: string } & (Judged | { readonly error: string });

export const classify: PhotoCommand = {
  about: "classify photos: one line each with file, label, probability and, if unsure, `uncertain`",
  operand: "PHOTO …",
  options: {
    top: {
      value: "K",
      help: `print the K most likely classes; ${DEFAULT_LINES} by default, ${DEFAULT_JSON} with JSON`,
    },
  },
  plan(values, files) {
    const lines = values["ndjson"] === true;
    const json = lines || values["json"] === true;
    const top = textOf(values, "top");
    const topK = top === undefined ? (json ? DEFAULT_JSON : DEFAULT_LINES) : whole("--top", top, 1);
    return async ({ vit, photos }) => {
      const answers: Answer[] = [];
      for await (const group of photos.groups(files)) {
        status(`${answers.length}/${files.length} photos`);
        const judged = await judge(vit, group, topK);
        judged.forEach(json ? tellError : tell);
        if (lines) judged.forEach(printLine);
        answers.push(...judged);
      }
      if (json && !lines) printJson(answers);
      return answers.every((answer) => !("error" in answer));
    };
  },
};

/** Classifies a group in one batch, or photo by photo where the model refuses one of them. */
async function judge(vit: Vit, group: readonly Read[], topK: number): Promise<Answer[]> {
  const images = group.flatMap((read) => ("photo" in read ? [read.photo] : []));
  const together = await vit.classifyAll(images, { topK }).catch(refusal);
  const answers: Answer[] = [];
  for (const read of group) {
    const { file } = read;
    if ("error" in read) answers.push(read);
    else {
      const judged =
        together instanceof VitError
          ? await vit.classify(read.photo, { topK }).catch(refusal)
          : together.shift()!;
      answers.push(answerOf(file, judged));
    }
  }
  return answers;
}

function answerOf(file: string, judged: Classification | VitError): Answer {
  if (judged instanceof VitError) return { file, error: withoutName(judged) };
  const { classes, uncertain, milliseconds } = judged;
  return { file, classes, uncertain, milliseconds };
}

const tellError = (answer: Answer): void => {
  if ("error" in answer) complain(`${answer.file}: ${answer.error}`);
};

/** Prints an answer in the format of `vit classify`. */
function tell(answer: Answer): void {
  if ("error" in answer) return tellError(answer);
  answer.classes.forEach(({ label, p }, rank) => {
    const unsure = answer.uncertain && rank === 0 ? ["uncertain"] : [];
    printRow([answer.file, label, p.toFixed(4), ...unsure]);
  });
}
