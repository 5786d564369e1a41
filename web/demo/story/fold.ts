import { h } from "../dom.ts";
import type { Story } from "./scene.ts";

/** The second visit's matter. */
export function fold(story: Story, title: string, ...parts: (Node | string)[]): HTMLDetailsElement {
  return h("details", { className: "more" }, h("summary", {}, story.words.more({ title })), ...parts);
}
