/** The bars of what the classifier reads at one stage, as SVG. */
import type { Class } from "vitrine";
import { shares } from "../logits.ts";
import { percent } from "../texts/words.ts";
import { set, svg } from "../figure/parts.ts";

const STEP = 20, HEIGHT = 44, LABEL = 14;

/** A stage's bars. A dashed outline shows the bars before parts were left out. */
export function buildLens(labels: readonly string[]) {
  const rects = (name: string) => labels.map((_, index) => svg("rect", { class: name, x: index * STEP + 3, width: STEP - 6 }));
  const bars = rects("bar"), outlines = rects("before"), width = labels.length * STEP, height = HEIGHT + LABEL;
  const root = svg("svg", { class: "lens", viewBox: `0 0 ${width} ${height}`, width, height },
    svg("line", { class: "ground", x1: 0, x2: width, y1: HEIGHT, y2: HEIGHT }), ...bars, ...outlines,
    ...labels.map((label, index) => svg("text", { x: (index + 0.5) * STEP, y: HEIGHT + 12 }, label.slice(0, 3))));
  return {
    root,
    /** @param before the bars with all parts, or undefined if they are the same. */
    draw(classes: readonly Class[], before: readonly Class[] | undefined, label: (bars: string) => string): void {
      const now = shares(classes), then = before && shares(before);
      const high = (share: number) => Math.max(1, share * (HEIGHT - 2));
      now.forEach((p, index) => {
        const was = then?.[index] ?? 0;
        set(bars[index]!, { y: HEIGHT - high(p), height: high(p), class: index === classes[0]!.index ? "bar best" : "bar", "data-p": p });
        set(outlines[index]!, { y: HEIGHT - high(was), height: was > 0.01 ? high(was) : 0 });
      });
      root.role = "img"; // no picture before it has bars
      root.ariaLabel = label(classes.slice(0, 3).map((one) => `${one.label} ${percent(one.p)}`).join(", "));
    },
  };
}
