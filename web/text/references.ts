/** Replaces references of HTML, such as &amp; and &#39;, as Python's html.unescape does. */
import { missing } from "../load/bundles.js";
import { provided } from "../load/provided.js";

/** The characters of the names in HTML. */
const entitiesBundle = async () => provided.all?.entities ?? import("./entities.js").catch(missing("entities.js"));

const REFERENCES = /&(?:#(?:(\d+)|[xX]([0-9a-fA-F]+));?|([^\t\n\f <&#;]{1,32};?))/gu;
/** The names that most texts have. All 2231 are a bundle of their own. */
const USUAL = new Map([["amp;", "&"], ["lt;", "<"], ["gt;", ">"], ["quot;", '"']]);

/** The characters 128 to 159 of Windows. Node's TextDecoder has others. */
const WINDOWS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

export async function unescaped(text: string): Promise<string> {
  let names: ReadonlyMap<string, string> = USUAL;
  for (const [, , , name] of text.matchAll(REFERENCES)) {
    if (name && !USUAL.has(name) && /^[A-Za-z]/.test(name)) names = (await entitiesBundle()).ENTITIES;
  }
  return text.replace(REFERENCES, (whole, decimal?: string, hex?: string, name = "") =>
    name ? charactersOf(name, names) ?? whole : characterOf(decimal ? Number(decimal) : parseInt(hex!, 16)));
}

/** A name's characters; of a name without a semicolon, as much as is one. */
function charactersOf(name: string, names: ReadonlyMap<string, string>): string | undefined {
  for (let end = name.length; end > 1; end--) {
    const found = names.get(name.slice(0, end));
    if (found) return found + name.slice(end);
  }
  return undefined;
}

/** HTML's rules: what is no character becomes U+FFFD, 128 to 159 are those of Windows, and controls vanish. */
function characterOf(code: number): string {
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return "\ufffd";
  if (code >= 0x80 && code < 0xa0) return WINDOWS[code - 0x80]!;
  const control = (code < 0x20 && ![0x9, 0xa, 0xc, 0xd].includes(code)) || code === 0x7f;
  return control || (code >= 0xfdd0 && code < 0xfdf0) || (code & 0xfffe) === 0xfffe ? "" : String.fromCodePoint(code);
}
