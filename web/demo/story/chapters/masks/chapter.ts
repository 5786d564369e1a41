/** 9. Encoder, decoder: the same scores under a full mask, a causal one, and as cross attention. */
import { decimal } from "../../../texts/words.ts";
import { cite } from "../../cite.ts";
import { h } from "../../../dom.ts";
import { HeatGrid } from "../../grid.ts";
import { type Attended, attend, type Mask, sumsOf } from "./attend.ts";
import type { Build, Scene, Story } from "../../scene.ts";
import { saveableTable } from "../../table.ts";
import { paperOf, patchOfToken, tokenName } from "../../tokens.ts";

const TOP = 0.25; // all masks have one scale, because they are compared

export const texts = {};

export const build: Build = (root, story) => {
  const { texts } = story;
  const own = texts.masks;
  let scene: Scene | undefined;
  let attended: Attended | undefined;
  let prefixRow: number | undefined; // a token of the prefix whose row is shown

  const matrix = new HeatGrid({
    label: own.matrix, texts: texts.grid,
    rowName: (row) => own.asks(tokenName(attended!.queries[row]!, scene!, texts)),
    columnName: (column) => own.asked(tokenName(attended!.keys[column]!, scene!, texts)),
    choose: (row) => chooseToken(attended!.queries[row]!),
  });
  const map = new HeatGrid({
    label: own.map, texts: texts.grid, cell: 28, rowName: (row) => texts.story.row(row + 1), columnName: (column) => texts.story.column(column + 1),
  });
  const choice = story.choices.chips<Mask>("mask", own.chips, [["full", own.full], ["causal", own.causal], ["cross", own.cross]], "full", () => {
    show();
    story.say(`${notice.textContent} ${sums.textContent}`);
  });
  const line = (className: string) => h("p", { className });
  const notice = line("notice-this"), sums = line("sums"), sees = line("sees"), axes = line("axes");
  root.append(
    ...own.leads.map((text) => h("p", { className: "lead" }, text)), h("p", { className: "task" }, own.task), choice.root, notice,
    h("div", { className: "figure side-by-side" },
      h("figure", {}, map.root, h("figcaption", {}, own.map)), h("div", {}, sees, sums, axes)),
    h("figure", {}, matrix.root, h("figcaption", {}, own.matrix)),
    h("p", { className: "cite" }, own.honest), usesTable(own),
    cite(own.cite), cite(own.citeCait));

  const chooseToken = (token: number) => {
    const patch = patchOfToken(token, scene!);
    prefixRow = patch ? undefined : token;
    if (patch) story.choose({ patch });
    else show();
    story.say(sees.textContent!);
  };

  const show = () => {
    if (!scene) return;
    const { result: { trace }, config, layer, head, token, dark } = scene, mask = choice.value;
    const hasClass = config.prefix[0] === "class";
    const query = mask === "cross" ? (hasClass ? 0 : token) : prefixRow ?? token;
    attended = attend(trace.scores(layer, head), mask, { prefix: config.prefix.length, query });
    const { shares, queries, keys } = attended;
    const row = queries.indexOf(query);
    const hidden = (row: number, column: number) => !attended!.sees(row, column);
    const scale = { top: TOP, uniform: 1 / keys.length };
    matrix.draw({ values: shares, rows: queries.length, columns: keys.length, dark, scale, hidden, marked: { row } });
    drawMap(map, scene, attended, row);
    notice.textContent = noticeOf(mask, hasClass, own);
    axes.textContent = own.axes[mask];
    sums.textContent = sumsText(attended, own);
    sees.textContent = seesText(scene, attended, row, texts);
    matrix.root.dataset.mask = mask;
    matrix.root.dataset.row = shares.subarray(row * keys.length, (row + 1) * keys.length).join(" ");
  };
  return (next) => {
    if (scene && scene.token !== next.token || scene?.model !== next.model) prefixRow = undefined;
    scene = next;
    show();
  };
};

type Words = Story["texts"]["masks"];

/** One row of the matrix over the drawing. */
function drawMap(map: HeatGrid, scene: Scene, { shares, keys, sees, queries }: Attended, row: number): void {
  const { config, shape: { gridRows: rows, gridCols: columns }, dark } = scene;
  const prefix = config.prefix.length;
  const first = keys.indexOf(prefix); // the first patch
  const start = row * keys.length + first;
  const patch = queries[row]! - prefix;
  map.draw({
    values: shares.subarray(start, start + rows * columns), rows, columns, dark, under: paperOf(scene),
    scale: { top: TOP, uniform: 1 / keys.length },
    hidden: (r, c) => !sees(row, first + r * columns + c),
    ...(patch >= 0 && { marked: { row: Math.floor(patch / columns), column: patch % columns } }),
  });
}

function noticeOf(mask: Mask, hasClass: boolean, own: Words): string {
  if (mask === "causal" && !hasClass) return own.causalPlain;
  if (mask === "cross") return `${own.notice.cross} ${hasClass ? own.crossClass : own.crossPatch}`;
  return own.notice[mask];
}

function sumsText(attended: Attended, own: Words): string {
  const { queries, keys, sees } = attended;
  const all = sumsOf(attended);
  const masked = queries.reduce((count, _, row) => count + keys.filter((_, column) => !sees(row, column)).length, 0);
  const text = own.sums({ rows: all.length, least: decimal(Math.min(...all), 6), most: decimal(Math.max(...all), 6) });
  return `${own.masked(masked, queries.length * keys.length)} ${text}`;
}

function seesText(scene: Scene, attended: Attended, row: number, texts: Story["texts"]): string {
  const { queries, keys, sees } = attended;
  const seen = keys.filter((_, column) => sees(row, column)).length;
  const sum = decimal(sumsOf(attended)[row]!, 6);
  return texts.masks.sees({ token: tokenName(queries[row]!, scene, texts), seen, all: keys.length, sum });
}

/** Which model uses which kind of attention. */
function usesTable(own: Words): HTMLElement {
  const head = h("tr", {}, ...own.usesHead.map((text) => h("th", { scope: "col" }, text)));
  const rows = own.uses.map(([name, ...cells]) =>
    h("tr", {}, h("th", { scope: "row" }, name!), ...cells.map((text) => h("td", {}, text))));
  const table = h("table", {}, h("caption", {}, own.usesTitle), h("thead", {}, head), h("tbody", {}, ...rows));
  return h("div", {}, h("div", { className: "uses", tabIndex: 0, role: "region", ariaLabel: own.usesTitle }, saveableTable(table, own.usesTitle)));
}
