/** What a box of the road holds: its words, shapes and formula, and its numbers. */
import { h, write } from "../../../dom.ts";
import { nearestCell, onArrows, spotAt } from "../../../figure/cells.ts";
import { saveable, set, svg } from "../../../figure/parts.ts";
import { decimal, number } from "../../../texts/words.ts";
import { formula, over, root, row, sub, sup } from "../../formula.ts";
import { signedScale } from "../../grid.ts";
import { repeatable } from "../../prose.ts";
import type { Story } from "../../scene.ts";
import { paperOf } from "../../tokens.ts";
import { lengthOf } from "../../vectors.ts";
import { scaleOfShares } from "../score/head.ts";
import { buildMaps } from "../score/heads.ts";
import { ACTIVATIONS } from "./compute.ts";
import { cells, firing, type Part, type Way } from "./figure.ts";
import type { Words } from "./texts/en.ts";

interface Panel {
  parts: Node[]; // left and right
  draw(way: Way): void;
}

const [DOTS, ENDS] = [420, 3.2];

/** The norm: its numbers before and after, as dots on a line. */
function buildNorm(at: 0 | 1, words: Words): Panel {
  const text = h("p"), shapes = h("p", { className: "shapes" });
  const dots = svg("svg", { class: "dots", viewBox: `0 0 ${DOTS + 60} 112` });
  const lines = [28, 82].map((y, which) => {
    const points = svg("g"), mean = svg("path", { class: "mean" });
    dots.append(svg("path", { class: "line", d: `M60 ${y}H${DOTS + 60}` }), svg("text", { x: 0, y: y + 4 }, which ? words.afterNorm : words.beforeNorm), points, mean);
    return { y, points, mean };
  });
  const math = formula(sub("y", "i"), "=", sub("g", "i"), over(row(sub("x", "i"), "−", "μ"), root(row(sup("σ", "2"), "+", "ε"))), "+", sub("b", "i"));
  return {
    parts: [h("div", {}, text, math, shapes), saveable(dots, words.dots)],
    draw({ scene: { config: { width } }, answers, inside }) {
      if (!inside) return write(text, words.loading);
      const { x, y, mean, spread, gain, bias } = inside.norms[at]!, least = (list: Iterable<number>) => number(Math.min(...list)), most = (list: Iterable<number>) => number(Math.max(...list));
      write(text, words.normText({ width, mean: number(mean), spread: number(spread), lowGain: least(gain), highGain: most(gain), lowBias: least(bias), highBias: most(bias) }));
      write(shapes, words.normShapes({ tokens: answers[0]!.scores.length, width }));
      const end = Math.max(ENDS, signedScale(x, y).signed), place = (value: number) => (60 + (DOTS / 2) * (1 + value / end)).toFixed(1);
      [x, y].forEach((numbers, which) => {
        const list = Array.from(numbers);
        const { points, mean: line, y: middle } = lines[which]!;
        points.replaceChildren(...list.map((value, i) => svg("circle", { class: value < 0 ? "minus" : "plus", cx: place(value), cy: middle + ((i * 37) % 17) - 8, r: 3.2 })));
        set(line, { d: `M${place(list.reduce((sum, value) => sum + value, 0) / width)} ${middle - 14}v28` });
      });
      Object.assign(dots.dataset, { mean, spread, values: Array.from(y).join(" ") });
    },
  };
}

function buildAttention(story: Story, words: Words): Panel {
  const text = h("p"), shapes = h("p", { className: "shapes" }), maps = buildMaps(story, words);
  const math = formula("softmax", "(", over(row("Q", sup("K", "T")), root("d")), ")", "V");
  return {
    parts: [h("div", {}, text, math, shapes), maps.root],
    draw({ scene, token, answers }) {
      const { config } = scene, { heads, width, head_width: d } = config, tokens = answers[0]!.scores.length;
      write(text, (config.attention === "per_head" ? words.attentionPerHead : words.attentionText)({ heads }));
      write(shapes, words.attentionShapes({ tokens, d, heads, inner: heads * d, width }));
      maps.draw({ scene, query: token, answers, paper: paperOf(scene), scale: scaleOfShares(answers) });
    },
  };
}

const [CURVE, RANGE] = [240, 4];

