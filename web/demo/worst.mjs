/** The test digits that the chapter "Softmax and doubt" lets one try. */
import { readFileSync } from "node:fs";
import { testDigits } from "../scripts/data.mjs";

const MODULE = "virtual:worst-digits";
const PIXELS = 28 * 28;
const list = new URL("./story/doubt/reliability.json", import.meta.url);

/**
 * A module whose default export is the address of a file: the labels of the worst test digits, a
 * byte each, then their images of 28×28 bytes. MNIST is not in the repository, so the file is made
 * at build time. Where MNIST is not at hand, the export is undefined and the page says so.
 */
export function worstDigits() {
  let building = false;
  return {
    name: "worst-digits",
    configResolved({ command }) {
      building = command === "build";
    },
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : undefined),
    load(id) {
      if (id !== `\0${MODULE}`) return undefined;
      const digits = building ? testDigits() : undefined;
      if (!digits) {
        console.log("  without the twenty worst test digits: MNIST is not at hand. Name its folder in $VITRINE_DATA and build again");
        return "export default undefined;";
      }
      const asset = this.emitFile({ type: "asset", name: "worst-digits.bin", source: worstOf(digits) });
      return `export default import.meta.ROLLUP_FILE_URL_${asset};`;
    },
  };
}

function worstOf({ images, labels }) {
  const { worst } = JSON.parse(readFileSync(list, "utf8"));
  const drawings = worst.map((index) => images.subarray(index * PIXELS, (index + 1) * PIXELS));
  return Buffer.concat([Buffer.from(worst.map((index) => labels[index])), ...drawings]);
}
