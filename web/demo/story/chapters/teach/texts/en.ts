/** For teachers. tests/node/exercises.test.mjs holds what the solutions say of the model. */
import type { Messages } from "../../../../texts/sentences.ts";

export const texts = {
  lead: "Six exercises for a lesson of 45 minutes, from about the age of 15. They need this page alone: no account, no network once it has loaded, and no drawing leaves the tab. The solutions are true for the plain ViT that tells the story.",
  walk: "Or take the guided walk of ten minutes: each of the {n} steps asks a question before it shows the answer and checks it on one’s own drawing, and this browser keeps the answers. A link leads to a step, such as {link}.",
  steps: "Links to the steps:",
  print: "Print this sheet",
  look: "Solution",
  exercises: {
    score: {
      title: "One score by hand",
      task: "In “{title}” choose a patch on your ink and one beside it. Multiply the first four numbers of q and k on paper, in pairs. The page does the other twelve; add up, and divide by 4.",
      look: "A head has 16 numbers here, and √16 is 4. The score is large where q and k point the same way. Softmax turns the 50 scores of a query into shares that sum to 100 %: to look more at one token is to look less at others.",
    },
    positions: {
      title: "Does order matter?",
      task: "Draw a 7. In “{title}” take a model without positions and scramble the patches. Then take one with positions, and scramble again.",
      look: "Without positions nothing changes: attention reads a set, and a set has no order. With positions most scrambled drawings are read as something else, because the same patches now say that they are elsewhere.",
    },
    layers: {
      title: "When does it know?",
      task: "Draw a clear digit. In “{title}” read what the model would say after each block. Then leave out one head after another, and at last the first MLP.",
      look: "After four blocks the right class has over 90 %; before, another often leads. The fifth makes it sure. No single head changes the answer: heads share their work (Michel et al., arXiv:1905.10650). Without the first MLP hardly anything of the probability is left.",
    },
    strokes: {
      title: "Half a digit",
      task: "Draw a 9, beginning with its loop. In “{title}” drag back to the moment when the loop had just closed.",
      look: "Finished, the loop alone is a 0 to this model, and it is over 99 % sure. But here the pen is still down: it expects a tail, and leans to 9 without being sure. What would you have said at that moment?",
    },
    doubt: {
      title: "What does 90 % mean?",
      task: "Draw something between a 4 and a 9. In “{title}” move the temperature. Then open the reliability diagram.",
      look: "No temperature changes which class is first. Calibrated means: of all answers at 90 %, nine in ten are right. This model is too modest: of the 9,802 test digits of which it was surest, 99.8 % on average, it read 6 wrongly.",
    },
    masks: {
      title: "Who may look at whom?",
      task: "In “{title}” change from the full to the causal mask. Click the first row, then the last.",
      look: "The first row is the class token’s: it sees itself alone, and nothing of the drawing. The last row still sees all 50 tokens, as before. A model that writes word after word needs the mask; one that reads a whole picture would be blind.",
    },
  },
} as const;

export type Words = Messages<typeof texts>;
