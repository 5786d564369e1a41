/** The runs on the page: one, or two beside each other, of which the buttons act on one. */
import { chips, h } from "../../../../dom.ts";
import type { Scene, Story } from "../../../scene.ts";
import { buildColumn, type Column } from "./column.ts";

/** `changed` is called when the run that the buttons act on is another one, or in another phase. */
export function buildColumns(story: Story, changed: () => void) {
  const { two: text, acts, runs } = story.texts.learning.live;
  const first = buildColumn(story, "", changed);
  let all: readonly Column[] = [first], acting = first, scene: Scene | undefined;
  const root = h("div", { className: "live-columns" }, first.root);
  const two = h("input", { id: "live-two", type: "checkbox" });
  const choice = h("div", { className: "live-two" }, h("label", {}, two, text));
  const act = (column: Column) => {
    acting = column;
    changed();
  };
  const open = () => {
    two.checked = true;
    const second = buildColumn(story, "-2", changed);
    all = [first, second];
    first.name(runs.first);
    second.name(runs.second);
    root.append(second.root);
    choice.append(chips(acts, [["first", runs.first], ["second", runs.second]], "first", (name) => act(name === "first" ? first : second)).root);
    changed();
    if (scene) second.draw(scene);
  };
  const close = () => {
    const [, second] = all;
    all = [first];
    first.name("");
    second!.trial.dispose();
    second!.root.remove();
    choice.lastElementChild!.remove();
    act(first);
  };
  two.addEventListener("change", () => {
    story.choices.set("live-two", two.checked);
    return two.checked ? open() : close();
  });
  return {
    root, choice, open,
    get all() {
      return all;
    },
    get acting() {
      return acting;
    },
    draw(now: Scene): void {
      scene = now;
      for (const column of all) column.draw(now);
    },
  };
}
