/** What the footer links where no repository is named: the page's source and its documents, made with the page. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("../..", import.meta.url));

export const SOURCE = "source.tar.gz";
export const DOCUMENTS = "documents.txt";

const FOLDERS = ["src", "web", "weights"];
const FILES = ["CMakeLists.txt", "CMakePresets.json", "package.json", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"];
const DOCUMENT_FILES = ["README.md", "web/README.md", "web/REFERENCE.md", "web/RECIPES.md", "weights/README.md", "src/README.md"];
const MODELS = /\.(safetensors|gz|png)$/;

const BLOCK = 512;

/** A tar archive (POSIX.1-1988 ustar) of files, without their times: the same files make the same bytes. */
export function tarOf(files) {
  const parts = files.flatMap(([name, data]) => {
    const header = Buffer.alloc(BLOCK);
    const put = (text, at) => header.write(text, at, "latin1");
    put(name, 0);
    put("0000644", 100);
    put(data.length.toString(8).padStart(11, "0"), 124);
    put("00000000000", 136);
    put("        0", 148); // the checksum is summed as blanks; a plain file
    put("ustar\u000000", 257);
    put(`${header.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `, 148);
    return [header, data, Buffer.alloc(-data.length & (BLOCK - 1))];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function sourceFiles() {
  const inside = FOLDERS.flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)));
  const names = [...inside, ...FILES].map((name) => name.replaceAll("\\", "/")).filter((name) => !MODELS.test(name) && name.length < 100);
  return names.filter((name) => statSync(join(root, name)).isFile()).sort().map((name) => [`vitrine/${name}`, readFileSync(join(root, name))]);
}

export const source = () => ({
  name: "source",
  apply: "build",
  generateBundle() {
    this.emitFile({ type: "asset", fileName: SOURCE, source: gzipSync(tarOf(sourceFiles())) });
    const documents = DOCUMENT_FILES.map((name) => `${name}\n${"=".repeat(name.length)}\n\n${readFileSync(join(root, name), "utf8")}`);
    this.emitFile({ type: "asset", fileName: DOCUMENTS, source: documents.join("\n\n") });
  },
});
