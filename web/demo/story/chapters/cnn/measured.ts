/** Who reaches whom, measured: squares are inverted, and every unit is compared. */
import { shapeOf } from "../../../pixels.ts";
import { percentage } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import { HeatGrid } from "../../grid.ts";
import type { Scene, Story } from "../../scene.ts";
import { Influence } from "./influence.ts";
import { type Both, type Name, ORDER, type Pair, patchOf } from "./pair.ts";

type Direction = "to" | "from";

export function buildMeasured(pair: Pair, story: Story): [HTMLElement, (scene: Scene, both: Both) => void] {
  const { choices, texts: { cnn: texts, grid: words } } = story;
  const measured = { convolutions: new Influence(pair.convolutions), vit: new Influence(pair.vit) };
  const choose = (row: number, column: number) => story.choose({ patch: [row, column] });
  const gridOf = (name: Name) => new HeatGrid({
    label: texts.measured(texts[name]), texts: words, cell: 28, choose, number: share,
    rowName: (row) => story.texts.story.row(row + 1), columnName: (column) => story.texts.story.column(column + 1),
  });
  const grids = { convolutions: gridOf("convolutions"), vit: gridOf("vit") };
  const countOf = (name: Name) => h("figcaption", { id: `cnn-reached-${name}` });
  const counts = { convolutions: countOf("convolutions"), vit: countOf("vit") };
  let now: Scene | undefined;

  const paintOne = (name: Name) => {
    const { stages, measured: done, squares: N } = measured[name];
    const all = stages[name === "vit" ? Number(blocks.value) : stages.length - 1];
    if (!now || !all) return;
    const { gridRows: rows, gridCols: columns } = shapeOf(pair[name].config);
    const [row, column] = patchOf(now, pair[name]), chosen = row * columns + column;
    const at = (other: number) => (direction.value === "from" ? chosen * N + other : other * N + chosen);
    const values = Float32Array.from({ length: N }, (_, other) => all[at(other)]!);
    grids[name].draw({ values, rows, columns, scale: { top: 1, uniform: 0 }, dark: now.dark, marked: { row, column } });
    const reached = values.filter((value) => value > 0).length;
    counts[name].textContent = done < N ? texts.measuring(done, N) : texts[direction.value](reached, N);
    Object.assign(counts[name].dataset, { reached: String(reached), measured: String(done), values: values.join(" ") });
  };
  const paint = () => {
    for (const name of ORDER) paintOne(name);
  };

  const stages = Array.from({ length: pair.vit.config.depth + 1 }, (_, at) => [String(at), texts.stage(at)] as const);
  const direction = choices.chips<Direction>("direction", texts.direction, [["from", texts.chipFrom], ["to", texts.chipTo]], "from", paint);
  const blocks = choices.chips("blocks", texts.depth, stages, "1", paint);
  const root = h("div", { className: "figure" },
    h("h3", {}, texts.measuredTitle), h("p", {}, texts.measuredWords),
    direction.root, blocks.root,
    h("div", { className: "side-by-side" }, ...ORDER.map((name) =>
      h("figure", {}, h("h4", {}, texts[name]), grids[name].root, counts[name]))));

  return [root, (scene, { version, input }) => {
    now = scene;
    paint();
    void measured.convolutions.follow(version, input, paint).then(() => measured.vit.follow(version, input, paint));
  }];
}

/** A change in percent, which may be above 100. */
const share = (value: number): string =>
  value === 0 ? percentage(0, 0) : value < 0.0005 ? `< ${percentage(0.001, 1)}` : percentage(value, 1);
