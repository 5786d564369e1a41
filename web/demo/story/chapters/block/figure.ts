/** The road of one token through a block, as SVG: tokens on the road, side paths with boxes that open. */
import { saveable, set, svg } from "../../../figure/parts.ts";
import { decimal, percentage } from "../../../texts/words.ts";
import { signedColour, signedScale } from "../../grid.ts";
import { repeatable } from "../../prose.ts";
import type { Scene } from "../../scene.ts";
import { lengthOf } from "../../vectors.ts";
import type { Answer } from "../score/head.ts";
import type { Inside } from "./compute.ts";
import type { Words } from "./texts/en.ts";

type Point = readonly [x: number, y: number];

/** What can be opened, in the order of the road. */
export const PARTS = ["norm1", "attention", "plus1", "norm2", "mlp", "plus2"] as const;
export type Part = (typeof PARTS)[number];
export const isPart = (name: string | undefined): name is Part => PARTS.some((part) => part === name);

/** A token's way through a block. `inside` is undefined until the weights are here. */
export interface Way {
  scene: Scene;
  token: number;
  tokens: [before: Float32Array, middle: Float32Array, after: Float32Array];
  added: [attention: Float32Array, mlp: Float32Array];
  answers: Answer[]; // of each head
  inside: Inside | undefined;
}

type Beside = readonly [x: number, y: number, anchor: string];

interface Layout {
  size: Point;
  road: string;
  sides: readonly string[];
  tokens: readonly Point[]; // middles
  names: readonly Beside[]; // of the tokens, from their middles
  boxes: readonly [norm1: Point, attention: Point, norm2: Point, mlp: Point]; // corners
  plus: readonly Point[]; // middles
  length: Beside; // of what is added, from a plus
}

const WIDE: Layout = {
  size: [846, 282], road: "M0 52H846",
  sides: [88, 461].map((from, at) => `M${from} 52C${from + 14} 52 ${from - 4} 204 ${from + 20} 204H${from + 240}C${from + 262} 204 ${354 + 374 * at} 160 ${354 + 374 * at} 67`),
  tokens: [[46, 52], [419, 52], [796, 52]], names: [[-40, 60, "start"], [40, 60, "end"], [40, 60, "end"]],
  boxes: [[104, 152], [192, 152], [476, 152], [564, 152]], plus: [[354, 52], [728, 52]], length: [-12, 90, "end"],
};
const TALL: Layout = {
  size: [330, 706], road: "M46 0V706",
  sides: [96, 400].map((y) => `M46 ${y}C46 ${y + 62} 60 ${y + 68} 104 ${y + 68}H258M258 ${y + 144}V${y + 152}C258 ${y + 176} 240 ${y + 176} 220 ${y + 176}H62`),
  tokens: [[46, 50], [46, 352], [46, 656]], names: [[52, -4, "start"], [52, -4, "start"], [52, -4, "start"]],
  boxes: [[104, 112], [190, 112], [104, 416], [190, 416]], plus: [[46, 272], [46, 576]], length: [30, -10, "start"],
};
const NORM = 72, BRANCH = 136, TALLNESS = 104, HEADS = 6;

/** Squares for `count` numbers. Their colours have a root scale that ends at `top`. */
export function cells([x, y]: Point, count: number, columns: number, size: number) {
  const gap = size > 6 ? 1 : 0.5;
  const squares = Array.from({ length: count }, (_, i) => svg("rect", {
    x: x + (i % columns) * size, y: y + Math.floor(i / columns) * size, width: size - gap, height: size - gap, rx: size / 8,
  }));
  const draw = (values: ArrayLike<number>, top: number, dark: boolean) =>
    squares.forEach((square, i) => square.setAttribute("fill", signedColour(values[i]!, top, dark)));
  return { root: svg("g", {}, ...squares), draw };
}

