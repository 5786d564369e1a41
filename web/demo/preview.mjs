/** Tags for the previews of links, when the page is built. They need whole addresses, so without the page's own there are none. */

/** The picture beside a link: public/preview.png, made by `node tests/browser/preview.mjs`. */
const IMAGE = { name: "preview.png", width: "1200", height: "630", alt: "A handwritten 3 under a map of where the model looks, and beside it the answer: 3, certain" };

/**
 * @param address the page's: $VITRINE_ADDRESS, or else package.json's `homepage`.
 * @returns Vite's tags for the page's head.
 */
export function previewTags(address) {
  if (!/^https?:\/\/[^#?]+$/.test(address ?? "")) return [];
  const page = address.replace(/\/?$/, "/");
  const properties = {
    "og:url": page,
    "og:image": new URL(IMAGE.name, page).href,
    "og:image:type": "image/png",
    "og:image:width": IMAGE.width,
    "og:image:height": IMAGE.height,
    "og:image:alt": IMAGE.alt,
  };
  return Object.entries(properties).map(([property, content]) => ({ tag: "meta", attrs: { property, content }, injectTo: "head" }));
}
