import { jsonOf, modelOptions, type PlainCommand, withModel } from "./command.ts";
import type { Answers } from "vitrine/train";
import { answersOf, DATA_OPTIONS, readDataSource } from "./answers.ts";
import { fixed, type Terminal } from "./terminal.ts";

/** A table of more classes is too large to read. */
const MOST_CONFUSED = 256;

export const evaluate: PlainCommand = {
  about: "measure a model on labelled images: loss, calibration error and, last, accuracy",
  operand: "",
  options: {
    ...DATA_OPTIONS,
    confusion: { help: "print the confusion matrix too" },
    threads: { value: "N", help: "the number of threads; all cores by default" },
    ndjson: { help: "the same on one line" },
  },
  plan(values) {
    const dataSource = readDataSource(values);
    const model = modelOptions(values, undefined, Infinity);
    const { variant = "auto" } = model.options;
    return ({ terminal }) => withModel(model, terminal, async ({ vit }) => {
      const { labels, temperature, classes } = vit.config;
      if (values["confusion"] && classes > MOST_CONFUSED) {
        throw new Error(`--confusion: expected a model of at most ${MOST_CONFUSED} classes, got ${classes}`);
      }
      const answers = await answersOf(vit, dataSource, "test", terminal);
      const { score } = await import("vitrine/train");
      const { loss, calibrationError, accuracy, right, wrong } = await score(answers, { temperature, variant, worker: true });
      const correct = right.count, count = correct + wrong.count;
      const confusion = values["confusion"] ? confusionOf(answers, classes) : undefined;
      if (jsonOf(values).json) {
        terminal.printJson({ loss, calibrationError, accuracy, correct, count, ...(confusion && { labels, confusion }) });
        return true;
      }
      if (confusion) printConfusion(terminal, confusion, labels);
      terminal.print(`loss: ${fixed(loss)}`);
      terminal.print(`calibration error: ${fixed(calibrationError)}`);
      terminal.print(`accuracy: ${fixed(accuracy)} (${correct}/${count})`);
      return true;
    });
  },
};

/** (K,K): a row for each true class, a column for each answer. */
function confusionOf({ logits, labels }: Answers, classes: number): number[][] {
  const counts = Array.from({ length: classes }, () => Array.from({ length: classes }, () => 0));
  labels.forEach((label, n) => {
    const row = logits.subarray(n * classes, (n + 1) * classes);
    counts[label]![row.indexOf(Math.max(...row))]!++;
  });
  return counts;
}

function printConfusion(terminal: Terminal, counts: readonly (readonly number[])[], labels: readonly string[]): void {
  terminal.print("confusion: a row for each true class, a column for each answer");
  terminal.printRow(["", ...labels]);
  counts.forEach((row, truth) => terminal.printRow([labels[truth]!, ...row.map(String)]));
}
