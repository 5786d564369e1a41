/** What a call of read gives at once: a promise of the whole text that also gives its tokens one by one. */
import type { ReadResult, ReadToken } from "./calls.js";

/** The text, once it is written. `for await (const token of vit.read(image))` gives each token as soon as it is certain. */
export interface Reading extends Promise<ReadResult>, AsyncIterable<ReadToken> {}
