/**
 * The page's languages. English leads, in texts/en.ts here, of the story, of each chapter and of what else has such a
 * folder; texts/de.json and the like say each English sentence in another language. A sentence that English has
 * changed is one that they lack.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { importTypescript } from "../../scripts/typescript.mjs";

export const LANGUAGES = ["de", "fr", "sr", "es", "zh"];

const demo = new URL("../", import.meta.url);

/** All texts by their ids: { id: { english, file } }, where file(language) is the path of a translation. */
export async function allTexts() {
  const chapters = readdirSync(new URL("story/chapters/", demo)).map((id) => [id, `story/chapters/${id}/`]);
  const all = [["page", ""], ["own", "own/"], ["teachIt", "teach/"], ["number", "number/"], ["story", "story/"], ...chapters]
    .map(([id, folder]) => [id, `${folder}texts/`]).filter(([, folder]) => existsSync(new URL(`${folder}en.ts`, demo)));
  return Object.fromEntries(await Promise.all(all.map(async ([id, folder]) => {
    const { texts } = await importTypescript(`web/demo/${folder}en.ts`);
    return [id, { english: texts, file: (language) => fileURLToPath(new URL(`${folder}${language}.json`, demo)) }];
  })));
}

/** The English sentences with other words in place of each. */
const replaced = (english, other) => Object.fromEntries(Object.entries(english)
  .map(([key, text]) => [key, typeof text === "string" ? other(text) : replaced(text, other)]));

/** A file's translations, by the English; none without the file. */
export const readTranslation = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {});

/** All texts in a language, by their ids. What the language lacks is English. */
export const textsIn = (all, language) => Object.fromEntries(Object.entries(all).map(([id, { english, file }]) => {
  const translated = readTranslation(file(language));
  return [id, replaced(english, (text) => translated[text] ?? text)];
}));

/** A plugin with a module "virtual:languages": the addresses of the languages' files, by their codes. */
export function translations() {
  const module = "virtual:languages", codes = ["en", ...LANGUAGES];
  let building = false;
  return {
    name: "translations",
    configResolved({ command }) {
      building = command === "build";
    },
    configureServer({ middlewares, watcher, ws }) {
      watcher.on("change", (path) => /texts.\w+\.(json|ts)$/.test(path) && ws.send({ type: "full-reload" }));
      middlewares.use(async ({ url }, answer, next) => {
        const code = codes.find((each) => url === `/${each}.json`);
        if (!code) return next();
        answer.setHeader("Content-Type", "application/json");
        answer.end(JSON.stringify(textsIn(await allTexts(), code)));
      });
    },
    resolveId: (specifier) => (specifier === module ? `\0${module}` : undefined),
    async load(moduleId) {
      if (moduleId !== `\0${module}`) return undefined;
      const all = building && await allTexts();
      const addressOf = (code) => {
        if (!building) return `"/${code}.json"`;
        const source = JSON.stringify(textsIn(all, code));
        return `import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: "asset", name: `${code}.json`, source })}`;
      };
      return `export default { ${codes.map((code) => `${code}: ${addressOf(code)}`).join(", ")} };`;
    },
  };
}
