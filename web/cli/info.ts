import type { Mapping, Vit } from "vitrine";
import { jsonOf, type ModelCommand } from "./command.ts";
import { UsageError } from "./options.ts";
import type { Terminal } from "./terminal.ts";

/** A line shows at most this many names; JSON has all. */
const MOST_NAMES = 4;

export const info: ModelCommand = {
  about: "describe a model: its family, its config, assumed keys and skipped tensors",
  operand: "MODEL",
  options: {},
  plan(values, operands) {
    if (operands.length > 1) {
      throw new UsageError(`model: expected one, got ${operands.length}; see vitrine info --help`);
    }
    return async ({ vit, terminal }) => {
      const { family, assumed, skipped, mapping, config } = vit;
      if (jsonOf(values).json) terminal.printJson({ family, assumed, skipped, config, map: mapping });
      else printInfo(terminal, vit);
      return true;
    };
  },
  refused(values, { questions, mapping }, terminal) {
    if (!questions) return;
    if (jsonOf(values).json) return terminal.printJson({ questions, map: mapping });
    for (const question of questions) terminal.printRow([`${question.key}: ${question.values.map(String).join(" or ") || "[rows, columns]"}`]);
    printMapping(terminal, mapping);
  },
};

function printInfo(terminal: Terminal, { family, assumed, skipped, mapping, config }: Vit): void {
  terminal.printRow([`family: ${family}`]);
  terminal.printRow([`assumed: ${assumed.join(", ") || "nothing"}`]);
  terminal.printRow([`skipped: ${shortened(skipped)}`]);
  for (const [key, value] of Object.entries(config)) {
    terminal.printRow([`${key}: ${key === "labels" ? shortened(config.labels) : JSON.stringify(value)}`]);
  }
  printMapping(terminal, mapping);
}

/** What the file's tensors are taken for; one block stands for all. */
function printMapping(terminal: Terminal, mapping: Mapping = {}): void {
  for (const [name, from] of Object.entries(mapping)) {
    if (from.length > 0 && !/^blocks\.[1-9]/.test(name)) terminal.printRow([`${name} ← ${from.join(" + ")}`]);
  }
}

function shortened(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "") || "nothing";
}
