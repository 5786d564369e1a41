/** What a model adds to its tokens, as a picture and number by number. */
import { number } from "../../../texts/words.ts";
import { HeatGrid, signedScale } from "../../grid.ts";
import { h } from "../../../dom.ts";
import type { Story } from "../../scene.ts";
import { saveableTable } from "../../table.ts";
import { patchOfToken, tokenName } from "../../tokens.ts";
import { positionsOf, rowOf } from "../../vectors.ts";
import { layerAndHead, type Part, patchOf, type Placed, tokenOf } from "./kinds.ts";
import { biasOf, byOffset } from "./numbers.ts";
import { pair } from "./pair.ts";
import { write } from "../../../write.ts";

/** Chooses a token's patch for the whole page, whose own model may have a smaller grid. The prefix has none. */
export function chooseToken(story: Story, placed: Placed, token: number): void {
  const patch = patchOfToken(token, placed), { gridRows, gridCols } = placed.scene.shape;
  if (patch && patch[0] < gridRows && patch[1] < gridCols) story.choose({ patch });
}

export function buildAdded(story: Story): Part {
  const texts = story.texts.positions;
  const sum = buildSum(story), biases = buildBiases(story);
  const title = h("h3");
  const [lead, task, notice] = [h("p", { className: "lead" }), h("p", { className: "task" }), h("p", { className: "notice-this" })];
  const root = h("section", { className: "part" }, title, lead, task, sum.root, biases.root, notice);
  const draw = (placed: Placed) => {
    const { kind } = placed;
    sum.root.hidden = kind === "none" || kind === "relative";
    biases.root.hidden = kind !== "relative";
    task.hidden = notice.hidden = kind === "none";
    write(title, kind === "none" ? texts.addedTitleNone
      : kind === "relative" ? texts.addedTitleRelative : texts.addedTitle);
    write(lead, kind === "none" ? texts.addedNone : kind === "relative" ? texts.addedRelative : texts.addedLead);
    write(task, kind === "relative" ? texts.biasTask : texts.addedTask);
    write(notice, texts.addedNotice[kind]);
    if (!sum.root.hidden) sum.draw(placed);
    if (!biases.root.hidden) biases.draw(placed);
  };
  return { root, draw };
}

/** The picture of all positions (T,D), and one token's numbers plus its position's. */
function buildSum(story: Story): Part {
  const texts = story.texts.positions;
  let shown: Placed | undefined, painted: unknown[] = [];
  const grid = new HeatGrid({
    label: texts.matrix,
    texts: story.texts.grid,
    rowName: (token) => tokenName(token, shown!, story.texts),
    columnName: (column) => texts.number(column + 1),
    number,
    choose: (token) => chooseToken(story, shown!, token),
  });
  grid.canvas.id = "positions-matrix";
  const list = buildNumbers(story);
  const root = h("div", { className: "side-by-side" },
    h("figure", { className: "matrix" }, h("figcaption", {}, texts.matrixCaption), grid.root), list.root);
  const draw = (placed: Placed) => {
    shown = placed;
    list.draw(placed);
    const { kind, model, scene, traced } = placed;
    const now = [kind, tokenOf(placed), scene.dark];
    if (now.every((value, i) => value === painted[i])) return;
    painted = now;
    const values = positionsOf(traced.trace), columns = model.config.width;
    grid.draw({ values, rows: values.length / columns, columns, scale: signedScale(values), dark: scene.dark,
      marked: { row: tokenOf(placed) } });
  };
  return { root, draw };
}

