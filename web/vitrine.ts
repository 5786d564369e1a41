/** What `"vitrine"` is: vit.js, and beside it what a page that only classifies never loads. */
export * from "./vit.js";
export { Index, type Found, type IndexOptions } from "./search.js";
