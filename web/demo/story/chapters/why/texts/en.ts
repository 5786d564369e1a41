/** Which patches spoke for a class. */
import type { Messages } from "../../../../texts/sentences.ts";

export const texts = {
  lead: "A map of attention shows where the model looked, not what made it say {label}. Three ways try to answer that. Each answers another question, so where they differ, none is the truth.",
  target: "Class",
  names: { occlusion: "Occlusion", relevance: "Gradient × attention", rollout: "Rollout" },
  how: {
    occlusion:
      "Each patch in turn becomes blank paper. Orange-red: the class’s logit falls without it. Blue: it rises. A patch that is blank already cannot change anything, and two patches that say the same hide each other.",
    relevance:
      "How much a little more attention would raise the class’s logit, times the attention, through all layers. True for small changes only; what speaks against the class is dropped.",
    rollout:
      "How much of each patch reaches the class token through all layers: the same map for every class, without the MLPs.",
  },
  points: "{points} of the logit",
  tops: "For {label}, the most important patch is at {occlusion} by occlusion, at {relevance} by gradient × attention; rollout’s largest is at {rollout}.",
  question: "The patch with most ink is covered with blank paper. What does the model read then?",
  options: { same: "the same, as surely", doubt: "the same, less surely", other: "something else" },
  covered: "Without the patch at {patch} it reads {label}, {share}; with it, {whole}, {wholeShare}.",
  cite: "Occlusion: Zeiler and Fergus, arXiv:1311.2901. Gradient × attention: Chefer, Gur and Wolf, arXiv:2012.09838 and arXiv:2103.15679. Rollout: Abnar and Zuidema, arXiv:2005.00928. What can mislead: Jain and Wallace, arXiv:1902.10186.",
} as const;

export type Words = Messages<typeof texts>;