/** token + share · position, one number a row. */
function buildNumbers(story: Story): Part {
  const texts = story.texts.positions;
  let shown: Placed | undefined;
  const body = h("tbody");
  const title = h("caption");
  const head = [texts.numberHead, texts.token, texts.plusPosition, "", texts.equals];
  const { label, input } = story.choices.slider("fade", texts.fade, [0, 1, 0.01], 1, () => shown && draw(shown));
  input.id = "positions-fade";
  const rows: { root: HTMLElement; set(token: number, position: number, top: number): void }[] = [];
  const addRow = (index: number) => {
    const [token, position, sum] = [h("td"), h("td"), h("td")], bars = pair(true);
    const row = h("tr", {}, h("th", { scope: "row" }, String(index + 1)), token, position, h("td", {}, bars.root), sum);
    body.append(row);
    rows.push({
      root: row,
      set(a, b, top) {
        write(token, number(a));
        write(position, `${b < 0 ? "−" : "+"} ${number(Math.abs(b))}`);
        write(sum, number(a + b));
        bars.set(a, a + b, top);
        Object.assign(row.dataset, { token: String(a), position: String(b) });
      },
    });
  };
  const table = h("table", { className: "scores sum", id: "positions-sum" }, title,
    h("thead", {}, h("tr", {}, ...head.map((text) => (text ? h("th", { scope: "col" }, text) : h("td"))))), body);
  const root = h("div", { className: "numbers" }, label, h("div", { className: "grid-scroll" }, saveableTable(table, texts.fade)));

  const draw = (placed: Placed) => {
    shown = placed;
    const { model: { config: { width } }, traced: { trace } } = placed;
    while (rows.length < width) addRow(rows.length);
    const at = tokenOf(placed), share = input.valueAsNumber;
    const token = rowOf(trace.tokens("embedded"), at, width), position = rowOf(positionsOf(trace), at, width);
    const { signed } = signedScale(token, position, token.map((value, i) => value + position[i]!));
    const [row, col] = patchOf(placed);
    write(title, texts.sumOf(story.texts.story.patch(row + 1, col + 1)));
    input.setAttribute("aria-valuetext", texts.faded(Math.round(share * 100)));
    rows.forEach(({ set }, i) => set(token[i]!, share * position[i]!, signed));
  };
  return { root, draw };
}

/** Every head's bias for each offset, a layer a row. */
function buildBiases(story: Story): Part {
  const texts = story.texts.positions;
  const root = h("div", { className: "biases", id: "positions-bias" });
  let shown: Placed | undefined, painted: unknown[] = [];
  let grids: { grid: HeatGrid; layer: number; head: number }[] = [];
  const offset = (count: number, index: number) => index - count + 1;
  const choose = (layer: number, head: number) => {
    const { depth, heads } = shown!.scene.config; // the page's model may be smaller
    if (layer < depth && head < heads) story.choose({ layer, head });
  };
  const addGrids = ({ model: { config }, shape }: Placed) => {
    grids = Array.from({ length: config.depth * config.heads }, (_, i) => {
      const layer = Math.floor(i / config.heads), head = i % config.heads;
      const grid = new HeatGrid({
        label: texts.biasLabel(layer + 1, head + 1),
        texts: story.texts.grid,
        rowName: (row) => texts.down(offset(shape.gridRows, row)),
        columnName: (column) => texts.right(offset(shape.gridCols, column)),
        number,
        choose: () => choose(layer, head),
      });
      root.append(h("figure", {}, h("figcaption", {}, texts.biasCaption(layer + 1, head + 1)), grid.root));
      return { grid, layer, head };
    });
    root.style.setProperty("--heads", String(config.heads));
  };
  const draw = (placed: Placed) => {
    shown = placed;
    if (grids.length === 0) addGrids(placed);
    const { scene, shape, model: { config }, traced: { trace } } = placed;
    const [layer, head] = layerAndHead(placed);
    const now: unknown[] = [layer, head, scene.dark];
    if (now.every((value, i) => value === painted[i])) return;
    painted = now;
    const { gridRows, gridCols } = shape;
    const pictures = grids.map((each) =>
      byOffset(biasOf(trace, each.layer, each.head), config.prefix.length, gridRows, gridCols));
    const scale = signedScale(...pictures);
    grids.forEach(({ grid, ...each }, i) => {
      grid.root.classList.toggle("chosen", each.layer === layer && each.head === head);
      grid.draw({ values: pictures[i]!, rows: 2 * gridRows - 1, columns: 2 * gridCols - 1, scale, dark: scene.dark,
        marked: { row: gridRows - 1, column: gridCols - 1 } });
      grid.canvas.dataset.values = [...pictures[i]!].join(" ");
    });
  };
  return { root, draw };
}
