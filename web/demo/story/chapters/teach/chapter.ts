/** The teacher's page: exercises that lead to the chapters. On paper their answers are open. */
import { linked } from "../../cite.ts";
import { button, h } from "../../../dom.ts";
import type { Build } from "../../scene.ts";

export const texts = {};

export const build: Build = (root, { texts: { teach } }) => {
  const answers = teach.exercises.map(({ look }) =>
    h("details", {}, h("summary", {}, teach.look), h("p", {}, ...linked(look))));
  const items = teach.exercises.map(({ chapter, title, task }, index) =>
    h("li", {}, h("h3", {}, h("a", { href: `#${chapter}` }, title)), h("p", {}, task), answers[index]!));
  root.append(
    h("p", { className: "lead" }, teach.lead),
    button(teach.print, () => print(), { className: "plain" }),
    h("ol", { className: "exercises" }, ...items),
  );
  return () => {};
};

let opened: HTMLDetailsElement[] = []; // for the paper only
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll<HTMLDetailsElement>("#teach details:not([open])")];
  for (const answer of opened) answer.open = true;
});
addEventListener("afterprint", () => {
  for (const answer of opened) answer.open = false;
});
