/** Encoder, decoder: the same scores under a full mask, a causal one, and as cross attention; what attention costs. */
import { h, write } from "../../../dom.ts";
import { buildTable, tableRow } from "../../../figure/parts.ts";
import { decimal, percent } from "../../../texts/words.ts";
import { buildGrid, type Grid, patchGrid } from "../../grid.ts";
import { buildGuess, cite, fold } from "../../prose.ts";
import type { ChapterBuilder, Scene } from "../../scene.ts";
import { paperOf, patchOfToken, tokenName } from "../../tokens.ts";
import { softmax } from "../score/head.ts";
import { drawBefore } from "./before.ts";
import { buildCost } from "./cost.ts";
import type { Words } from "./texts/en.ts";

const TOP = 0.25; // all masks have one scale, because they are compared

export const build: ChapterBuilder<Words> = (root, story, words) => {
  const { kinds } = words;
  let scene: Scene | undefined;
  let attention: MaskedAttention | undefined;
  let prefixRow: number | undefined; // a token of the prefix whose row is shown
  let isAnswerVisible = false; // the question's answer, in the figure

  const nameOf = (token: number) => tokenName(token, scene!, story.words);
  const matrix = buildGrid(story, {
    label: words.matrix,
    rowName: (row) => words.asks({ token: nameOf(attention!.queries[row]!) }),
    columnName: (column) => words.asked({ token: nameOf(attention!.keys[column]!) }),
    choose: (row) => chooseToken(attention!.queries[row]!),
  });
  const map = patchGrid(story, { label: words.map, cell: 28 });
  const choice = story.choices.chips<Mask>("mask", words.chips, [["full", kinds.full], ["causal", kinds.causal], ["cross", kinds.cross]], "full", () => {
    show();
    story.say(`${note.textContent} ${masked.textContent}`);
  });
  const note = h("p", { className: "mask-note" }), masked = h("span", { className: "masked" }), sees = h("span", { className: "sees" });
  const cost = buildCost(story, words.cost);
  root.append(
    h("p", { className: "lead" }, words.lead),
    h("div", { className: "panel" }, h("div", { className: "mask-choice" }, choice.root, note),
      h("div", { className: "side-by-side" },
        h("figure", { className: "matrix" }, matrix.root, h("figcaption", {}, words.axes)),
        h("div", { className: "mask-row" }, h("figure", {}, map.root, h("figcaption", {}, words.map)), h("p", {}, sees, " ", masked),
          h("p", { className: "cite" }, words.honest)))));
  const guess = buildGuess(root, story, words, ({ result: { trace }, config, layer, head, token }) => {
    if (!isAnswerVisible) { // once: later the visitor chooses
      isAnswerVisible = true;
      choice.value = "causal";
      story.choices.set("mask", "causal");
      prefixRow = 0;
      show();
    }
    const prefix = config.prefix.length, { keys, sees, shares } = attend(trace.scores(layer, head), "causal", { prefix, query: token });
    const all = keys.length - prefix, seen = keys.filter((key, column) => key >= prefix && sees(0, column)).length;
    const share = percent(shares.subarray(0, prefix).reduce((sum, one) => sum + one, 0));
    return { option: seen === 0 ? "none" : seen === all ? "all" : "some", words: words.truth({ seen, all, share }) };
  });
  root.append(cost.root,
    fold(story, words.uses.title, usesTable(words), cite(words.uses.rest)),
    fold(story, words.before.title, drawBefore(words.before)));

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
    attention = attend(trace.scores(layer, head), mask, { prefix: config.prefix.length, query });
    const { shares, queries, keys } = attention, row = queries.indexOf(query);
    const own = shares.subarray(row * keys.length, (row + 1) * keys.length);
    const hidden = (row: number, column: number) => !attention!.sees(row, column);
    const scale = { top: TOP, uniform: 1 / keys.length };
    matrix.draw({ values: shares, rows: queries.length, columns: keys.length, dark, scale, hidden, marked: { row } });
    drawMap(map, scene, attention, row);
    const count = (row: number) => keys.filter((_, column) => hidden(row, column)).length;
    write(note, mask === "cross" && !hasClass ? words.notes.crossPatch : words.notes[mask]);
    write(masked, words.masked({ masked: queries.reduce((sum, _, row) => sum + count(row), 0), all: queries.length * keys.length }));
    write(sees, words.sees({ token: nameOf(query), seen: keys.length - count(row), all: keys.length, sum: decimal(own.reduce((a, b) => a + b), 6) }));
    matrix.root.dataset.mask = mask;
    matrix.root.dataset.row = own.join(" ");
  };
  return (next) => {
    if (scene && scene.token !== next.token || scene?.model !== next.model) prefixRow = undefined;
    scene = next;
    show();
    cost.draw(next);
    guess(next);
  };
};

/** One row of the matrix over the drawing. */
function drawMap(map: Grid, scene: Scene, { shares, keys, sees, queries }: MaskedAttention, row: number): void {
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

function usesTable({ kinds, uses: { title, rest: _, ...models } }: Words): HTMLElement {
  const rows = Object.values(models).map(({ name, full, causal, cross }) => tableRow(name, [full, causal, cross]));
  const table = buildTable(title, ["", kinds.full, kinds.causal, kinds.cross], rows);
  return h("div", { className: "uses", tabIndex: 0, role: "region", ariaLabel: title }, table);
}

// ---- Masks ------------------------------------------------------------------

type Mask = "full" | "causal" | "cross";

interface MaskedAttention {
  /** (queries, keys): shares. Each row sums to 1; masked ones are 0. */
  shares: Float64Array;
  queries: number[]; // tokens
  keys: number[];
  sees(row: number, column: number): boolean;
}

/** `query` is the token that asks in cross attention. */
type Tokens = Record<"tokens" | "prefix" | "query", number>;

const from = (first: number, end: number) => Array.from({ length: end - first }, (_, i) => first + i);

const MASKS: Record<Mask, (sizes: Tokens) => Pick<MaskedAttention, "queries" | "keys" | "sees">> = {
  full: ({ tokens }) => ({ queries: from(0, tokens), keys: from(0, tokens), sees: () => true }),
  causal: ({ tokens }) => ({ queries: from(0, tokens), keys: from(0, tokens), sees: (row, column) => column <= row }),
  cross: ({ tokens, prefix, query }) => ({ queries: [query], keys: from(prefix, tokens), sees: () => true }),
};

/** One head's scores (T,T), before the softmax, under a mask: Vaswani et al., arXiv:1706.03762, section 3.2.3. */
function attend(scores: Float32Array, mask: Mask, { prefix, query }: Omit<Tokens, "tokens">): MaskedAttention {
  const tokens = Math.sqrt(scores.length);
  const { queries, keys, sees } = MASKS[mask]({ tokens, prefix, query });
  const shares = new Float64Array(queries.length * keys.length);
  queries.forEach((token, row) => {
    const own = keys.map((key) => scores[token * tokens + key]!);
    shares.set(softmax(own, (column) => sees(row, column)), row * keys.length);
  });
  return { shares, queries, keys, sees };
}
