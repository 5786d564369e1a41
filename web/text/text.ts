/** Texts beside images. It is a bundle of its own, which is loaded for the first text. */
export { encoderOf } from "./tokenizer.js";
