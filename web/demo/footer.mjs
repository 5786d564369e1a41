/** Fills the page's footer when the page is built. */

const escape = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** The address of a package's repository, from any of npm's forms; undefined without one. */
export function sourceOf({ repository }) {
  const named = typeof repository === "string" ? repository : repository?.url;
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(named ?? "");
  if (short) return `https://github.com/${short[1]}`;
  const address = named?.replace(/^git\+/, "").replace(/\.git$/, "");
  return /^https?:\/\//.test(address ?? "") ? address : undefined;
}

/** Fills the comments <!-- source --> and <!-- licence --> of the page. Documents are where the source is. */
export function fillFooter(html, manifest, licence) {
  const source = sourceOf(manifest);
  const link = (address, key, text) => `<a href="${escape(address)}" data-text="page.${key}">${text}</a>`;
  const links = source ? `${link(source, "source", "Source")} ${link(`${source}#readme`, "documents", "Documents")}` : "";
  return html.replaceAll("<!-- source -->", () => links).replace("<!-- licence -->", () => escape(licence));
}
