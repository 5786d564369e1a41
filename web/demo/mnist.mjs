/** Files made of MNIST at build time, because MNIST is not in the repository. */
import { gzipSync } from "node:zlib";
import { testDigits, trainingDigits } from "../scripts/data.mjs";
import { COUNTS, packDigits, PIXELS } from "../base/digits.mjs";

/**
 * A plugin with a module whose default export is the address of a file. `make` returns the file's
 * bytes, or undefined where MNIST is not at hand. The export is undefined then, and the page says so.
 */
export function fileOfMnist(name, what, make) {
  const id = `virtual:${name}`;
  let building = false;
  return {
    name,
    configResolved({ command }) {
      building = command === "build";
    },
    resolveId: (specifier) => (specifier === id ? `\0${id}` : undefined),
    load(moduleId) {
      if (moduleId !== `\0${id}`) return undefined;
      const source = building ? make() : undefined;
      if (!source) {
        console.log(`  without ${what}: MNIST is not at hand. Name its folder in $VITRINE_DATA and build again`);
        return "export default undefined;";
      }
      const asset = this.emitFile({ type: "asset", name: `${name}.bin`, source });
      return `export default import.meta.ROLLUP_FILE_URL_${asset};`;
    },
  };
}

/** The images that the chapter "How it learnt" trains and measures on: gzip of what web/base/digits.mjs packs. */
export const mnistDigits = () =>
  fileOfMnist("mnist-digits", "images to train on", () => {
    const parts = { train: trainingDigits(), test: testDigits() };
    if (!parts.train || !parts.test) return undefined;
    const first = ({ images, labels }, count) => ({ images: images.subarray(0, count * PIXELS), labels: labels.subarray(0, count) });
    return gzipSync(packDigits({ train: first(parts.train, COUNTS.train), test: first(parts.test, COUNTS.test) }), { level: 9 });
  });
