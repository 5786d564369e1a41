/** How it learnt: the snapshots of one run read the visitor's drawing, and a visitor's own run does. */
import { h } from "../../../dom.ts";
import { snapshotSteps } from "../../../explain/models.ts";
import { loads } from "../../loads.ts";
import type { Build, Scene } from "../../scene.ts";
import { buildFigures, STOPS } from "./figures.ts";
import type { Words } from "./texts/en.ts";

export const build: Build<Words> = (root, story, words) => {
  const asked = h("div"), body = h("div"), live = h("div");
  const own = h("details", { id: "train-it", className: "more", open: story.choices.has("live-") }, h("summary", {}, words.live.heading), live);
  root.append(h("p", { className: "lead" }, words.lead({ count: STOPS })), asked, body, own);
  const drawRecorded = loads(body, story, async () => buildFigures(await snapshotSteps(), asked, story, words));
  let scene: Scene | undefined, drawLive: ((scene: Scene) => void) | undefined;
  const open = () => {
    if (!own.open) return;
    drawLive ??= loads(live, story, async () => (await import("./live/live.ts")).buildLive(story, words.live));
    if (scene) drawLive(scene);
  };
  own.addEventListener("toggle", open);
  return (now) => {
    scene = now;
    drawRecorded(now);
    open();
  };
};
