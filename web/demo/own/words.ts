/** The words of the second tab and of photos. Read them anew for each text, because the language may change. */
import { sentencesOf } from "../texts/words.ts";
import type { texts } from "./texts/en.ts";

export const ownWords = () => sentencesOf<typeof texts>("own");
