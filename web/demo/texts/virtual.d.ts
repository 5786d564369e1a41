/** See translations.mjs. */
declare module "virtual:language/*" {
  export const page: import("./words.ts").Translation;
  export const sentences: import("./words.ts").StorySentences;
}
