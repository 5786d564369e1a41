// A small task to train on: bars across, down and aslant.

export const SIDE = 8;
export const KINDS = ["across", "down", "slant"];

/** The config of a model that learns it. */
export const BARS = {
  image_size: [SIDE, SIDE], patch_size: [4, 4], channels: 1, width: 16, depth: 2, heads: 2, mlp_width: 32,
  classes: 3, labels: KINDS,
};

const TOKENS = ["<", ">", ".", ..."acrosdwnlt"];
const { classes, labels, ...seeing } = BARS;

/** The config of a model that spells a bar's kind. No text is as long as it may be. */
export const SPELLED = {
  ...seeing, classes: 0,
  decoder: {
    depth: 1, width: 16, heads: 2, mlp_width: 32, vocabulary: TOKENS.length, max_tokens: 10, start: 0, end: 1, padding: 2, labels: TOKENS,
  },
};

/** The tokens of a kind's name, between start and end. */
export const spelled = (kind) => Array.from(`<${KINDS[kind]}>`, (letter) => TOKENS.indexOf(letter));

/** Numbers from 0 to below `most`, the same each time. */
function* chances(seed) {
  for (let state = seed; ; ) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    yield (most) => Math.floor((state / 2 ** 31) * most);
  }
}

/** Bars across, down and aslant, each at a place by chance, with noise. */
export function bars(count, seed = 7, channels = 1) {
  const chance = chances(seed);
  const below = (most) => chance.next().value(most);
  const labels = Array.from({ length: count }, (_, index) => index % KINDS.length);
  const images = labels.map((kind) => {
    const data = new Uint8Array(SIDE * SIDE * channels).map(() => (below(10) === 0 ? 64 : 0));
    const at = below(SIDE);
    for (let j = 0; j < SIDE; j++) {
      const [row, column] = [[at, j], [j, at], [j, (j + at) % SIDE]][kind];
      for (let c = 0; c < channels; c++) data[(row * SIDE + column) * channels + c] = 255;
    }
    return { data, width: SIDE, height: SIDE, channels };
  });
  return { images, labels };
}

/** The same as prepared values, (C,H,W). */
export const values = ({ data, channels = 1 }) => Float32Array.from(data, (_, i) => {
  const plane = SIDE * SIDE;
  return data[(i % plane) * channels + Math.floor(i / plane)] / 255;
});
