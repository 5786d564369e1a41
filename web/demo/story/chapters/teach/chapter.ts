/** For teachers: exercises that lead to the chapters, and the guided walk. On paper it is one page with its solutions. */
import { button, h } from "../../../dom.ts";
import { chaptersIn } from "../../rail.ts";
import { linked } from "../../prose.ts";
import type { ChapterBuilder } from "../../scene.ts";
import type { Words } from "./texts/en.ts";

export const build: ChapterBuilder<Words> = (root, _story, words) => {
  const steps = chaptersIn(root.parentElement!).filter((chapter) => chapter !== root);
  const titleOf = (id: string) => document.getElementById(id)!.closest(".chapter")!.querySelector("h2")!.textContent!;
  const items = Object.entries(words.exercises).map(([id, { title, task, look }]) =>
    h("li", {}, h("h3", {}, h("a", { href: `#${id}` }, title)), h("p", {}, task({ title: titleOf(id) })),
      h("details", {}, h("summary", {}, words.look), h("p", {}, ...linked(look)))));
  root.append(
    h("p", { className: "lead" }, words.lead),
    h("p", {}, words.walk({ n: steps.length, link: new URL("#score", document.baseURI).href })),
    h("p", { className: "cite" }, words.steps, ...steps.flatMap(({ id }) => [" ", h("a", { href: `#${id}`, title: titleOf(id) }, `#${id}`)])),
    button(words.print, () => {
      root.scrollIntoView();
      print();
    }, { className: "plain" }),
    h("ol", { className: "exercises" }, ...items),
  );
  return () => {};
};

let opened: HTMLDetailsElement[] = []; // for the paper only
/** Who prints with the sheet in the middle of the screen gets the sheet alone. */
addEventListener("beforeprint", () => {
  const sheet = document.getElementById("teach")!, { top, bottom } = sheet.getBoundingClientRect(), middle = innerHeight / 2;
  document.body.classList.toggle("sheet-only", top < middle && middle < bottom);
  opened = [...sheet.querySelectorAll<HTMLDetailsElement>(".exercises details:not([open])")];
  for (const answer of opened) answer.open = true;
});
addEventListener("afterprint", () => {
  if (document.body.classList.contains("sheet-only")) document.getElementById("teach")!.scrollIntoView(); // a page of paper cannot be scrolled
  document.body.classList.remove("sheet-only");
  for (const answer of opened) answer.open = false;
});
