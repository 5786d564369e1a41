/** Softmax and doubt: logits to drag, the temperature, and whether the model is as sure as it is right. */
import { VitError } from "vitrine";
import { percent } from "../../../logits.ts";
import { decimal } from "../../../texts/words.ts";
import { cite } from "../../cite.ts";
import { h } from "../../../dom.ts";
import type { Build, Scene } from "../../scene.ts";
import { saveableTable } from "../../table.ts";
import { softmax } from "./softmax.ts";
import { buildSubject, describe, type Subject } from "./subject.ts";
import { buildSureness } from "./sureness.ts";
import { buildTable } from "./table.ts";
import { buildTemperature } from "./temperature.ts";
import { buildWorst, type Digit } from "./worst.ts";


export const texts = {};

export const build: Build = (root, story) => {
  const words = story.texts.doubt;
  let scene: Scene | undefined, subject: Subject | undefined;
  let logits: number[] = [];
  let table: ReturnType<typeof buildTable> | undefined;

  const row = buildSubject(words, () => take(subject!), () => take({ result: scene!.result }));
  const scroll = h("div", { className: "grid-scroll" }), sum = h("p", { className: "sum" });
  const temperature = buildTemperature(words, story.choices, (says, done) => {
    draw();
    if (done) story.say(says);
  });
  const sureness = buildSureness(story.texts);
  const worst = buildWorst(words, (digit) => void read(digit));
  root.append(h("p", { className: "lead" }, words.lead), h("p", { className: "task" }, words.task),
    h("p", { className: "notice-this" }, words.notice), row.root, scroll, sum, temperature.root,
    h("p", { className: "lead quiet" }, words.largest), sureness.root, worst.root,
    cite(words.cite));

  const draw = () => {
    const { config, dark } = scene!, steps = softmax(logits, temperature.value), { best, powers, shares } = steps;
    const changed = logits.some((logit, index) => logit !== subject!.result.logits[index]);
    row.draw(subject!, changed, config, dark);
    table!.draw(logits, steps);
    sum.textContent = words.sum(config.labels[best]!, decimal(powers[best]!, 4), decimal(steps.sum, 4), percent(shares[best]!));
    sureness.draw(shares[best]!, temperature.value, config);
    worst.draw(subject!.digit, dark);
  };

  const take = (next: Subject) => {
    subject = next;
    logits = [...next.result.logits];
    draw();
  };

  const read = async (digit: Digit) => {
    const { model, version } = scene!;
    // As it is: preparing it like a photo of a digit would change the faintest pixels of some.
    const image = Float32Array.from(digit.pixels, (level) => level / 255);
    const result = await model.classify(image).catch((error: unknown) => {
      if (error instanceof VitError && error.code === "disposed") return undefined;
      throw error;
    });
    if (!result || scene!.model !== model || scene!.version !== version) return;
    take({ result, digit });
    story.say(describe(subject!, scene!.config, words));
  };

  const move = (index: number, logit: number, done: boolean) => {
    logits[index] = logit;
    draw();
    const { shares, best } = softmax(logits, temperature.value), { labels } = scene!.config;
    if (done) story.say(words.moved(labels[index]!, percent(shares[index]!), labels[best]!, percent(shares[best]!)));
  };

  return (next) => {
    const before = scene, other = before?.model !== next.model;
    scene = next;
    if (other) {
      temperature.fit(next.config);
      table = buildTable(next.config.labels, words, move);
      scroll.replaceChildren(saveableTable(table.root, words.table));
    }
    if (other || before?.version !== next.version) take({ result: next.result });
    else draw(); // another theme
  };
};
