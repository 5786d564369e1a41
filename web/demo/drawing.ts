/** What changes the drawing: a hand, the examples, undo, and links. */
import type { PadEvents } from "./pad.ts";
import type { Sheet } from "./history.ts";
import type { Stroke } from "./ink.ts";
import type { Photo } from "./photo.ts";
import { isBlank, type Pad } from "./state.ts";
import { writeOut } from "./examples.ts";
import { words } from "./texts/words.ts";

export type Drawing = ReturnType<typeof followDrawing>;

interface Page extends Pick<PadEvents, "hover" | "choosable"> {
  opening: Stroke[];
  /** Keeps a drawing over a reload: see share.ts. */
  keep(drawing: () => Stroke[]): () => void;
  redraw(): void;
  /** The ink has changed and no more: the last reading stays in sight until the next one. */
  inked(): void;
  /** The finished drawing is another: its answer is to be told. */
  finished(): void;
  liftKeyPen(): void;
  say(text: string): void;
}

const BLANK: Sheet = { strokes: [] };

export function followDrawing(state: Pad<unknown>, page: Page) {
  const { redraw, inked, finished, liftKeyPen, say } = page;
  const keep = page.keep(() => (state.example ? [] : state.strokes));
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
  const takeBack = () => replace(state.history.past.pop() ?? BLANK);

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
    hover: page.hover,
    choosable: page.choosable,
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
    lay(photo: Photo) {
      remember();
      finished();
      replace({ strokes: [], photo });
    },
    /** Takes a photo away that cannot be read. What it replaced returns. */
    takeBack,
    step(way: "undo" | "redo") {
      const other = state.history.step(way, sheet());
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
      stopExample = writeOut(page.opening, 1400, (strokes, done) => {
        state.strokes = strokes;
        state.unfinished = !done;
        changed();
      });
    },
  };
}

type Find = (id: string) => HTMLElement;

/** Lets the buttons below a pad, and keys while `isOpen`, undo, redo and clear. */
export function followTools(find: Find, isOpen: () => boolean, { step, wipe }: Drawing): void {
  for (const way of ["undo", "redo"] as const) find(way).addEventListener("click", () => step(way));
  find("clear").addEventListener("click", wipe);
  document.addEventListener("keydown", (event) => {
    if (!isOpen() || (event.target as HTMLElement).matches("select, input")) return;
    if (document.querySelector("dialog[open]")) return; // Escape closes the dialog
    const key = event.ctrlKey || event.metaKey ? event.key.toLowerCase() : "";
    if (key === "y" || (key === "z" && event.shiftKey)) step("redo");
    else if (key === "z") step("undo");
    else if (event.key === "Escape" || event.key === "Delete") wipe();
    else return;
    event.preventDefault();
  });
}

/** Not `disabled`, because a disabled button loses the keyboard's focus when it was just pressed. */
export function drawTools(find: Find, state: Pad<unknown>): void {
  const { history, example } = state, blank = isBlank(state);
  const off = { undo: example || history.past.length === 0, redo: history.future.length === 0, clear: blank, share: blank };
  for (const [id, isOff] of Object.entries(off)) find(id).ariaDisabled = String(isOff);
}
