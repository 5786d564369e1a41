/** The road of one token through a block, as SVG: tokens on the road, side paths with boxes that open. */
import { saveable, set, svg } from "../../../figure/parts.ts";
import { decimal, percentage } from "../../../texts/words.ts";
import { signedColour, signedScale } from "../../grid.ts";
import type { Scene } from "../../scene.ts";
import { lengthOf } from "../../vectors.ts";
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
  shares: Float64Array[]; // of each head (T)
  inside: Inside | undefined;
}

interface Layout {
  size: Point;
  road: string;
  tokens: readonly Point[]; // middles
  words: readonly (readonly [x: number, y: number, anchor: string])[]; // of the tokens
  boxes: readonly Point[]; // the norms', attention's and the MLP's corners, in the road's order
  plus: readonly Point[];
  lengths: readonly (readonly [x: number, y: number, anchor: string])[];
  sides: readonly string[];
}

const WIDE: Layout = {
  size: [846, 282], road: "M0 52H846", tokens: [[46, 52], [419, 52], [796, 52]],
  words: [[6, 112, "start"], [459, 112, "end"], [836, 112, "end"]],
  boxes: [[104, 152], [192, 152], [476, 152], [564, 152]], plus: [[354, 52], [728, 52]],
  lengths: [[342, 142, "end"], [716, 142, "end"]],
  sides: [88, 461].map((from, at) => `M${from} 52C${from + 14} 52 ${from - 4} 204 ${from + 20} 204H${from + 240}C${from + 262} 204 ${354 + 374 * at} 160 ${354 + 374 * at} 67`),
};
const TALL: Layout = {
  size: [330, 706], road: "M46 0V706", tokens: [[46, 50], [46, 352], [46, 656]],
  words: [50, 352, 656].map((y) => [98, y - 4, "start"] as const),
  boxes: [[104, 112], [190, 112], [104, 416], [190, 416]], plus: [[46, 272], [46, 576]],
  lengths: [[76, 262, "start"], [76, 566, "start"]],
  sides: [96, 400].map((y) => `M46 ${y}C46 ${y + 62} 60 ${y + 68} 104 ${y + 68}H258M258 ${y + 144}V${y + 152}C258 ${y + 176} 240 ${y + 176} 220 ${y + 176}H62`),
};
const [NORM, BRANCH, TALLNESS] = [72, 136, 104];
const BOXES = [["norm1", NORM], ["attention", BRANCH], ["norm2", NORM], ["mlp", BRANCH]] as const;

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

/** A token's numbers as a square of squares. */
const squareOf = ([x, y]: Point, count: number, side: number) => {
  const columns = Math.ceil(Math.sqrt(count)), size = side / columns;
  return cells([x - side / 2, y - (Math.ceil(count / columns) * size) / 2], count, columns, size);
};

type Sizes = Pick<Scene["config"], "width" | "heads" | "mlp_width" | "norm"> & Pick<Scene["shape"], "gridRows" | "gridCols">;

