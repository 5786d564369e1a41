/** Fills the page's footer when the page is built. */
import { DOCUMENTS, SOURCE } from "./source.mjs";

const escape = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** The address of a package's repository, from any of npm's forms; undefined without one. */
export function sourceOf({ repository }) {
  const named = typeof repository === "string" ? repository : repository?.url;
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(named ?? "");
  if (short) return `https://github.com/${short[1]}`;
  const address = named?.replace(/^git\+/, "").replace(/\.git$/, "");
  return /^https?:\/\//.test(address ?? "") ? address : undefined;
}

/** Fills the comments <!-- source --> and <!-- licence --> of the page. Source and documents are in the repository,
 *  or lie beside the page. */
export function fillFooter(html, manifest, licence) {
  const repository = sourceOf(manifest);
  const [source, documents] = repository ? [repository, `${repository}#readme`] : [SOURCE, DOCUMENTS];
  const link = (address, key, text) => `<a href="${escape(address)}" data-text="page.${key}">${text}</a>`;
  const links = `${link(source, "source", "Source")} ${link(documents, "documents", "Documents")}`;
  return html.replaceAll("<!-- source -->", () => links).replace("<!-- licence -->", () => escape(licence));
}
