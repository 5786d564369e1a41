import { VitError } from "vitrine";
import { words } from "./texts/words.ts";

/** What did not load, with advice for the visitor. */
export const withRemedy = (what: string): string => words.trouble.remedied(what, words.trouble.remedy);

/** An error's text for visitors: without addresses, and with advice. The package's own are English. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isOfLine(error)) return error.message.replaceAll(/\bhttps?:\/\/\S*[^\s;,.)]/g, words.trouble.server);
  const status = /expected 200 OK .* got (\d{3})/.exec(error.message)?.[1];
  const what = status ? words.trouble.answered(status) : words.trouble.broken;
  return withRemedy(what);
}

/** Undefined where the model found no ink. */
export async function unlessBlank<Answer>(answer: PromiseLike<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof VitError && error.code === "blank_image") return undefined;
    throw error;
  }
}

/** Whether the line or the host caused the error, so that trying again may help. */
export const isOfLine = (error: unknown): boolean =>
  error instanceof VitError && error.code === "network";