export function buildRoad(words: Words, choose: (part: Part) => void) {
  const root = svg("svg", { class: "road-map", role: "tablist", "aria-label": words.figure });
  const narrow = matchMedia("(max-width: 700px)");
  let made: ReturnType<typeof layOut> | undefined, key = "", open: Part = "norm1", last: Way | undefined;

  const show = (part: Part) => {
    open = part;
    for (const [name, tab] of made?.tabs ?? []) {
      set(tab, { "aria-selected": String(name === open), tabindex: name === open ? 0 : -1 });
    }
  };
  const draw = (way: Way) => {
    last = way;
    const { scene: { config, shape: { gridRows, gridCols } } } = way, { width, heads, mlp_width, norm } = config;
    const next = [narrow.matches, width, heads, mlp_width, norm, gridRows, gridCols].join();
    if (next !== key) {
      key = next;
      made = layOut(narrow.matches ? TALL : WIDE, { width, heads, mlp_width, norm, gridRows, gridCols }, words);
      root.replaceChildren(...made.parts);
      set(root, { viewBox: `0 0 ${made.size.join(" ")}` });
      for (const [part, tab] of made.tabs) tab.addEventListener("click", () => choose(part));
      if (made.tabs.has(open)) show(open);
      else choose("attention"); // a norm on the road is no box
    }
    made!.draw(way);
  };
  narrow.addEventListener("change", () => last && root.isConnected && draw(last));
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

function layOut(layout: Layout, { width, heads, mlp_width: units, norm, gridRows, gridCols }: Sizes, words: Words) {
  const tabs = new Map<Part, SVGGElement>();
  const tab = (part: Part, ...children: Node[]) =>
    tabs.set(part, svg("g", { class: "part", role: "tab", id: `block-${part}`, "aria-controls": "block-open" }, ...children));
  const text = (name: string, [x, y]: Point, anchor: string, said = "") => svg("text", { class: name, x, y, "text-anchor": anchor }, said);
  const stages = [words.stages.before, words.stages.middle, words.stages.after];
  const tokens = layout.tokens.map((at) => squareOf(at, width, 64));
  const longs = layout.words.map(([x, y, anchor]) => text("", [x, y + 18], anchor));
  const onRoad = tokens.flatMap(({ root }, at) => {
    const [x, y] = layout.tokens[at]!, [left, top, anchor] = layout.words[at]!;
    return [svg("rect", { class: "token", x: x - 40, y: y - 40, width: 80, height: 80, rx: 10 }), root, text("name", [left, top], anchor, stages[at]), longs[at]!];
  });
  const lengths = layout.lengths.map(([x, y, anchor]) => text("", [x, y], anchor));
  layout.plus.forEach(([x, y], at) => tab(at ? "plus2" : "plus1", svg("title", {}, words.additions[at ? "mlp" : "attention"]),
    svg("circle", { class: "box", cx: x, cy: y, r: 15 }), svg("path", { class: "sign", d: `M${x - 7} ${y}h14M${x} ${y - 7}v14` })));

  const [normOne, attention, normTwo, mlp] = layout.boxes as [Point, Point, Point, Point];
  const norms = [normOne, normTwo].map(([x, y]) => squareOf([x + NORM / 2, y + 46], width, 56));
  const slot = (BRANCH - 8) / Math.min(heads, 6), cell = Math.min(slot - 4, 34) / Math.max(gridRows, gridCols);
  const mapAt = (head: number) => attention[0] + 4 + (head + 0.5) * slot - (cell * gridCols) / 2;
  const maps = Array.from({ length: Math.min(heads, 6) }, (_, head) => ({
    squares: Array.from({ length: gridRows * gridCols }, (_, i) => svg("rect", {
      class: "heat", x: mapAt(head) + (i % gridCols) * cell, y: attention[1] + 18 + Math.floor(i / gridCols) * cell, width: cell - 0.3, height: cell - 0.3,
    })),
    own: svg("rect", { class: "own", x: mapAt(head), y: attention[1] + 18, width: cell, height: cell }),
    share: text("number", [attention[0] + 4 + (head + 0.5) * slot, attention[1] + 66], "middle"),
  }));
  const looks = text("", [attention[0] + BRANCH / 2, attention[1] + 88], "middle", words.looks({ heads }));
  const columns = Math.ceil(Math.sqrt(units * 3.5)), unitSize = (BRANCH - 12) / columns;
  const hidden = cells([mlp[0] + 6, mlp[1] + 14], units, columns, unitSize);
  const fires = text("", [mlp[0] + BRANCH / 2, mlp[1] + 74], "middle");
  const inBoxes: Node[][] = [
    [norms[0]!.root], [...maps.flatMap(({ squares, own, share }) => [...squares, own, ...(slot > 28 ? [share] : [])]), looks], [norms[1]!.root],
    [hidden.root, fires, text("", [mlp[0] + BRANCH / 2, mlp[1] + 92], "middle", words.sizes({ units, width }))],
  ];
  const names = [words.norm, words.attention, words.norm, words.mlp];
  BOXES.forEach(([part, wide], at) => {
    const [x, y] = layout.boxes[at]!;
    tab(part, text("name", [x + wide / 2, y + TALLNESS + 20], "middle", names[at]), svg("rect", { class: "box", x, y, width: wide, height: TALLNESS, rx: 12 }), ...inBoxes[at]!);
  });
  const shown = PARTS.filter((part) => norm === "pre" || !part.startsWith("norm"));
  const inOrder = new Map(shown.map((part) => [part, tabs.get(part)!]));

  const draw = ({ scene: { config, dark }, token, tokens: numbers, added, shares, inside }: Way) => {
    const { signed } = signedScale(...numbers), length = (list: Float32Array) => decimal(lengthOf(list), 1);
    numbers.forEach((list, at) => {
      tokens[at]!.draw(list, signed, dark);
      longs[at]!.textContent = words.long({ length: length(list) });
    });
    added.forEach((list, at) => (lengths[at]!.textContent = words.vector({ length: length(list) })));
    const prefix = config.prefix.length;
    maps.forEach(({ squares, own, share }, head) => {
      const all = shares[head]!, most = Math.max(...all);
      squares.forEach((square, patch) => set(square, { opacity: (all[prefix + patch]! / most).toFixed(3) }));
      share.textContent = percentage(most, 0);
      const at = squares[token - prefix];
      set(own, at ? { x: at.getAttribute("x")!, y: at.getAttribute("y")!, visibility: "inherit" } : { visibility: "hidden" });
    });
    if (!inside) return;
    norms.forEach((norm, at) => norm.draw(inside.norms[at]!.y, signedScale(inside.norms[at]!.y).signed, dark));
    hidden.draw(inside.active, signedScale(inside.active).signed, dark);
    fires.textContent = words.fires({ fire: firing(inside), units });
  };
  return { size: layout.size, tabs: inOrder, draw,
    parts: [...layout.sides.map((d) => svg("path", { class: "side", d })), svg("path", { class: "road", d: layout.road }), ...onRoad, ...lengths, ...inOrder.values()] };
}

/** How many hidden units have a sum above 0. */
export const firing = ({ hidden }: Inside): number => hidden.reduce((count, value) => count + Number(value > 0), 0);