/** A token's numbers as a square of squares around a point. */
const squareOf = ([x, y]: Point, count: number, side: number) => {
  const columns = Math.ceil(Math.sqrt(count)), size = side / columns;
  return cells([x - side / 2, y - (Math.ceil(count / columns) * size) / 2], count, columns, size);
};

type Sizes = Pick<Scene["config"], "width" | "heads" | "mlp_width" | "norm"> & Pick<Scene["shape"], "gridRows" | "gridCols">;

export function buildRoad(words: Words, choose: (part: Part) => void) {
  const root = svg("svg", { class: "road-map", role: "tablist", "aria-label": words.figure });
  const narrow = matchMedia("(max-width: 700px)");
  let made: ReturnType<typeof layOut> | undefined, key = "", open: Part = "norm1";

  const show = (part: Part) => {
    open = part;
    for (const [name, tab] of made?.tabs ?? []) {
      set(tab, { "aria-selected": String(name === open), tabindex: name === open ? 0 : -1 });
    }
  };
  const draw = repeatable((way: Way) => {
    const { scene: { config, shape: { gridRows, gridCols } } } = way, { width, heads, mlp_width, norm } = config;
    const next = [narrow.matches, width, heads, mlp_width, norm, gridRows, gridCols].join();
    if (next !== key) {
      key = next;
      const layout = narrow.matches ? TALL : WIDE;
      made = layOut(layout, { width, heads, mlp_width, norm, gridRows, gridCols }, words);
      root.replaceChildren(...made.parts);
      set(root, { viewBox: `0 0 ${layout.size.join(" ")}` });
      for (const [part, tab] of made.tabs) tab.addEventListener("click", () => choose(part));
      if (made.tabs.has(open)) show(open);
      else choose("attention"); // a norm on the road is no box
    }
    made!.draw(way);
  });
  narrow.addEventListener("change", () => root.isConnected && draw());
  root.addEventListener("keydown", (event) => {
    const all = [...made!.tabs.keys()], at = all.indexOf(open);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : step && (at + step + all.length) % all.length;
    if (to === undefined) return;
    event.preventDefault();
    choose(all[to]!);
    made!.tabs.get(all[to]!)!.focus();
  });
  return { root: saveable(root, words.figure), draw, show };
}

const groupAt = ([x, y]: Point, ...children: Node[]) => svg("g", { transform: `translate(${x} ${y})` }, ...children);
const text = ([x, y, anchor]: Beside, label = "", name = "") => svg("text", { class: name, x, y, "text-anchor": anchor }, label);
const lengthIn = (list: Float32Array) => ({ length: decimal(lengthOf(list), 1) });

