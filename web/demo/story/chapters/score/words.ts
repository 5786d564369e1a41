/** The chapter's words beside its figures: the marks over the strip, and the table. */
import type { Texts } from "../../../texts/en.ts";
import { decimal, number } from "../../../texts/words.ts";
import { h } from "../../../dom.ts";
import type { Scene } from "../../scene.ts";
import { saveableTable } from "../../table.ts";
import type { Answer } from "./head.ts";

/** The first token of each row of the grid, and the class token. */
export function marksOf({ config, shape }: Scene, { story }: Texts): [token: number, name: string][] {
  const rows = Array.from({ length: shape.gridRows }, (_, row): [number, string] =>
    [config.prefix.length + row * shape.gridCols, story.row(row + 1)]);
  return config.prefix[0] === "class" ? [[0, ""], ...rows] : rows;
}

/** A table of all tokens, in a part that opens. It is filled only while it is open. */
export function buildTable({ score }: Texts): { root: HTMLElement; draw(answer: Answer, name: (token: number) => string): void } {
  const body = h("tbody");
  const head = h("thead", {}, h("tr", {}, ...score.tableHead.map((text) => h("th", { scope: "col" }, text))));
  const table = h("table", {}, head, body);
  const root = h("details", {}, h("summary", {}, score.table), h("div", { className: "grid-scroll" }, saveableTable(table, score.table)));
  let fill = () => {};
  root.addEventListener("toggle", () => fill());
  const draw = ({ scores, weights }: Answer, name: (token: number) => string) => {
    fill = () => {
      if (!root.open) return;
      body.replaceChildren(...[...scores].map((score, token) =>
        h("tr", { data: { score: String(score), share: String(weights[token]) } },
          h("th", { scope: "row" }, name(token)), h("td", {}, number(score, 4)), h("td", {}, decimal(weights[token]!, 4)))));
    };
    fill();
  };
  return { root, draw };
}
