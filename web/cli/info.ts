import type { Vit } from "vitrine";
import type { ModelCommand } from "./command.ts";
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
      const { family, assumed, skipped, config } = vit;
      if (values["json"] || values["ndjson"]) terminal.printJson({ family, assumed, skipped, config });
      else printInfo(terminal, vit);
      return true;
    };
  },
};

function printInfo(terminal: Terminal, { family, assumed, skipped, config }: Vit): void {
  terminal.printRow([`family: ${family}`]);
  terminal.printRow([`assumed: ${assumed.join(", ") || "nothing"}`]);
  terminal.printRow([`skipped: ${shortened(skipped)}`]);
  for (const [key, value] of Object.entries(config)) {
    terminal.printRow([`${key}: ${key === "labels" ? shortened(config.labels) : JSON.stringify(value)}`]);
  }
}

function shortened(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "") || "nothing";
}
