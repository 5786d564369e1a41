/** The English words of *Look closer* and of the sentence beside the map. They load with that code, after the first prediction. */
export const closer = {
  /** Where the map is hottest. {1} is the place. */
  looks: {
    kinds: {
      crossing: "the crossing",
      end: "the tip",
      turn: "the turn",
      bend: "the bend",
      line: "the line",
      ink: "the ink",
      gap: "the empty space",
    },
    positions: {
      topLeft: "at the top left",
      top: "at the top",
      topRight: "at the top right",
      left: "on the left",
      middle: "in the middle",
      right: "on the right",
      bottomLeft: "at the bottom left",
      bottom: "at the bottom",
      bottomRight: "at the bottom right",
    },
    at: (kind: string, position: string) => `${kind} ${position}`,
    both: (a: string, b: string) => `${a} and ${b}`,
    it: "It looks mostly at {1}: ",
    patch: "The chosen patch looks mostly at {1}: ",
    hold: (patches: number, all: number, share: string) =>
      patches === 1
        ? `one patch of ${all} holds ${share} of its attention.`
        : `${patches} of ${all} patches hold ${share} of its attention.`,
    spread: (p: string) => `It looks a little everywhere: no patch holds more than ${p} of its attention.`,
  },
  calibration: {
    never: "They were never calibrated: the model may be right more or less often than they say.",
    scaled: (temperature: string) =>
      `The logits are first divided by ${temperature}. At 90\u00a0%, about nine in ten answers are right, on digits like those it learnt from.`,
    limit: (p: string) => `An answer below ${p} counts as not sure.`,
  },
};
