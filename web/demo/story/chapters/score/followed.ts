/** The model's answer once one head computes with the visitor's numbers. */
import type { Class, Replacement } from "vitrine";
import { percent } from "../../../logits.ts";
import { h } from "../../../dom.ts";
import type { Said } from "../../../texts/sentences.ts";
import { coalesce } from "../../coalesce.ts";
import { Lens, shares } from "../../lens.ts";
import type { Scene, Story } from "../../scene.ts";
import { copyOf, type HeadNumbers, isChanged, type Work } from "./head.ts";
import { write } from "../../../write.ts";
import type { texts } from "./texts/en.ts";

export class Followed {
  readonly root = h("div", { className: "followed" });
  readonly #words: Said<typeof texts>;
  readonly #says = h("p", { aria: { live: "polite" } });
  readonly #run: (work: Work) => void;
  #lens: Lens | undefined;
  #shown: Work | undefined;
  #labels: readonly string[] = [];

  constructor(story: Story, words: Said<typeof texts>) {
    this.#words = words;
    this.#run = coalesce(async (work) => {
      const { scene, query, own, head } = work;
      const replace = [replacementOf(scene, query, own, head)];
      const result = work.changed ? await story.classify(scene, { replace }) : scene.result;
      if (result && this.#shown?.scene.result === scene.result) this.#paint(scene, result.classes, work.changed);
    });
  }

  /** `work` may change later; its numbers of now are those that are run. */
  draw(work: Work): void {
    this.#shown = work;
    this.root.ariaBusy = "true";
    this.#run({ ...work, head: copyOf(work.head) });
  }

  #paint({ config, result }: Scene, classes: readonly Class[], changed: boolean): void {
    const words = this.#words;
    if (this.#labels !== config.labels) {
      this.#labels = config.labels;
      this.#lens = new Lens(config.labels);
      this.root.replaceChildren(this.#lens.root, this.#says);
    }
    this.#lens!.draw(classes, changed ? result.classes : undefined, (bars) => words.followed({ bars }));
    const [now, old] = [classes[0]!, result.classes[0]!];
    const after = percent(shares(classes)[old.index]!);
    if (!changed) write(this.#says, words.ownAnswer({ label: old.label, p: percent(old.p) }));
    else if (now.index === old.index) write(this.#says, words.sameAnswer({ label: old.label, before: percent(old.p), after }));
    else write(this.#says, words.otherAnswer({ old: old.label, before: percent(old.p), now: now.label, p: percent(now.p) }));
    Object.assign(this.root.dataset, { label: now.label, p: String(now.p) });
    this.root.ariaBusy = "false";
  }
}

/** What the visitor changed in the head. One query is the visitor's, the others stay the model's. */
function replacementOf({ result: { trace }, layer, head }: Scene, token: number, own: HeadNumbers, now: HeadNumbers): Replacement {
  const replacement: Replacement = { layer, head };
  if (isChanged(own, now, "query")) {
    replacement.queries = trace.queries(layer, head);
    replacement.queries.set(now.query, token * now.query.length);
  }
  if (isChanged(own, now, "keys")) replacement.keys = Float32Array.from(now.keys);
  if (isChanged(own, now, "values")) replacement.values = Float32Array.from(now.values);
  return replacement;
}
