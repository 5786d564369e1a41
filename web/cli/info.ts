import type { Vit } from "vitrine";
import type { ModelCommand } from "./command.ts";
import { UsageError } from "./options.ts";
import { printJson, printRow } from "./terminal.ts";

/** The most names that a line shows; JSON has all. */
const MOST_NAMES = 4;

export const info: ModelCommand = {
  about: "describe a model: its family, its config, assumed keys and skipped tensors",
  operand: "MODEL",
  options: {},
  plan(values, operands) {
    if (operands.length > 1) {
      throw new UsageError(`model: expected one, got ${operands.length}; see vitrine info --help`);
    }
    return async ({ vit }) => {
      const { family, assumed, skipped, config } = vit;
      if (values["json"] || values["ndjson"]) printJson({ family, assumed, skipped, config });
      else tell(vit);
      return true;
    };
  },
};

function tell({ family, assumed, skipped, config }: Vit): void {
  printRow([`family: ${family}`]);
  printRow([`assumed: ${assumed.join(", ") || "nothing"}`]);
  printRow([`skipped: ${shortened(skipped)}`]);
  for (const [key, value] of Object.entries(config)) {
    printRow([`${key}: ${key === "labels" ? shortened(config.labels) : JSON.stringify(value)}`]);
  }
}

function shortened(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "") || "nothing";
}
