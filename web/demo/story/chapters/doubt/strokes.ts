/** While you drew: what the model would have answered at each moment of the drawing. */
import { accent, css, tone } from "../../../colour.ts";
import { button, h, slider, write } from "../../../dom.ts";
import { spotAt } from "../../../figure/cells.ts";
import { player, saveable, svg } from "../../../figure/parts.ts";
import { drawStrokes, inPadUnits, type Stroke } from "../../../ink.ts";
import { percent, percentage } from "../../../texts/words.ts";
import { cut } from "../../../way.ts";
import type { Scene, Story } from "../../scene.ts";
import { largest } from "../../vectors.ts";
import { colourOfClass, drawStrip } from "./strip.ts";
import { beginsOf, buildSweep, runsOf, type Sample } from "./sweep.ts";
import type { Words } from "./texts/en.ts";

const MOST_RUNS = 5, BEST = 3; // answers, and classes, that are named

export function buildStrokes(story: Story, words: Words["strokes"]) {
  const sweep = buildSweep(story);
  let scene: Scene | undefined;
  let chosen = Infinity; // the moment's way of the pen; the whole drawing at first

  const strip = saveable(svg("svg", { id: "strokes-strip" }), words.strip);
  const then = h("canvas", { id: "strokes-then", role: "img" }), says = h("p", { id: "strokes-words" }), best = h("ol");
  const changes = h("p", { id: "strokes-changes" }), progress = h("span", { id: "strokes-progress" });
  const sure = h("span", {}, `${words.sure} `);
  const [pale, doubt, example] = [h("p", { className: "pale" }, words.pale), h("p", {}, words.doubt), h("p", { id: "strokes-example" }, words.example)];
  const time = slider(words.time, [0, 1, 1], 0, (index) => choose(index)), { label, input } = time;
  input.id = "strokes-time";
  const put = button(words.put, () => {
    const at = Math.min(now()?.at ?? Infinity, sweep.way.length);
    story.draw(cut(sweep.way, at), at < sweep.way.length);
  }, { title: words.undo });
  const root = h("div", { className: "panel strokes" }, h("h3", {}, words.title), example,
    h("figure", { className: "strip" }, strip, label, h("figcaption", {}, sure, progress)),
    h("div", { className: "moment" }, h("div", { className: "sheet" }, then), h("div", {}, says, best),
      h("div", { className: "figure-tools" }, player(words.replay, time, 4000), put)),
    changes, pale, doubt);

  const share = (at: number) => percentage(at / (sweep.way.length || 1), 0).replace(" ", "\u00a0");
  /** The moment that is nearest to the chosen one, of those that are read. */
  const now = (): Sample | undefined => {
    const target = Math.min(chosen, sweep.way.length);
    return sweep.samples.reduce<Sample | undefined>(
      (best, sample) => (best && Math.abs(best.at - target) <= Math.abs(sample.at - target) ? best : sample), undefined);
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
    const { config: { labels, uncertain_below }, strokes: whole, dark } = scene, { way, samples } = sweep;
    const last = samples.at(-1)!, colour = (index: number) => colourOfClass(index, largest(last.p), dark);
    const width = Math.max(240, Math.round(strip.clientWidth));
    const { at, p, label } = sample, knowsDoubt = uncertain_below > 0;
    drawStrip(strip, words, { samples, labels, length: way.length, begins: beginsOf(way), at, width, dark, knowsDoubt, colour });
    drawThen(then, cut(way, at), whole, dark);
    const order = [...p.keys()].sort((a, b) => p[b]! - p[a]!).slice(0, label ? BEST : 0), most = p[order[0] ?? 0]!;
    const sentence = label ? words.moment({ share: share(at), label, p: percent(most) }) : words.blank({ share: share(at) });
    write(says, sentence);
    then.ariaLabel = sentence;
    Object.assign(says.dataset, { label, p: most, at });
    best.replaceChildren(...order.map((k) => {
      const bar = h("i");
      Object.assign(bar.style, { width: `${(100 * p[k]!).toFixed(1)}%`, backgroundColor: colour(k) });
      return h("li", {}, h("b", {}, labels[k]!), h("span", { className: "track" }, bar), h("span", {}, percent(p[k]!)));
    }));
    input.max = String(sweep.lengths.length - 1);
    input.value = String(chosen === Infinity ? sweep.lengths.length - 1 : sweep.lengths.indexOf(at));
    input.ariaValueText = sentence;
    sure.hidden = !knowsDoubt;
  };
  const drawAll = () => {
    drawMoment();
    const { samples, lengths } = sweep, all = lengths.length, done = samples.length;
    write(progress, done < all ? words.reading({ done, all }) : words.read({ all }));
    progress.dataset.done = String(done === all);
    if (done < all) return;
    write(changes, inTurn(samples, share, words));
    strip.ariaLabel = `${words.strip}. ${changes.textContent}`;
  };
  dragOver(strip, (fraction) => choose(nearest(fraction * sweep.way.length)));
  new ResizeObserver(drawMoment).observe(strip.parentElement!);

  const draw = (next: Scene) => {
    const before = scene?.model;
    scene = next;
    example.hidden = !next.photo;
    pale.hidden = next.config.unfinished_ink === 1;
    doubt.hidden = !next.config.doubt;
    sweep.follow(next, drawAll);
    if (!before) chosen = wayTo(Number(story.choices.of("moment")));
    else if (before !== next.model) chosen = Infinity;
    keep();
    drawAll();
  };
  return { root, draw };
}

/** The answers in turn, in words; the last of them where there are many. */
function inTurn(samples: readonly Sample[], share: (at: number) => string, words: Words["strokes"]): string {
  const runs = runsOf(samples.filter(({ label }) => label !== ""));
  if (runs.length < 2) return runs[0] ? words.once(runs[0]) : "";
  const named = runs.slice(-MOST_RUNS).map(({ label, at }) => words.run({ label, share: share(at) }));
  return words.changed({ n: runs.length - 1, runs: `${runs.length > MOST_RUNS ? "… " : ""}${named.join(" · ")}` });
}

/** The drawing as it was. What was to come is pale; a spot marks the pen. */
function drawThen(canvas: HTMLCanvasElement, unfinished: Stroke[], whole: Stroke[], dark: boolean): void {
  const context = inPadUnits(canvas);
  drawStrokes(context, whole, css(tone(0.18, dark)));
  drawStrokes(context, unfinished, css(tone(1, dark)));
  const pen = unfinished.at(-1)?.at(-1);
  if (!pen) return;
  context.fillStyle = css(accent(dark));
  context.beginPath();
  context.arc(pen.x, pen.y, 9, 0, 2 * Math.PI);
  context.fill();
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
