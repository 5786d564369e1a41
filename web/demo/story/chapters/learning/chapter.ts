/** 7. How it learnt: the snapshots of one run read the visitor's drawing, and a visitor's own run does. */
import { snapshotSteps } from "../../../explain/models.ts";
import { cite } from "../../cite.ts";
import { h } from "../../../dom.ts";
import { loads } from "../../loads.ts";
import type { Build } from "../../scene.ts";
import { buildFigures } from "./figures.ts";
import { readFilters } from "./filters.ts";

export const texts = {};

export const build: Build = (root, story) => {
  const { learning: texts } = story.texts;
  const body = h("div"), live = h("div");
  root.append(
    h("p", { className: "lead" }, texts.lead), h("p", { className: "task" }, texts.task), body,
    h("p", { className: "notice-this" }, texts.notice), cite(texts.cite), live);
  const drawRecorded = loads(body, story, async () => {
    const steps = await snapshotSteps();
    return buildFigures(steps, await readFilters(steps.length), story);
  });
  const drawLive = loads(live, story, async () => (await import("./live/live.ts")).buildLive(story));
  return (scene) => {
    drawRecorded(scene);
    drawLive(scene);
  };
};
