/** One token's way through one block: norm, attention, sum, norm, MLP, sum. */
import { h, write } from "../../../dom.ts";
import { saveable, svg } from "../../../figure/parts.ts";
import { percent } from "../../../texts/words.ts";
import { signedColour, signedScale } from "../../grid.ts";
import { buildProduct } from "../../product.ts";
import { buildGuess, cite, fold, HARDLY, whenOpen } from "../../prose.ts";
import type { ChapterBuilder, Scene, Story } from "../../scene.ts";
import { tokenName } from "../../tokens.ts";
import { rowOf } from "../../vectors.ts";
import { loadWeights, type Weights } from "../../weights.ts";
import { answersOf } from "../score/head.ts";
import { insideOf, rowOfQkv } from "./compute.ts";
import { buildRoad, isPart, type Part, type Way } from "./figure.ts";
import { buildOpen } from "./panels.ts";
import type { Words } from "./texts/en.ts";

export const build: ChapterBuilder<Words> = (root, story, words) => {
  const { choices } = story;
  const lead = h("p", { className: "lead" }), where = h("p", { className: "where" }), status = h("p", { role: "status" }), notes = h("p", { className: "notes" });
  const whose = choices.chips("token", words.whose, [["patch", words.patchToken], ["class", words.classToken]], "patch", story.redraw);
  /** Until the visitor chooses, a token that moves the answer: in the last block that is the class token alone. */
  const proposed = ({ config, layer }: Scene) => (config.pool === "class" && layer === config.depth - 1 ? "class" : "patch");
  const open = (part: Part) => {
    road.show(part);
    panels.show(part);
  };
  const road = buildRoad(words, (part) => {
    choices.set("part", part);
    open(part);
  });
  const panels = buildOpen(story, words), lists = buildLists(story, words);
  root.append(lead, h("div", { className: "panel" }, h("div", { className: "choosing" }, whose.root, where), road.root, notes, status, panels.root));
  const guess = buildGuess(root, story, words, async (now) => {
    const withoutMlps = await story.classify(now, { ablate: { mlps: Array.from({ length: now.config.depth }, (_, layer) => layer) } });
    if (!withoutMlps) return undefined;
    const [whole, best] = [now.result.classes[0]!, withoutMlps.classes[0]!];
    const option = best.index !== whole.index || best.p < 0.5 ? "lost" : whole.p - best.p < HARDLY ? "nothing" : "little";
    return { option, words: words.closed({ label: best.label, share: percent(best.p), whole: whole.label, wholeShare: percent(whole.p) }) };
  });
  root.append(lists.root, buildRoads(story, words), cite(words.cite));
  const chosen = choices.of("part");
  open(isPart(chosen) ? chosen : "norm1");

  const weightsOf = loadWeights(story, status, words.missing);
  return (scene) => {
    const { config, layer } = scene, hasClass = config.prefix[0] === "class";
    whose.root.hidden = !hasClass;
    if (!choices.of("token")) whose.value = proposed(scene);
    const token = hasClass && whose.value === "class" ? 0 : scene.token, weights = weightsOf(scene);
    const way = wayOf(scene, token, weights);
    writeLead(lead, words, config.width);
    write(where, words.where({ n: layer + 1, all: config.depth, token: tokenName(token, scene, story.words) }));
    const idle = config.pool === "class" && layer === config.depth - 1 && token > 0;
    write(notes, [config.stem.length > 0 && layer === 0 && words.stem, config.norm === "post" && words.post, !config.residual && words.noResidual, idle && words.lastBlock]
      .filter(Boolean).join(" "));
    road.draw(way);
    panels.draw(way);
    lists.draw({ way, weights });
    guess(scene);
  };
};

function writeLead(lead: HTMLElement, words: Words, width: number): void {
  const [before, after] = words.lead({ width, added: "\0" }).split("\0");
  if (lead.dataset.width !== String(width)) lead.replaceChildren(before!, h("b", {}, words.added), after!);
  lead.dataset.width = String(width);
}

