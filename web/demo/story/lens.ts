/** The bars of what the classifier reads at one stage, as SVG. */
import type { Class } from "vitrine";
import { percent } from "../logits.ts";
import { set, svg } from "../figure/parts.ts";

const STEP = 20, HEIGHT = 44, LABEL = 14;

/** Each class's probability, in the model's order. */
export function shares(classes: readonly Class[]): Float64Array {
  const p = new Float64Array(classes.length);
  for (const one of classes) p[one.index] = one.p;
  return p;
}

/** A stage's bars. A dashed outline shows the bars before parts were left out. */
export class Lens {
  readonly root: SVGSVGElement;
  readonly #bars: SVGRectElement[];
  readonly #before: SVGRectElement[];

  constructor(labels: readonly string[]) {
    const bar = (name: string) => labels.map((_, index) => svg("rect", { class: name, x: index * STEP + 3, width: STEP - 6 }));
    this.#bars = bar("bar");
    this.#before = bar("before");
    const [width, height] = [labels.length * STEP, HEIGHT + LABEL];
    this.root = svg("svg", { class: "lens", viewBox: `0 0 ${width} ${height}`, width, height },
      svg("line", { class: "ground", x1: 0, x2: width, y1: HEIGHT, y2: HEIGHT }), ...this.#bars, ...this.#before,
      ...labels.map((label, index) => svg("text", { x: (index + 0.5) * STEP, y: HEIGHT + 12 }, label.slice(0, 3))));
  }

  /** @param before the bars with all parts, or undefined if they are the same. */
  draw(classes: readonly Class[], before: readonly Class[] | undefined, label: (bars: string) => string): void {
    const now = shares(classes), then = before && shares(before);
    const best = classes[0]!.index;
    now.forEach((p, index) => {
      const height = (share: number) => Math.max(1, share * (HEIGHT - 2));
      const bar = this.#bars[index]!, outline = this.#before[index]!;
      set(bar, { y: HEIGHT - height(p), height: height(p), class: index === best ? "bar best" : "bar", "data-p": p });
      const was = then?.[index] ?? 0;
      set(outline, { y: HEIGHT - height(was), height: was > 0.01 ? height(was) : 0 });
    });
    const spoken = classes.slice(0, 3).map((one) => `${one.label} ${percent(one.p)}`).join(", ");
    set(this.root, { role: "img", "aria-label": label(spoken) }); // no picture before it has bars
  }
}
