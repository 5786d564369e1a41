/** What changes the drawing: a hand, the examples, undo, and links. */
import type { PadEvents } from "./pad.ts";
import type { Sheet } from "./history.ts";
import type { Stroke } from "./ink.ts";
import type { Photo } from "./photo.ts";
import { isBlank, type State } from "./state.ts";
import { OPENING, writeOut } from "./examples.ts";
import { keepOverReload } from "./share.ts";
import { patchAt } from "./overlay.ts";
import { words } from "./texts/words.ts";

export type Drawing = ReturnType<typeof followDrawing>;

interface Page {
  redraw(): void;
  /** The ink has changed and no more: the last reading stays in sight until the next one. */
  inked(): void;
  /** The finished drawing is another: its answer is to be told. */
  finished(): void;
  liftKeyPen(): void;
  say(text: string): void;
}

const BLANK: Sheet = { strokes: [] };

export function followDrawing(state: State, { redraw, inked, finished, liftKeyPen, say }: Page) {
  const keep = keepOverReload(() => (state.example ? [] : state.strokes));
  let stopExample = () => {};
  let stroke: Stroke = []; // the stroke under the pen

  const sheet = (): Sheet => ({ strokes: state.strokes, photo: state.photo });
  const changed = () => {
    state.version++;
    inked();
    redraw();
  };
  /** Results that come later for the old drawing are dropped. */
  const replace = ({ strokes, photo }: Sheet, unfinished = false) => {
    stopExample();
    liftKeyPen();
    state.notice = state.reading = undefined;
    Object.assign(state, { strokes, photo, unfinished, example: false, since: state.version + 1 });
    keep();
    changed();
  };
  const remember = () => state.history.remember(state.example ? BLANK : sheet());
  const takeBack = () => replace(state.history.takeBack() ?? BLANK);

  const hand: PadEvents = {
    begin(point) {
      remember();
      if (state.example || state.photo) replace(BLANK);
      state.notice = undefined;
      stroke = [point];
      state.unfinished = true;
      state.strokes = [...state.strokes, stroke];
      changed();
    },
    extend(points) {
      if (state.strokes.at(-1) !== stroke) return; // undone or cleared while the pen was down
      stroke.push(...points);
      state.version++;
      inked();
    },
    end() {
      state.unfinished = false;
      keep();
      state.version++; // read again, as a drawing that is finished
      finished();
      inked();
    },
    cancel() {
      if (state.strokes.at(-1) === stroke) takeBack();
    },
    hover(x, y) {
      const patch = state.view.map === "patch" && patchAt(state, x, y);
      if (!patch) return;
      state.view.patch = patch;
      redraw();
    },
    choosable: (x, y) => state.view.map === "patch" && !state.example && patchAt(state, x, y) !== undefined,
    moved: redraw,
  };

  return {
    hand,
    /** Puts another drawing on the pad, which undo takes back. */
    open(strokes: Stroke[], unfinished = false) {
      remember();
      finished();
      replace({ strokes }, unfinished);
    },
    /** Puts a photo in the drawing's place. */
    lay(photo: Photo) {
      remember();
      finished();
      replace({ strokes: [], photo });
    },
    /** Takes a photo away that cannot be read. What it replaced returns. */
    takeBack,
    step(way: "undo" | "redo") {
      const other = state.history[way](sheet());
      if (!other) return;
      replace(other);
      if (isBlank(other)) say(words.pad.blank);
      else finished();
    },
    wipe() {
      if (isBlank(state)) return;
      if (!state.example) remember();
      replace(BLANK);
      say(words.pad.cleared);
    },
    /** Writes an example on the empty pad, so that there is something to see while the model loads. */
    invite() {
      state.example = true;
      stopExample = writeOut(OPENING, 1400, (shown, done) => {
        state.strokes = shown;
        state.unfinished = !done;
        changed();
      });
    },
  };
}
