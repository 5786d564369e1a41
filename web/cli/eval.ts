import { modelOptions, type PlainCommand, withModel } from "./command.ts";
import { answersOf, DATA_OPTIONS, readDataSource } from "./answers.ts";
import { calibrationError, fixed, scoreAnswers, largest, loss } from "./score.ts";
import type { Terminal } from "./terminal.ts";

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
    return ({ terminal }) => withModel(model, terminal, async ({ vit }) => {
      const { labels, temperature, classes } = vit.config;
      if (values["confusion"] && classes > MOST_CONFUSED) {
        throw new Error(`--confusion: expected a model of at most ${MOST_CONFUSED} classes, got ${classes}`);
      }
      const answers = await answersOf(vit, dataSource, "test", terminal);
      const scored = scoreAnswers(answers, temperature);
      const correct = scored.filter(({ right }) => right).length, count = scored.length;
      const score = { loss: loss(answers, temperature), calibrationError: calibrationError(scored), accuracy: correct / count, correct, count };
      const confusion = values["confusion"] ? confusionOf(answers.logits.map(largest), answers.labels, classes) : undefined;
      if (values["json"] || values["ndjson"]) {
        terminal.printJson({ ...score, ...(confusion && { labels, confusion }) });
        return true;
      }
      if (confusion) printConfusion(terminal, confusion, labels);
      terminal.print(`loss: ${fixed(score.loss)}`);
      terminal.print(`calibration error: ${fixed(score.calibrationError)}`);
      terminal.print(`accuracy: ${fixed(score.accuracy)} (${correct}/${count})`);
      return true;
    });
  },
};

/** (K,K): a row for each true class, a column for each answer. */
function confusionOf(answers: readonly number[], labels: readonly number[], classes: number): number[][] {
  const counts = Array.from({ length: classes }, () => Array.from({ length: classes }, () => 0));
  answers.forEach((answer, n) => counts[labels[n]!]![answer]!++);
  return counts;
}

function printConfusion(terminal: Terminal, counts: readonly (readonly number[])[], labels: readonly string[]): void {
  terminal.print("confusion: a row for each true class, a column for each answer");
  terminal.printRow(["", ...labels]);
  counts.forEach((row, truth) => terminal.printRow([labels[truth]!, ...row.map(String)]));
}