function buildMlp(words: Words): Panel {
  const text = h("p"), shapes = h("p", { className: "shapes" }), unitText = h("p", { className: "unit", aria: { live: "polite" } }), caption = h("p", { className: "grid-legend" });
  const grid = svg("svg", { class: "units", role: "slider", tabindex: 0 }), curve = svg("svg", { class: "curve", viewBox: `-6 -6 ${CURVE + 12} 132` });
  const line = svg("path", { class: "function" }), points = svg("g"), chosenPoint = svg("circle", { class: "chosen", r: 5 });
  const place = (x: number, y: number) => ({ cx: (CURVE / 2) * (1 + Math.max(-RANGE, Math.min(RANGE, x)) / RANGE), cy: 110 - Math.min(RANGE, y) * 27 });
  curve.append(svg("path", { class: "line", d: `M0 110H${CURVE}M${CURVE / 2} 0V124` }), line, points, chosenPoint);
  const frame = svg("rect", { class: "frame" });
  let chosen: number | undefined, currentUnit = 0, made: ReturnType<typeof cells> | undefined, units = 0, columns = 1;
  const SIZE = 12;
  const pick = (unit: number) => {
    chosen = Math.max(0, Math.min(units - 1, unit));
    draw();
  };
  grid.addEventListener("click", (event) => {
    const rows = Math.ceil(units / columns), [row, column] = nearestCell(spotAt(event, grid, rows, columns), rows, columns);
    pick(row * columns + column);
  });
  onArrows(grid, (down, across) => pick(currentUnit + down * columns + across));
  const draw = repeatable(({ scene: { config, dark }, answers, inside }: Way) => {
    const { width, mlp_width } = config, activation = ACTIVATIONS[config.activation];
    if (!inside) return write(text, words.loading);
    const { hidden, active } = inside, tokens = answers[0]!.scores.length, name = { function: activation.name };
    if (units !== mlp_width) {
      [units, columns] = [mlp_width, Math.ceil(Math.sqrt(mlp_width * 3.5))];
      made = cells([0, 0], units, columns, SIZE);
      grid.replaceChildren(made.root, frame);
      set(grid, { viewBox: `0 0 ${columns * SIZE} ${Math.ceil(units / columns) * SIZE}`, "aria-label": words.units(name), "aria-valuemin": 1, "aria-valuemax": units });
      chosen = undefined;
    }
    const unit = currentUnit = chosen ?? active.indexOf(Math.max(...active)); // the one that fires most, until the visitor chooses
    made!.draw(active, signedScale(active).signed, dark);
    set(frame, { x: (unit % columns) * SIZE, y: Math.floor(unit / columns) * SIZE, width: SIZE - 1, height: SIZE - 1 });
    write(text, words.mlpText({ units, width, fire: firing(inside), ...name }));
    write(shapes, words.mlpShapes({ tokens, width, units, ...name }));
    write(caption, words.units(name));
    write(unitText, words.unit({ n: unit + 1, sum: number(hidden[unit]!), value: number(active[unit]!) }));
    set(grid, { "aria-valuenow": unit + 1, "aria-valuetext": unitText.textContent! });
    set(curve, { "aria-label": words.curve(name) });
    const steps = Array.from({ length: 81 }, (_, i) => (i / 40 - 1) * RANGE);
    set(line, { d: `M${steps.map((x) => Object.values(place(x, activation.of(x))).join(" ")).join("L")}` });
    points.replaceChildren(...Array.from(hidden, (x, i) => svg("circle", { class: x > 0 ? "plus" : "minus", ...place(x, active[i]!), r: 2.5 })));
    set(chosenPoint, place(hidden[unit]!, active[unit]!));
    Object.assign(grid.dataset, { hidden: hidden.join(" "), active: active.join(" "), mlp: inside.mlp.join(" ") });
  });
  const math = formula("MLP", "(", "x", ")", "=", sub("W", "2"), "f", "(", sub("W", "1"), "x", "+", sub("b", "1"), ")", "+", sub("b", "2"));
  return {
    parts: [h("div", {}, text, math, shapes), h("div", {}, saveable(grid, words.mlp), caption, unitText, saveable(curve, words.curve({ function: "GELU" })))],
    draw,
  };
}

/** The sum: a token, what is added to it, and what that makes. */
function buildPlus(at: 0 | 1, words: Words): Panel {
  const text = h("p"), caption = h("p", { className: "grid-legend" }), name = words.additions[at ? "mlp" : "attention"];
  const figure = svg("svg", { class: "adds", viewBox: "0 0 400 130" });
  const math = h("div");
  let made: ReturnType<typeof cells>[] = [], key = 0;
  return {
    parts: [h("div", {}, text, math), h("div", {}, saveable(figure, name), caption)],
    draw({ scene: { config: { width, norm, residual }, dark }, tokens, added }) {
      const [before, more, after] = [tokens[at]!, added[at]!, tokens[at + 1]!], { signed } = signedScale(before, more, after);
      if (key !== width) {
        key = width;
        const columns = Math.ceil(Math.sqrt(width));
        made = [0, 145, 290].map((x) => cells([x, 10], width, columns, 110 / columns));
        figure.replaceChildren(...made.map((each) => each.root), ...["+", "="].map((sign, i) => svg("text", { class: "sum", x: 127 + 145 * i, y: 74 }, sign)));
        const f = at ? "MLP" : "Attention", inner = norm === "pre" ? row("norm", "(", "x", ")") : "x";
        const sum = row(...(residual ? ["x", "+"] : []), f, "(", inner, ")");
        math.replaceChildren(formula("x", "←", ...(norm === "pre" ? [sum] : ["norm", "(", sum, ")"])));
      }
      [before, more, after].forEach((list, i) => made[i]!.draw(list, signed, dark));
      const length = (list: Float32Array) => decimal(lengthOf(list), 1), long = { added: length(more), before: length(before), after: length(after) };
      write(text, words.plusText(long));
      write(caption, words.plusFigure({ top: number(signed, 1) }));
    },
  };
}

/** The part of the panel below the road, which shows one box at a time. */
export function buildOpen(story: Story, words: Words) {
  const { additions } = words;
  const boxes: Record<Part, [title: string, build: () => Panel]> = {
    norm1: [words.normTitle, () => buildNorm(0, words)], norm2: [words.normTitle, () => buildNorm(1, words)],
    attention: [words.attentionTitle, () => buildAttention(story, words)], mlp: [words.mlpTitle, () => buildMlp(words)],
    plus1: [additions.attention, () => buildPlus(0, words)], plus2: [additions.mlp, () => buildPlus(1, words)],
  };
  const title = h("h3"), body = h("div", { className: "opened" });
  const root = h("div", { id: "block-open", role: "tabpanel" }, title, body);
  const panels = new Map<Part, Panel>();
  let open: Panel | undefined;
  const draw = repeatable((way: Way) => open?.draw(way));
  return {
    root, draw,
    show(part: Part): void {
      const [name, build] = boxes[part];
      open = panels.get(part) ?? build();
      panels.set(part, open);
      write(title, name);
      root.setAttribute("aria-labelledby", `block-${part}`);
      root.dataset.part = part;
      body.replaceChildren(...open.parts);
      draw();
    },
  };
}
