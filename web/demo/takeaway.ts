/** The buttons that share the drawing, save its picture and show its code. */
import { codeFor, listenToCode, showCode } from "./code.ts";
import { MODELS } from "./models.ts";
import { writeLink } from "./link.ts";
import { lookOf, pictureOf, save } from "./picture.ts";
import { share } from "./share.ts";
import type { State } from "./state.ts";
import { words } from "./texts/words.ts";

type Find = (id: string) => HTMLElement;
const BUTTONS = ["share", "save", "code"] as const;

/** @param say puts a text into the status line. */
export function listenToTakeaway(find: Find, state: State, say: (word: string) => void): void {
  const dialog = find("code-dialog") as HTMLDialogElement;
  const actions: Record<(typeof BUTTONS)[number], () => Promise<string> | string> = {
    share: () => share(state.strokes, writeLink(state)),
    async save() {
      const label = state.reading?.result.classes[0].label ?? "drawing";
      await save(pictureOf(state, lookOf(find("pad"))), `vitrine-${label}.png`);
      return words.share.saved;
    },
    code() {
      showCode(dialog, codeFor(state.strokes, state.choice ?? MODELS[0]));
      return "";
    },
  };
  for (const id of BUTTONS) {
    find(id).addEventListener("click", async () => {
      if (state.strokes.length === 0) return;
      try {
        const word = await actions[id]();
        if (word) say(word);
      } catch (error) {
        say(words.trouble.action((error as Error).message));
      }
    });
  }
  listenToCode(dialog);
}

export function showTakeaway(find: Find, { strokes }: State): void {
  // Not `disabled`, because a disabled button loses the keyboard's focus.
  for (const id of BUTTONS) find(id).ariaDisabled = String(strokes.length === 0);
}
