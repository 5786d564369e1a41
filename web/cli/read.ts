import type { ReadOptions } from "vitrine";
import { jsonOf, type PhotoCommand, reportEach } from "./command.ts";
import { type Options, SIZE_OPTION, sizeOf, textOf, type Values, whole } from "./options.ts";

const WRITING: Options = {
  "max-tokens": { value: "N", help: "the most tokens of a text; as the model's own settings say by default" },
  beams: { value: "N", help: "how many texts are followed at once; as the model's own settings say by default, or 1" },
  start: { value: "TOKEN", help: "the token that texts begin with, by its label or number, such as a language" },
};

export const read: PhotoCommand = {
  about: "read photos by a model that writes text: one line each with file and text",
  operand: "PHOTO …",
  options: { ...WRITING, ...SIZE_OPTION },
  plan(values, files) {
    const options = optionsOf(values);
    return (tools) => reportEach(tools, files, jsonOf(values), async ({ file, photo }) => {
      const { text, tokens, p, uncertain, milliseconds } = await tools.vit.read(photo, options);
      return { file, text, tokens, p, uncertain, milliseconds };
    }, ({ file, text, tokens }) => tools.terminal.printRow([file, text || tokens.map(({ id }) => id).join(" ")]));
  },
};

function optionsOf(values: Values): ReadOptions {
  const number = (name: string) => {
    const text = textOf(values, name);
    return text === undefined ? undefined : whole(`--${name}`, text, 1);
  };
  const maxTokens = number("max-tokens"), beams = number("beams"), start = textOf(values, "start");
  return {
    keepInput: false,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(beams !== undefined && { beams }),
    ...(start !== undefined && { start: /^\d+$/.test(start) ? Number(start) : start }),
    ...sizeOf(values),
  };
}
