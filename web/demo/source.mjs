/** What the footer links where no repository is named: the page's source and its documents, made with the page. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create } from "tar";

const root = fileURLToPath(new URL("../..", import.meta.url));

export const SOURCE = "source.tar.gz";
export const DOCUMENTS = "documents.txt";

const FOLDERS = ["src", "web", "weights"];
const FILES = ["CMakeLists.txt", "CMakePresets.json", "package.json", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"];
const DOCUMENT_FILES = ["README.md", "web/README.md", "web/REFERENCE.md", "web/RECIPES.md", "weights/README.md", "src/README.md"];
const MODELS = /\.(safetensors|gz|png)$/;

/** The names of the source's files, without the models. */
const names = () => [...FOLDERS.flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name))), ...FILES]
  .filter((name) => !MODELS.test(name) && statSync(join(root, name)).isFile()).sort();

export const source = () => ({
  name: "source",
  apply: "build",
  generateBundle() {
    this.emitFile({ type: "asset", fileName: SOURCE, source: create({ cwd: root, prefix: "vitrine", gzip: true, portable: true, noMtime: true, sync: true }, names()).read() });
    const documents = DOCUMENT_FILES.map((name) => `${name}\n${"=".repeat(name.length)}\n\n${readFileSync(join(root, name), "utf8")}`);
    this.emitFile({ type: "asset", fileName: DOCUMENTS, source: documents.join("\n\n") });
  },
});
