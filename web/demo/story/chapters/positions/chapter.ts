/** Where am I? Attention alone does not see the patches' order: what positions add. */
import type { Class, ClassifyOptions } from "vitrine";
import { permuted, seeded, shuffled } from "../../../../base/scramble.mjs";
import { h, write } from "../../../dom.ts";
import { smallModel } from "../../../explain/models.ts";
import { shapeOf } from "../../../pixels.ts";
import { inWords, showError } from "../../../status.ts";
import { number, percent } from "../../../texts/words.ts";
import { buildGuess, fold } from "../../prose.ts";
import { coalesce } from "../../work.ts";
import type { ChapterBuilder, Scene, Story, Traced } from "../../scene.ts";
import { type Comparison, KINDS, type PositionKind } from "./kinds.ts";
import { ROUNDING, largestChange } from "./numbers.ts";
import { buildPicture } from "./picture.ts";
import { buildScramble, PATCHES, type Scramble, scrambleOf } from "./scramble.ts";
import { buildMeasured } from "./tables.ts";
import type { Words } from "./texts/en.ts";

/** Validation accuracy and its spread, in %, of the small models of weights/experiments.md. */
const POOLS = { token: [95.41, 0.37], mean: [95.17, 0.16] } as const;

export const build: ChapterBuilder<Words> = (root, story, words) => {
  let scene: Scene | undefined;
  const scramble = scrambleOf(story.choices);
  const update = () => refresh(undefined);
  const note = h("p", { className: "kind-note" });
  const status = h("p", { id: "positions-status", role: "status" }, story.words.loading);
  const kinds = KINDS.map((name) => [name, words.kinds[name]] as const);
  const kind = story.choices.chips<PositionKind>("kind", words.kind, kinds, "sincos2d", (chosen) => {
    scramble.done = words.notes[chosen];
    describe();
    update();
  });
  kind.root.id = "positions-kind";
  const describe = () => write(note, words.notes[kind.value]);
  const figure = buildScramble(story, words, scramble, update), picture = buildPicture(story, words), measured = buildMeasured(story, words);
  const percentOf = ([mean, spread]: readonly [number, number]) => [number(mean), `${number(spread)} %`] as const;
  const [token, tokenSpread] = percentOf(POOLS.token), [mean, meanSpread] = percentOf(POOLS.mean);

  root.append(h("p", { className: "lead" }, words.lead));
  const guess = buildGuess(root, story, words, (now) => truthOf(now, story, words));
  root.append(
    h("div", { className: "panel" }, kind.root, note, status, figure.root),
    picture.root, measured.root,
    fold(story, words.pool.title, h("p", {}, words.pool.text({ token, tokenSpread, mean, meanSpread }))));
  describe();

  const refresh = coalesce(async () => {
    try {
      const comparison = scene && (await compare(story, scene, kind.value, scramble));
      if (!comparison) return;
      status.replaceChildren();
      for (const part of [figure, picture, measured]) part.draw(comparison);
      root.dataset.kind = comparison.kind;
    } catch (error) {
      showError(status, inWords(error), update);
    }
  });
  return (next) => {
    scene = next;
    update();
    guess(next);
  };
};

/** Lets a small model read the drawing as it is and scrambled. Undefined if the pad is blank. */
async function compare(story: Story, scene: Scene, kind: PositionKind, scramble: Scramble): Promise<Comparison | undefined> {
  const model = await smallModel(kind);
  const shape = shapeOf(model.config), on = scramble.on && kind !== "none", { order } = scramble;
  const traced = (await story.classify(scene, { trace: true }, model)) as Traced | undefined;
  if (!traced) return undefined;
  const options: ClassifyOptions = { attention: true, ablate: on ? undefined : { positions: true } };
  const [before, after] = await model.classifyAll([traced.input, permuted(traced.input, order, shape)], options);
  return { kind, scene, config: model.config, shape, traced, before: before!, after: after!, order, on };
}

/** What the model without positions reads in order and in one other order. */
async function truthOf(scene: Scene, story: Story, words: Words) {
  const models = await story.attempt(Promise.all([smallModel("none"), smallModel("sincos2d")]));
  const read = models && (await story.classify(scene, {}, models[0]));
  if (!read) return undefined;
  const image = permuted(read.input, shuffled(PATCHES, seeded(1)), shapeOf(models[0].config));
  const both = await story.attempt(Promise.all(models.map((model) => model.classify(image))));
  if (!both) return undefined;
  const [first, after, withPositions] = [read, ...both].map(({ classes }) => classes[0]!) as [Class, Class, Class];
  const option = after.index !== first.index ? "other" : largestChange(read.logits, both[0]!.logits) <= ROUNDING ? "same" : "doubt";
  return { option, words: words.truth({ label: first.label, share: percent(first.p), after: after.label, afterShare: percent(after.p),
    placed: withPositions.label, placedShare: percent(withPositions.p) }) } as const;
}
