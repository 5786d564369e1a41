import { VitError } from "vitrine";

/** Advice for a visitor when a file did not load. */
export const REMEDY = "check the connection, then Retry";

/** An error's text for visitors: without addresses, and with advice. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isOfLine(error)) return error.message.replaceAll(/\bhttps?:\/\/\S*[^\s;,.)]/g, "the server");
  const status = /expected 200 OK .* got (\d{3})/.exec(error.message)?.[1];
  const what = status ? `the server answered ${status}` : "the connection failed or broke off";
  return `${what}; ${REMEDY}`;
}

/** Whether the line or the host caused the error, so that trying again may help. */
export const isOfLine = (error: unknown): boolean =>
  error instanceof VitError && error.code === "network";
