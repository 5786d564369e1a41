/** How it learnt: the snapshots of one run read the visitor's drawing, and a visitor's own run does. */
import { h } from "../../../dom.ts";
import { snapshotSteps } from "../../../explain/models.ts";
import { loads } from "../../loads.ts";
import { whenOpen } from "../../prose.ts";
import type { ChapterBuilder, Scene } from "../../scene.ts";
import { buildFigures, STOPS } from "./figures.ts";
import type { Words } from "./texts/en.ts";

export const build: ChapterBuilder<Words> = (root, story, words) => {
  const questionBox = h("div"), body = h("div"), live = h("div");
  const own = h("details", { id: "train-it", className: "more", open: story.choices.has("live-") }, h("summary", {}, words.live.heading), live);
  root.append(h("p", { className: "lead" }, words.lead({ count: STOPS })), questionBox, body, own);
  const drawRecorded = loads(body, story, async () => buildFigures(await snapshotSteps(), questionBox, story, words));
  let drawLive: ((scene: Scene) => void) | undefined;
  const open = whenOpen(own, (scene: Scene) => {
    drawLive ??= loads(live, story, async () => (await import("./live/live.ts")).buildLive(story, words.live));
    drawLive(scene);
  });
  return (now) => {
    drawRecorded(now);
    open(now);
  };
};
