/** The test digits that the chapter "How sure is it?" lets one try. */
import { readFileSync } from "node:fs";
import { testDigits } from "../scripts/data.mjs";
import { fileOfMnist } from "./mnist.mjs";
import { PIXELS } from "../base/digits.mjs";

const list = new URL("./story/chapters/doubt/reliability.json", import.meta.url);

/** A file of the labels of the worst test digits, a byte each, then their images of 28×28 bytes. */
export const worstDigits = () =>
  fileOfMnist("worst-digits", "the twenty worst test digits", () => {
    const digits = testDigits();
    return digits && worstOf(digits);
  });

function worstOf({ images, labels }) {
  const { worst } = JSON.parse(readFileSync(list, "utf8"));
  const drawings = worst.map((index) => images.subarray(index * PIXELS, (index + 1) * PIXELS));
  return Buffer.concat([Buffer.from(worst.map((index) => labels[index])), ...drawings]);
}
