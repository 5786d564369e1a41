/** The words of *Look closer* and of the sentence beside the map. Read them anew for each text, because the language may change. */
import { closer } from "./texts/en-closer.ts";
import { blockOf } from "./texts/words.ts";

export const closerWords = () => ({ looks: blockOf("looks", closer.looks), calibration: blockOf("calibration", closer.calibration) });
