/** Where am I? Attention alone does not see the patches' order: what positions add. */
import { smallModel } from "../../../explain/models.ts";
import { inWords } from "../../../remedy.ts";
import { showError } from "../../../status.ts";
import { h } from "../../../dom.ts";
import { coalesce } from "../../coalesce.ts";
import type { Build, Scene, Story, Traced } from "../../scene.ts";
import { buildAdded } from "./added.ts";
import { buildAlike } from "./alike.ts";
import { type PositionKind, KINDS, type Placed } from "./kinds.ts";
import { buildScramble, type Scramble, scrambleOf } from "./scramble.ts";
import { buildWide } from "./wide.ts";
import { shapeOf } from "../../../pixels.ts";
import { permuted } from "../../../../base/scramble.mjs";

export const texts = {};

export const build: Build = (root, story) => {
  const texts = story.texts.positions;
  let scene: Scene | undefined;
  const scramble = scrambleOf(story.choices);
  const update = () => refresh(undefined);
  const note = h("p", { className: "kind-note" }), cite = h("p", { className: "cite" });
  const status = h("p", { id: "positions-status" }, story.texts.story.loading);
  status.setAttribute("role", "status");
  const parts = [buildScramble(story, scramble, update), buildAdded(story), buildAlike(story), buildWide(story)];
  const figures = h("div", { hidden: true }, ...parts.map((part) => part.root));
  const kinds = KINDS.map((name) => [name, texts.kinds[name]] as const);
  const kind = story.choices.chips<PositionKind>("kind", texts.kind, kinds, "sincos2d", (chosen) => {
    scramble.done = texts.notes[chosen];
    describe();
    update();
  });
  const describe = () => {
    note.textContent = texts.notes[kind.value];
    cite.replaceChildren(...texts.papers[kind.value].flatMap(([text, id], i) =>
      [i > 0 ? " · " : "", h("a", { href: `https://arxiv.org/abs/${id}` }, text)]));
  };
  root.append(
    h("p", { className: "lead" }, texts.lead), h("p", { className: "lead" }, texts.models),
    h("div", { className: "kind-bar" }, kind.root), note, cite, status, figures);
  describe();

  const refresh = coalesce(async () => {
    try {
      const placed = scene && (await place(story, scene, kind.value, scramble));
      if (!placed) return;
      figures.hidden = false;
      status.replaceChildren();
      for (const part of parts) part.draw(placed);
      root.dataset.kind = placed.kind;
    } catch (error) {
      showError(status, inWords(error), update);
    }
  });
  return (shown) => {
    scene = shown;
    update();
  };
};

/** Lets a small model read the drawing as it is and scrambled. Undefined if the pad is blank. */
async function place(story: Story, scene: Scene, kind: PositionKind, scramble: Scramble): Promise<Placed | undefined> {
  const model = await smallModel(kind);
  const shape = shapeOf(model.config), on = scramble.on && kind !== "none", { order } = scramble;
  const traced = (await story.classify(scene, { trace: true, attention: true }, model)) as Traced | undefined;
  if (!traced) return undefined;
  const ablate = on ? undefined : { positions: true };
  const [before, after] = await model.classifyAll([traced.input, permuted(traced.input, order, shape)], { ablate });
  return { kind, scene, model, config: model.config, shape, traced, before: before!, after: after!, order, on };
}
