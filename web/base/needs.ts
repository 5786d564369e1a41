/** What an environment must have. */
import { VitError } from "../errors.js";

/** Jest's jsdom hides these parts of Node. */
const GLOBALS = ["MessageChannel", "ReadableStream", "TextDecoder", "TextEncoder"];

/** @throws {VitError} code `unsupported`. */
export function checkEnvironment(): void {
  const lacking = GLOBALS.filter((name) => !(name in globalThis));
  if (lacking.length === 0) return;
  const what = `expected an environment with ${lacking.join(", ")}, got one without`;
  throw new VitError("unsupported", `${what}; in Jest use @jest-environment node, or set them to Node's own in a setup file`);
}
