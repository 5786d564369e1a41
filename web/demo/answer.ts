/** What the page says of a drawing. Stage and rail both say this, so that they agree. */
import type { Classification } from "vitrine";
import { isBlank, type State } from "./state.ts";
import { atLeastAThousandth, percent, words } from "./texts/words.ts";

export interface Answer {
  sign: string; // a class's label; "?" for an unknown sign; empty while there is no answer
  pale: boolean;
  word: string; // how certain it is, or why there is no answer
  detail: string; // its share and the runner-up
  unknown: boolean;
  best?: number; // the class whose bar has the model's colour
}

/** While the pen is down the answer is a guess: the largest class, but never that the sign is unknown. */
export function answerOf(state: State): Answer {
  const { reading } = state, own = state.choice?.own;
  if (!reading) return { sign: "", pale: false, word: waitingFor(state), detail: "", unknown: false };
  const [best, next] = reading.result.classes;
  const { answer } = words, { label, p, index } = best!;
  const verdict = verdictOf(reading.result, own !== undefined);
  if (verdict === "none" && !reading.unfinished)
    return { sign: "?", pale: true, word: own ? answer.unknownSign : answer.unknown, detail: answer.nearest({ label, p: percent(p) }), unknown: true };
  const pale = verdict !== "sure";
  const word = pale ? answer.unsure : p >= 0.99 ? answer.certain : answer.sure;
  const sign = own?.signs.get(label);
  const detail = sign ? yours(sign.count) : next ? answer.next({ p: percent(p), label: next.label, other: atLeastAThousandth(next.p) }) : percent(p);
  return { sign: label, pale, word, detail, unknown: false, best: index };
}

const yours = (count: number): string => (count === 1 ? words.answer.yoursOnce : words.answer.yours({ count }));

/** The text in the answer's place while there is no answer. */
function waitingFor(state: State): string {
  const { photo, model, answered, version, phase, progress } = state;
  if (isBlank(state)) return words.waiting.ink;
  if (!model) return phase === "loading" || progress ? words.waiting.loading : words.waiting.noModel;
  return answered === version ? (photo ? words.waiting.noInk : words.waiting.more) : words.waiting.reading;
}

type Result = Pick<Classification, "classes" | "uncertain" | "doubt">;

/**
 * "none": the model doubts more than it believes, or the classes are nearly alike: their perplexity, the
 * number of equally likely classes that leave as much doubt, is more than half of their number. A model of own signs doubts by its lesson alone.
 */
function verdictOf({ classes, uncertain, doubt }: Result, own = false): "sure" | "unsure" | "none" {
  if (own) return uncertain ? "none" : "sure";
  if (doubt !== undefined && doubt > 0.5) return "none";
  const entropy = classes.reduce((sum, { p }) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
  if (classes.length > 1 && Math.exp(entropy) > classes.length / 2) return "none";
  return uncertain ? "unsure" : "sure";
}

/** "Reads as 7, 99.8 %". */
export function sentence(answer: Result, own = false): string {
  const { label, p } = answer.classes[0];
  const verdict = verdictOf(answer, own);
  if (verdict === "none") return words.answer.seesNone;
  return (verdict === "unsure" ? words.answer.unsureOf : words.answer.readsAs)({ label, p: percent(p) });
}
