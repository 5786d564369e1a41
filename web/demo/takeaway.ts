/** The buttons that save the drawing's picture and show its code. */
import { buildCode } from "./code.ts";
import { MODELS } from "./models.ts";
import { pictureFile } from "./picture.ts";
import { download } from "./save.ts";
import { isBlank, type State } from "./state.ts";
import { words } from "./texts/words.ts";

type Find = (id: string) => HTMLElement;

/** @param say puts a text into the status line. */
export function listenToTakeaway(find: Find, state: State, say: (word: string) => void): void {
  const showCode = buildCode(find("code-dialog") as HTMLDialogElement);
  find("save").addEventListener("click", async () => {
    if (isBlank(state)) return;
    try {
      const file = await pictureFile(state);
      download(file, file.name);
      say(words.share.saved);
    } catch (error) {
      say(words.trouble.action((error as Error).message));
    }
  });
  find("code").addEventListener("click", () => {
    if (state.strokes.length > 0) showCode(state.strokes, state.choice ?? MODELS[0]);
  });
}
