/** The shelf: a row for each sign, a thumbnail for each example. A click removes it. */
import { drawThumbnail } from "../../examples.ts";
import type { Texts } from "../../texts/en.ts";
import { button, h } from "../dom.ts";
import type { LabelledDrawing } from "../../../train/handwriting.ts";

/** Signs need some examples, so that the model learns what they have in common. */
export const LEAST = 3;

/** The examples of each sign, in the order of the first ones. */
export function bySign(examples: readonly LabelledDrawing[]): Map<string, LabelledDrawing[]> {
  const signs = new Map<string, LabelledDrawing[]>();
  for (const example of examples) signs.set(example.label, [...(signs.get(example.label) ?? []), example]);
  return signs;
}

export function buildExampleRows(texts: Texts["teachIt"], remove: (example: LabelledDrawing) => void) {
  const root = h("div", { id: "teach-it-shelf", ariaLabel: texts.shelf });
  return {
    root,
    draw(examples: readonly LabelledDrawing[], known: readonly string[]): void {
      const rows = [...bySign(examples)].map(([label, all]) => {
        const thumbnails = all.map((example, index) => {
          const canvas = h("canvas", { width: 96, height: 96, ariaHidden: "true" });
          const press = button("", () => remove(example), { className: "thumbnail", ariaLabel: texts.remove(label, index + 1), title: texts.remove(label, index + 1) });
          press.append(canvas);
          return [press, canvas, example] as const;
        });
        const enough = known.includes(label) ? texts.correction(all.length) : texts.count(all.length);
        const row = h("div", { role: "listitem", data: { label, count: String(all.length) } },
          h("strong", {}, label), h("span", {}, ...thumbnails.map(([press]) => press)), h("small", {}, enough));
        return [row, thumbnails] as const;
      });
      root.role = rows.length > 0 ? "list" : "group"; // a list may hold nothing else
      root.replaceChildren(...(rows.length ? rows.map(([row]) => row) : [h("p", { className: "grid-legend" }, texts.none)]));
      for (const [, canvas, { strokes }] of rows.flatMap(([, thumbnails]) => thumbnails)) drawThumbnail(canvas, strokes);
    },
  };
}