function wayOf(scene: Scene, token: number, weights: Weights | undefined): Way {
  const { result: { trace }, config, layer } = scene, { width } = config;
  const at = (list: Float32Array) => rowOf(list, token, width);
  const before = at(trace.tokens(layer)), after = at(trace.tokens(layer + 1)), added = [at(trace.added(layer, "attention")), at(trace.added(layer, "mlp"))] as Way["added"];
  const inside = weights && insideOf(config, weights, layer, before, added[0]);
  const sum = added[0].map((value, i) => value + (config.residual ? before[i]! : 0));
  const middle = config.norm === "post" && inside ? Float32Array.from(inside.norms[0].y) : sum;
  return { scene, token, tokens: [before, middle, after], added, answers: answersOf(scene, token), inside };
}

/** One number of the chosen head's query, key or value as a product. */
function buildLists(story: Story, words: Words) {
  const text = h("p");
  const which = story.choices.chips("list", words.which, [["q", "q"], ["k", "k"], ["v", "v"]], "q", () => draw());
  const one = story.choices.slider("number", words.number, [1, 1, 1], 1, () => draw());
  const product = buildProduct("block", words);
  const root = fold(story, words.productTitle, text, h("div", { className: "choosing" }, which.root, one.label), product.root, product.sum);
  let fitted = 0;
  const draw = whenOpen(root, ({ way: { scene: { config, layer, head, result: { trace }, dark }, token, inside }, weights }: { way: Way; weights: Weights | undefined }) => {
    if (!weights || !inside) return;
    const d = config.head_width, at = ["q", "k", "v"].indexOf(which.value);
    one.input.max = String(d);
    story.choices.restore("number", one.input);
    const n = one.input.valueAsNumber - 1, { inputs, weights: row, bias } = rowOfQkv(config, weights, layer, inside.input, at, head, n);
    if (fitted !== inputs.length) product.fit(Array.from(inputs, (_, i) => String(i + 1)), 8);
    fitted = inputs.length;
    const { signed } = signedScale(inputs), own = [trace.queries, trace.keys, trace.values][at]!.call(trace, layer, head)[token * d + n]!;
    product.multiply({ inputs, colour: (value) => signedColour(value, signed, dark), weights: row, bias, model: own, dark });
    write(text, `${words.productText({ n: n + 1, sign: which.value, head: head + 1 })} ${config.qk_norm ? words.qkNorm : ""}`);
  });
  return { root, draw };
}

/** Two small roads: the norm on the side path, and on the road. */
function buildRoads(story: Story, words: Words): HTMLElement {
  const road = (name: "pre" | "post") => {
    const picture = svg("svg", { class: "small-road", viewBox: "0 0 300 120" },
      svg("path", { class: "side", d: name === "pre" ? "M20 30C32 30 26 88 48 88H190C206 88 210 70 210 42" : "M20 30C32 30 44 88 70 88H110C176 88 180 70 180 42" }),
      svg("path", { class: "road", d: "M0 30H300" }),
      ...([["pre", 48, 72, words.norm], ["pre", 112, 72, "f"], ["post", 70, 72, "f"], ["post", 214, 14, words.norm]] as const).filter(([of]) => of === name).flatMap(([, x, y, label]) => [
        svg("rect", { class: "box", x, y, width: 54, height: 32, rx: 8 }), svg("text", { x: x + 27, y: y + 21, "text-anchor": "middle" }, label)]),
      svg("circle", { class: "box", cx: name === "pre" ? 210 : 180, cy: 30, r: 12 }), svg("path", { class: "sign", d: `M${name === "pre" ? 204 : 174} 30h12m-6 -6v12` }));
    return h("figure", {}, saveable(picture, words.places[name]), h("figcaption", {}, words.places[name]));
  };
  return fold(story, words.roadTitle, h("p", {}, `${words.roadText} `, h("a", { href: "#learning" }, `${words.without}.`)),
    h("p", {}, words.normPlaces), h("div", { className: "side-by-side" }, road("pre"), road("post")));
}
