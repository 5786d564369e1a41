/** My signs: a row for each sign with its drawings, and what can be done with the model that learnt them. */
import { button, h, onChosen } from "../dom.ts";
import { SIGNS_FILE } from "../models.ts";
import { pack } from "../pack.ts";
import { download } from "../save.ts";
import { inWords } from "../status.ts";
import { showLink } from "../share.ts";
import { allWords } from "../texts/words.ts";
import { examplesIn, readTaught } from "./learn.ts";
import type { Shelves } from "./shelf.ts";
import { packExamples } from "./text.ts";
import type { Words } from "./texts/en.ts";
import { thumbnail } from "./lesson.ts";
import type { LabelledDrawing } from "../../train/handwriting.ts";

/** Some programs cut longer addresses. */
const MOST_LINK = 8000;

/** The examples of each sign, in the order of the first ones. */
export function bySign(examples: readonly LabelledDrawing[]): Map<string, LabelledDrawing[]> {
  const signs = new Map<string, LabelledDrawing[]>();
  for (const example of examples) signs.set(example.label, [...(signs.get(example.label) ?? []), example]);
  return signs;
}

export function buildSigns(texts: Words, shelves: Shelves, { another, learn, close }: Record<"another" | "learn" | "close", () => void>) {
  const status = h("p", { className: "say", role: "status", tabIndex: -1 });
  const rows = h("div", { id: "teach-it-shelf", ariaLabel: texts.signs });
  const storageNote = h("p", { className: "aside" });
  const say = (text: string) => (status.textContent = text);

  const input = h("input", { type: "file", id: "teach-it-file", className: "unseen", ariaLabel: texts.upload, tabIndex: -1 });
  onChosen(input, async ([file]) => {
    try {
      shelves.change(await readTaught(file, texts.photos));
      say(texts.uploaded({ file: file.name }));
    } catch (error) {
      say(texts.refused({ file: file.name, why: inWords(error) }));
    }
  });

  const plain = (id: string, text: string, press: () => void) => button(text, press, { id: `teach-it-${id}`, className: "plain" });
  const again = button(texts.again, learn, { id: "teach-it-again", className: "pill main" });
  const save = plain("download", texts.download, () => {
    const { taught } = shelves.now;
    if (taught) download(new Blob([taught], { type: "application/octet-stream" }), SIGNS_FILE);
  });
  const copy = plain("link", texts.link, async () => say(await copyLink(shelves, texts)));
  const undo = plain("undo", texts.undo, () => shelves.undo());
  const forget = plain("forget", texts.forget, () => shelves.change({ examples: [] }));

  return {
    root: h("div", {}, status, rows,
      h("div", { className: "lesson-acts" }, again, button(texts.another, another, { id: "teach-it-another", className: "pill" }),
        button(texts.close, close, { id: "teach-it-close", className: "pill" })),
      h("div", { className: "lesson-acts" }, save, plain("upload", texts.upload, () => input.click()), copy, undo, forget, input), storageNote),
    say,
    draw(): void {
      const { examples, taught } = shelves.now;
      drawRows(rows, examples, texts, (example) => shelves.change({ ...shelves.now, examples: examples.filter((one) => one !== example) }));
      const changed = examples.length > 0 && (!taught || packExamples(examplesIn(taught)) !== packExamples(examples));
      again.hidden = !changed;
      save.ariaDisabled = String(!taught);
      copy.ariaDisabled = String(examples.length === 0);
      undo.hidden = shelves.past.length === 0;
      forget.ariaDisabled = String(examples.length === 0 && !taught);
      storageNote.textContent = changed && taught ? texts.changed
        : shelves.isStored === undefined || (examples.length === 0 && !taught) ? "" : shelves.isStored ? texts.kept : texts.notKept;
    },
    focus: () => status.focus({ preventScroll: true }),
  };
}

function drawRows(root: HTMLElement, examples: readonly LabelledDrawing[], texts: Words, remove: (example: LabelledDrawing) => void): void {
  const rows = [...bySign(examples)].map(([label, all]) => {
    const drawings = all.map((example, index) => thumbnail(example.strokes, texts.remove({ label, index: index + 1 }), () => remove(example)));
    const row = h("div", { role: "listitem", data: { label, count: String(all.length) } },
      h("strong", {}, label), h("span", {}, ...drawings.map((drawing) => drawing.root)));
    return { row, drawings };
  });
  root.role = rows.length > 0 ? "list" : "group"; // a list may hold nothing else
  root.replaceChildren(...(rows.length > 0 ? rows.map(({ row }) => row) : [h("p", {}, texts.none)]));
  for (const { draw } of rows.flatMap(({ drawings }) => drawings)) draw();
}

async function copyLink({ now: { examples } }: Shelves, texts: Words): Promise<string> {
  const first = examples[0] && pack(examples[0].strokes);
  if (!first) return texts.none;
  const fragment = new URLSearchParams({ d: first, signs: packExamples(examples) });
  const link = `${location.href.replace(/[?#].*/, "")}#${fragment}`;
  if (link.length > MOST_LINK) return texts.tooLarge;
  try {
    await navigator.clipboard.writeText(link);
    return allWords().send.copied;
  } catch {
    showLink(link);
    return allWords().send.refused;
  }
}
