/** The buttons that save the drawing's picture and show its code. */
import { buildCode } from "./code.ts";
import { element } from "./dom.ts";
import { MODELS } from "./models.ts";
import { pictureFile } from "./picture.ts";
import { download } from "./save.ts";
import { isBlank, type State } from "./state.ts";
import { words } from "./texts/words.ts";

/** @param say puts a text into the status line. */
export function listenToTakeaway(state: State, say: (word: string) => void): void {
  const showCode = buildCode(element<HTMLDialogElement>("code-dialog"));
  element("save").addEventListener("click", async () => {
    if (isBlank(state)) return;
    try {
      const file = await pictureFile(state);
      download(file, file.name);
      say(words.share.saved);
    } catch (error) {
      say(words.trouble.action((error as Error).message));
    }
  });
  element("code").addEventListener("click", () => {
    if (state.strokes.length > 0) showCode(state.strokes, state.choice ?? MODELS[0]);
  });
}
