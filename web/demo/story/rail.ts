/** The drawing and the answer, pinned beside the story; a bar above it on small screens. */
import { answerOf } from "../answer.ts";
import { fillChoices } from "../choices.ts";
import { percent } from "../logits.ts";
import { drawPad, listen } from "../pad.ts";
import { write } from "../write.ts";
import { button, h } from "../dom.ts";
import type { Page, Story } from "./scene.ts";

/** Returns what draws it. */
export function buildRail(root: HTMLElement, { state, hand, redraw, wipe }: Page, story: Story): () => void {
  const { texts } = story;
  const pad = h("canvas", { id: "rail-pad", tabIndex: 0 });
  pad.setAttribute("role", "application");
  pad.setAttribute("aria-label", texts.story.railPad);
  const keyPen = listen(pad, { ...hand, choosable: () => false, hover: () => {}, moved: redraw });
  const answer = h("output", { id: "rail-answer" }, h("strong"), h("span"));
  answer.setAttribute("aria-live", "off"); // the page announces answers already
  const place = h("p", { className: "rail-patch" });
  const clear = button(texts.story.clear, wipe, { className: "plain small" });
  const layer = h("select", { id: "rail-layer" });
  const head = h("select", { id: "rail-head" });
  layer.addEventListener("input", () => story.choose({ layer: layer.selectedIndex }));
  head.addEventListener("input", () => story.choose({ head: head.selectedIndex }));
  root.setAttribute("aria-label", texts.story.rail);
  root.replaceChildren(
    h("div", { className: "sheet" }, pad),
    h("div", { className: "rail-read" }, answer, clear),
    h("div", { className: "rail-choices" },
      h("label", {}, texts.story.layer, layer), h("label", {}, texts.story.head, head), place));
  let fitted: unknown;

  return () => {
    const { model, reading, view } = state;
    drawPad(pad, state, keyPen);
    const best = reading?.result.classes[0], { sign, pale, unknown } = answerOf(state);
    const [word, share] = answer.children;
    write(word!, best ? sign : texts.story.blank);
    write(share!, best && !unknown ? percent(best.p) : "");
    answer.classList.toggle("unsure", pale);
    answer.dataset.label = best?.label ?? "";
    if (!model) return;
    if (fitted !== model) {
      fillChoices((id) => (id === "layer" ? layer : head), model.config);
      head.remove(0); // the story shows one head, never the mean
      fitted = model;
    }
    layer.selectedIndex = view.layer;
    head.selectedIndex = view.head === "mean" ? 0 : view.head;
    write(place, texts.story.chosen(view.patch[0] + 1, view.patch[1] + 1));
  };
}