/** Each piece draws around a point of its own, which the layout gives a place. */
function layOut(layout: Layout, { width, heads, mlp_width: units, norm, gridRows, gridCols }: Sizes, words: Words) {
  const draws: ((way: Way) => void)[] = [];
  const tab = (part: Part, at: Point, ...children: Node[]) => {
    const made = groupAt(at, ...children);
    set(made, { class: "part", role: "tab", id: `block-${part}`, "aria-controls": "block-open" });
    return made;
  };
  const box = (part: Part, at: Point, wide: number, name: string, ...inside: Node[]) => tab(part, at,
    text([wide / 2, TALLNESS + 20, "middle"], name, "name"), svg("rect", { class: "box", width: wide, height: TALLNESS, rx: 12 }), ...inside);

  const tokens = [words.stages.before, words.stages.middle, words.stages.after].map((name, at) => {
    const square = squareOf([0, 0], width, 64), [x, y, anchor] = layout.names[at]!, long = text([x, y + 18, anchor]);
    draws.push(({ tokens, scene: { dark } }) => {
      square.draw(tokens[at]!, signedScale(...tokens).signed, dark);
      long.textContent = words.long(lengthIn(tokens[at]!));
    });
    return groupAt(layout.tokens[at]!, svg("rect", { class: "token", x: -40, y: -40, width: 80, height: 80, rx: 10 }), square.root, text([x, y, anchor], name, "name"), long);
  });
  const lengths = layout.plus.map((place, at) => {
    const length = text(layout.length);
    draws.push(({ added }) => (length.textContent = words.vector(lengthIn(added[at]!))));
    return groupAt(place, length);
  });
  const buildPlus = (at: 0 | 1) => tab(at ? "plus2" : "plus1", layout.plus[at]!, svg("title", {}, words.additions[at ? "mlp" : "attention"]),
    svg("circle", { class: "box", r: 15 }), svg("path", { class: "sign", d: "M-7 0h14M0 -7v14" }));
  const buildNorm = (at: 0 | 1) => {
    const square = squareOf([NORM / 2, 46], width, 56);
    draws.push(({ inside, scene: { dark } }) => {
      const y = inside?.norms[at].y;
      if (y) square.draw(y, signedScale(y).signed, dark);
    });
    return box(at ? "norm2" : "norm1", layout.boxes[at ? 2 : 0], NORM, words.norm, square.root);
  };
  const buildAttention = () => {
    const count = Math.min(heads, HEADS), slot = (BRANCH - 8) / count, cell = Math.min(slot - 4, 34) / Math.max(gridRows, gridCols);
    const maps = Array.from({ length: count }, (_, head) => {
      const squares = Array.from({ length: gridRows * gridCols }, (_, i) => svg("rect", {
        class: "heat", x: (i % gridCols) * cell, y: Math.floor(i / gridCols) * cell, width: cell - 0.3, height: cell - 0.3,
      }));
      const middle = 4 + (head + 0.5) * slot, own = svg("rect", { class: "own", width: cell, height: cell }), share = text([middle, 66, "middle"], "", "number");
      draws.push(({ answers, token, scene: { config: { prefix } } }) => {
        const all = answers[head]!.weights, most = Math.max(...all), patch = token - prefix.length;
        squares.forEach((square, i) => set(square, { opacity: (all[prefix.length + i]! / most).toFixed(3) }));
        share.textContent = percentage(most, 0);
        set(own, { x: (patch % gridCols) * cell, y: Math.floor(patch / gridCols) * cell, visibility: patch < 0 ? "hidden" : "inherit" });
      });
      return [groupAt([middle - (cell * gridCols) / 2, 18], ...squares, own), ...(slot > 28 ? [share] : [])];
    });
    return box("attention", layout.boxes[1], BRANCH, words.attention, ...maps.flat(), text([BRANCH / 2, 88, "middle"], words.looks({ heads })));
  };
  const buildMlp = () => {
    const columns = Math.ceil(Math.sqrt(units * 3.5)), hidden = cells([6, 14], units, columns, (BRANCH - 12) / columns), fires = text([BRANCH / 2, 74, "middle"]);
    draws.push(({ inside, scene: { dark } }) => {
      if (!inside) return;
      hidden.draw(inside.active, signedScale(inside.active).signed, dark);
      fires.textContent = words.fires({ fire: firing(inside), units });
    });
    return box("mlp", layout.boxes[3], BRANCH, words.mlp, hidden.root, fires, text([BRANCH / 2, 92, "middle"], words.sizes({ units, width })));
  };
  const pieces: Record<Part, () => SVGGElement> = {
    norm1: () => buildNorm(0), attention: buildAttention, plus1: () => buildPlus(0), norm2: () => buildNorm(1), mlp: buildMlp, plus2: () => buildPlus(1),
  };
  const tabs = new Map(PARTS.filter((part) => norm === "pre" || !part.startsWith("norm")).map((part) => [part, pieces[part]()]));
  return {
    tabs,
    parts: [...layout.sides.map((d) => svg("path", { class: "side", d })), svg("path", { class: "road", d: layout.road }), ...tokens, ...lengths, ...tabs.values()],
    draw: (way: Way) => draws.forEach((draw) => draw(way)),
  };
}

/** How many hidden units have a sum above 0. */
export const firing = ({ hidden }: Inside): number => hidden.reduce((count, value) => count + Number(value > 0), 0);
