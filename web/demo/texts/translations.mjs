/**
 * The story's translations. English leads, in the texts/en.ts of the story and of each chapter; texts/de.json
 * and the like say each English sentence in another language. A sentence that English has changed is one that they lack.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { importTypescript } from "../../scripts/typescript.mjs";

export const LANGUAGES = ["de", "fr", "sr", "es", "zh"];

const story = new URL("../story/", import.meta.url);

/** The story's texts, each chapter's and those of the third tab: { id: { english, file } }, where file(language) is the path of a translation. */
export async function textsOfStory() {
  const chapters = readdirSync(new URL("chapters/", story)).map((id) => [id, `chapters/${id}/texts/`]);
  const all = [["story", "texts/"], ["number", "../number/texts/"], ...chapters].filter(([, folder]) => existsSync(new URL(`${folder}en.ts`, story)));
  return Object.fromEntries(await Promise.all(all.map(async ([id, folder]) => {
    const { texts } = await importTypescript(`web/demo/story/${folder}en.ts`);
    return [id, { english: texts, file: (language) => fileURLToPath(new URL(`${folder}${language}.json`, story)) }];
  })));
}

/** The English sentences with other words in place of each. */
const replaced = (english, other) => Object.fromEntries(Object.entries(english)
  .map(([key, text]) => [key, typeof text === "string" ? other(text) : replaced(text, other)]));

/** A file's translations, by the English; none without the file. */
export const readTranslation = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {});

/** A plugin with a module "virtual:language/de" and so on: the page's words, and each chapter's sentences by their keys. What a language lacks is English. */
export const translations = () => ({
  name: "translations",
  resolveId: (specifier) => (specifier.startsWith("virtual:language/") ? `\0${specifier}` : undefined),
  async load(moduleId) {
    const language = /^\0virtual:language\/(.*)/.exec(moduleId)?.[1];
    if (!language) return undefined;
    const sentences = {};
    for (const [id, { english, file }] of Object.entries(await textsOfStory())) {
      this.addWatchFile(file(language));
      const translated = readTranslation(file(language));
      sentences[id] = replaced(english, (text) => translated[text] ?? text);
    }
    const page = JSON.stringify(fileURLToPath(new URL(`${language}.ts`, import.meta.url)));
    return `export { ${language} as page } from ${page};\nexport const sentences = ${JSON.stringify(sentences)};`;
  },
});
