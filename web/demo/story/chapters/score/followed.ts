/** The model's answer once one head computes with the visitor's numbers. */
import type { Class, Replacement } from "vitrine";
import { h, write } from "../../../dom.ts";
import { shares } from "../../../logits.ts";
import { percent } from "../../../texts/words.ts";
import { buildLens } from "../../lens.ts";
import type { Scene, Story } from "../../scene.ts";
import { coalesce } from "../../work.ts";
import { copyOf, isChanged, type Work } from "./head.ts";
import type { Words } from "./texts/en.ts";

export function buildFollowed(story: Story, words: Words) {
  const root = h("div", { className: "followed" }), says = h("p", { ariaLive: "polite" });
  let current: Work | undefined, fitted: { labels: readonly string[]; lens: ReturnType<typeof buildLens> } | undefined;

  const paint = ({ config: { labels }, result }: Scene, classes: readonly Class[], changed: boolean) => {
    if (fitted?.labels !== labels) {
      fitted = { labels, lens: buildLens(labels) };
      root.replaceChildren(fitted.lens.root, says);
    }
    fitted.lens.draw(classes, changed ? result.classes : undefined, (bars) => words.followed({ bars }));
    const [now, old] = [classes[0]!, result.classes[0]!], before = percent(old.p);
    write(says, !changed ? words.ownAnswer({ label: old.label, p: before })
      : now.index === old.index ? words.sameAnswer({ label: old.label, before, after: percent(shares(classes)[old.index]!) })
      : words.otherAnswer({ old: old.label, before, now: now.label, p: percent(now.p) }));
    Object.assign(root.dataset, { label: now.label, p: now.p });
    root.ariaBusy = "false";
  };
  const run = coalesce(async (work: Work) => {
    const { scene, changed } = work;
    const result = changed ? await story.classify(scene, { replace: [replacementOf(work)] }) : scene.result;
    if (result && current?.scene.result === scene.result) paint(scene, result.classes, changed);
  });
  return {
    root,
    /** `work` may change later; its numbers of now are those that are run. */
    draw(work: Work): void {
      current = work;
      root.ariaBusy = "true";
      run({ ...work, head: copyOf(work.head) });
    },
  };
}

/** What the visitor changed in the head. One query is the visitor's, the others stay the model's. */
function replacementOf({ scene: { result: { trace }, layer, head }, query, own, head: now }: Work): Replacement {
  const replacement: Replacement = { layer, head };
  if (isChanged(own, now, "query")) {
    replacement.queries = trace.queries(layer, head);
    replacement.queries.set(now.query, query * now.query.length);
  }
  if (isChanged(own, now, "keys")) replacement.keys = Float32Array.from(now.keys);
  if (isChanged(own, now, "values")) replacement.values = Float32Array.from(now.values);
  return replacement;
}
