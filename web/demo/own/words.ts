/** The words of the second tab and of photos. Read them anew for each text, because the language may change. */
import { own as english } from "../texts/en-own.ts";
import { blockOf } from "../texts/words.ts";

export const ownWords = (): typeof english => blockOf("own", english);
