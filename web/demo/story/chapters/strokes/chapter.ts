/** While you drew: what the model would have answered at each moment of the drawing. */
import type { Texts } from "../../../texts/en.ts";
import { percentage } from "../../../texts/words.ts";
import { button, h, slider } from "../../../dom.ts";
import { spotAt } from "../../../figure/cells.ts";
import { player, playing, saveable, svg } from "../../../figure/parts.ts";
import type { Build, Scene } from "../../scene.ts";
import { buildMoment } from "./moment.ts";
import { beginsOf, cut, runsOf } from "./path.ts";
import { drawStrip } from "./strip.ts";
import { type Sample, Sweep } from "./sweep.ts";

const MOST_RUNS = 5; // answers that the text names

export const texts = {};

export const build: Build = (root, story) => {
  const texts = story.texts.strokes;
  const sweep = new Sweep(story);
  let scene: Scene | undefined;
  let chosen = Infinity; // the moment's way of the pen; the whole drawing at first

  const strip = saveable(svg("svg", { id: "strokes-strip", role: "img", "aria-label": texts.strip }), texts.strip);
  const moment = buildMoment(texts);
  const changes = h("p", { id: "strokes-changes", className: "lead" });
  const notice = h("p", { className: "notice-this" });
  const progress = h("p", { id: "strokes-progress", className: "grid-legend" });
  const sure = h("p", { className: "grid-legend" }, texts.sure);
  const time = slider(texts.time, [0, 1, 1], 0, (index) => choose(index)), { label, input } = time;
  input.id = "strokes-time";
  const put = button(texts.put, () => {
    const at = Math.min(now()?.at ?? Infinity, sweep.way.length);
    story.draw(cut(sweep.way, at), at < sweep.way.length);
  });
  const example = h("p", { id: "strokes-example", hidden: true }, texts.example);
  root.append(
    h("p", { className: "lead" }, texts.lead), example, h("p", { className: "task" }, texts.task),
    h("figure", { className: "strip" }, strip, label, sure, progress),
    h("div", { className: "figure-tools" },
      player(texts.replay, playing(time, 4000)), put),
    h("p", { className: "grid-legend" }, texts.undo),
    moment.root, changes, notice);

  const share = (at: number) => percentage(at / (sweep.way.length || 1), 0).replace(" ", "\u00a0");
  /** The moment that is nearest to the chosen one, of those that are read. */
  const now = (): Sample | undefined => {
    const wanted = Math.min(chosen, sweep.way.length);
    return sweep.samples.reduce<Sample | undefined>(
      (best, sample) => (best && Math.abs(best.at - wanted) <= Math.abs(sample.at - wanted) ? best : sample), undefined);
  };
  const wayTo = (index: number) => (index < sweep.lengths.length - 1 ? sweep.lengths[index] : undefined) ?? Infinity;
  const nearest = (way: number) => {
    const far = sweep.lengths.map((at) => Math.abs(at - way));
    return far.indexOf(Math.min(...far));
  };
  const keep = () => story.choices.set("moment", chosen === Infinity ? undefined : nearest(chosen));
  const choose = (index: number) => {
    chosen = wayTo(index);
    keep();
    drawMoment();
  };

  const drawMoment = () => {
    const sample = now();
    if (!scene || !sample) return;
    const { config: { labels, uncertain_below }, strokes: whole, dark } = scene;
    const { way, samples } = sweep;
    const width = Math.max(240, Math.round(strip.clientWidth));
    const { at } = sample, knowsDoubt = uncertain_below > 0;
    drawStrip(strip, texts, { samples, labels, length: way.length, begins: beginsOf(way), at, width, dark, knowsDoubt });
    const said = moment.draw({ sample, share: share(at), unfinished: cut(way, at), whole, labels, dark });
    input.max = String(sweep.lengths.length - 1);
    input.value = String(chosen === Infinity ? sweep.lengths.length - 1 : sweep.lengths.indexOf(sample.at));
    input.setAttribute("aria-valuetext", said);
    sure.hidden = !knowsDoubt;
  };
  const drawAll = () => {
    drawMoment();
    const { samples, lengths } = sweep;
    const all = lengths.length;
    progress.textContent = samples.length < all ? texts.reading(samples.length, all) : texts.read(all);
    progress.dataset.done = String(samples.length === all);
    if (samples.length < all) return;
    const text = inTurn(samples, share, texts);
    changes.textContent = text;
    strip.setAttribute("aria-label", `${texts.strip}. ${text}`);
  };
  dragOver(strip, (fraction) => choose(nearest(fraction * sweep.way.length)));
  new ResizeObserver(drawMoment).observe(strip.parentElement!);

  return (next) => {
    const before = scene?.model;
    scene = next;
    example.hidden = !next.photo;
    notice.textContent = knowsPale(next) ? texts.noticePale : texts.notice;
    sweep.follow(next, drawAll);
    if (!before) chosen = wayTo(Number(story.choices.of("moment")));
    else if (before !== next.model) chosen = Infinity;
    keep();
    drawAll();
  };
};

/** Whether the model can tell that the pen is still down. */
const knowsPale = ({ config }: Scene): boolean => config.unfinished_ink < 1;

/** The answers in turn, in words. */
function inTurn(samples: readonly Sample[], share: (at: number) => string, texts: Texts["strokes"]): string {
  const runs = runsOf(samples.filter(({ label }) => label !== ""));
  const named = runs.slice(-MOST_RUNS).map(({ label, at }) => ({ label, share: share(at) }));
  const last = runs.at(-1), first = runs.findIndex(({ label }) => label === last?.label);
  const unnamed = first >= 0 && first < runs.length - MOST_RUNS;
  return texts.changes(named, runs.length) + (unnamed ? texts.first(last!.label, share(runs[first]!.at)) : "");
}

/** Calls with the fraction of the width at which the pointer is, while it is down. */
function dragOver(strip: SVGSVGElement, move: (fraction: number) => void): void {
  const follow = (event: PointerEvent) => move(Math.min(1, Math.max(0, spotAt(event, strip, 1, 1)[1])));
  strip.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault(); // no text is selected
    strip.setPointerCapture(event.pointerId);
    follow(event);
  });
  strip.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) follow(event);
  });
}
