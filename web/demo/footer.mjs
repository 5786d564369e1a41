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

/** Fills the comments <!-- source --> and <!-- licence --> of the page. */
export function fillFooter(html, manifest, licence) {
  const source = sourceOf(manifest);
  const link = source ? `<a href="${escape(source)}" data-text="page.source">Source</a>` : "";
  return html.replace("<!-- source -->", () => link).replace("<!-- licence -->", () => escape(licence));
}
