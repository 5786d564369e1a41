import { VitError } from "vitrine";

/** What a visitor can do where something did not come. */
export const REMEDY = "check the connection, then Retry";

/** An error as a visitor needs it: without addresses, and with what to do. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isOfLine(error)) return error.message.replaceAll(/\bhttps?:\/\/\S*[^\s;,.)]/g, "the server");
  const status = /expected 200 OK .* got (\d{3})/.exec(error.message)?.[1];
  const what = status ? `the server answered ${status}` : "the line was down or broke off";
  return `${what}; ${REMEDY}`;
}

/** Whether it is the line's or the host's, so that trying again may help. */
export const isOfLine = (error: unknown): boolean =>
  error instanceof VitError && error.code === "network";
