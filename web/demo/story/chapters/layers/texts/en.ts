/** Layer by layer. */
import type { Messages } from "../../../../texts/sentences.ts";

export const texts = {
  lead: "A block never replaces a token, it adds to it. So the classifier, made for the last stage, can read {reader} at every stage before: the logit lens. On your drawing {label} leads from stage {stage} on. Press a head or an MLP to leave it out.",
  readers: { token: "the class token", mean: "the mean of the patches" },
  stem: "Convolutions run before the patches of this model, so at stage 0 a patch knows {field} pixels already.",
  question: "Which of these, left out alone, costs your digit most?",
  options: { head: "one head of block 1", mlp: "the MLP of block 1", last: "one part of the last block" },
  truth: "At worst, the log-odds of {label} change by {head} without a head of block 1, by {mlp} without its MLP, and by {last} without a part of the last block. Without {part} the model reads {read}, {share}.",

  figure: "What the classifier reads at each stage",
  stage: "Stage {n}",
  begin: "before block 1",
  end: "the answer",
  odds: "log-odds of {label}",
  says: "{label}, {share}",
  bars: "{stage}: {bars}",
  block: "Block {n}",
  attention: "heads",
  mlp: "MLP",
  head: "head {n}",
  parts: "Parts to leave out",
  keys: "Arrow keys go from part to part.",
  names: { head: "block {block}’s head {head}", mlp: "block {block}’s MLP" },
  toggle: "Leave out {part}",
  whole: "Nothing is left out: {label}, {share}.",
  same: "Without {parts} it still reads {label}: {before} before, {after} now, {odds} in log-odds.",
  other: "Without {parts} it reads {now} instead of {label}. {label}: {before} before, {after} now, {odds} in log-odds.",
  back: "Put everything back",
  outlines: "Dashed: with all parts.",
  last: "After block {depth} only the class token is read. So what a patch’s query finds in that block changes nothing.",

  sweep: {
    title: "every part in turn",
    lead: "What {label} gains or loses, in log-odds, without one part alone; the arrow names another answer.",
    busy: "Each part is left out in turn …",
    table: "Log-odds without one part",
    becomes: "{odds} → {label}",
  },
  trust: {
    title: "log-odds, and how far to trust a lens",
    odds: "The log-odds of a probability p are ln(p / (1 − p)): 0 at 50 %, 4.6 at 99 %. One less means that the odds are divided by 2.7. Near 100 % p can hardly move; the log-odds still show the push. Those of a stage and what attention and MLP add make those of the next.",
    lens: "Early stages were never meant for this classifier, so a lens can mislead (Belrose et al., arXiv:2303.08112). And a part whose absence changes nothing need not be idle: others may do the same work (Michel et al., arXiv:1905.10650).",
    cite: "Residual connections: He et al., arXiv:1512.03385. The logit lens: nostalgebraist, 2020.",
  },
} as const;

export type Words = Messages<typeof texts>;
