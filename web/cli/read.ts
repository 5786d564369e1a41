import { type ReadOptions, type ReadResult, VitError } from "vitrine";
import { type PhotoCommand, refusal, type Tools } from "./command.ts";
import { type Options, SIZE_OPTION, sizeOf, textOf, type Values, whole } from "./options.ts";
import { type PhotoResult, withoutName } from "./photos.ts";

/** One photo's text in the JSON output, or its error. */
interface Report extends Partial<Pick<ReadResult, "text" | "tokens" | "milliseconds">> {
  readonly file: string;
  readonly error?: string;
}

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
    const lines = values["ndjson"] === true;
    const json = lines || values["json"] === true;
    const options = optionsOf(values);
    return async (tools) => {
      const { terminal } = tools;
      const reports: Report[] = [];
      for await (const group of tools.photos.groups(files)) {
        for (const photo of group) {
          terminal.status(`${reports.length}/${files.length} photos`);
          const report = await write(tools, options, photo);
          if (report.error !== undefined) terminal.complain(`${report.file}: ${report.error}`);
          if (lines) terminal.printLine(report);
          else if (!json && report.tokens) terminal.printRow([report.file, report.text || report.tokens.map(({ id }) => id).join(" ")]);
          reports.push(report);
        }
      }
      if (json && !lines) terminal.printJson(reports);
      return reports.every(({ error }) => error === undefined);
    };
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

async function write({ vit }: Tools, options: ReadOptions, photo: PhotoResult): Promise<Report> {
  if ("error" in photo) return photo;
  const { file } = photo;
  const result = await vit.read(photo.photo, options).catch(refusal);
  if (result instanceof VitError) return { file, error: withoutName(result) };
  const { text, tokens, milliseconds } = result;
  return { file, text, tokens, milliseconds };
}
