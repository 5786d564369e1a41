// Drawings of nothing that a model of digits knows, each by another hand: what a lesson is measured on.

/** Corners on a grid of 0…9 from the upper left. A comma begins a new stroke. */
const SHAPES = {
  A: "09 40 89,26 66",
  house: "09 04 40 84 89 09",
  heart: "43 20 03 06 49 86 83 60 43",
  star: "19 40 79 03 83 19",
  fish: "05 32 64 89,65 39 05,64 82 89",
  bolt: "60 24 64 29",
  arrow: "05 85,62 85 68",
  smiley: "40 21 05 17 38 58 76 83 71 50 40,32 33,52 53,26 37 47 56",
  spiral: "44 54 56 46 35 33 42 63 75 67 48 27 13 21 40",
  cloud: "17 06 14 23 31 52 61 73 74 85 86 77 17",
  sun: "42 33 24 35 46 55 64 53 42,41 40,22 11,14 04,26 17,47 48,66 77,74 84,62 71",
  moon: "50 30 12 05 17 39 59 47 36 35 33 41 50",
  umbrella: "04 12 31 51 72 84 04,44 48 39 28",
  tree: "39 36 06 33 13 40 73 53 86 56 59 39",
  flag: "09 00 70 74 04",
  boat: "06 28 68 86 06,46 40 75 45",
  cup: "02 18 68 82 02,83 93 95 76",
  crown: "08 02 25 40 65 82 88 08",
  envelope: "02 82 87 07 02,02 45 82",
  diamond: "40 04 49 84 40",
  key: "20 03 24 42 20,33 88,66 57",
};
export const SIGNS = Object.keys(SHAPES).filter((name) => name !== "A");
const SIDE = 280, MIDDLE = 140, PEN = 10, PIECES = 12;

/** The same numbers for the same seed: mulberry32. */
export function dice(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A shape of that name as a hand draws it, smaller or wider, leaning, its corners a little off. */
export function shape(name, random) {
  const within = (most) => (2 * random() - 1) * most;
  const wide = 18 * Math.exp(within(0.15)), high = 18 * Math.exp(within(0.15)), slant = within(0.15), turn = within(0.1);
  const strokes = SHAPES[name].split(",").map((stroke) => {
    const corners = stroke.split(" ").map(([x, y]) => [Number(x) + within(0.55), Number(y) + within(0.55)]);
    return corners.flatMap(([x, y], i) => {
      if (i === 0) return [[x, y]];
      const [fromX, fromY] = corners[i - 1];
      return Array.from({ length: PIECES }, (_, k) => (k + 1) / PIECES).map((t) => [fromX + (x - fromX) * t, fromY + (y - fromY) * t]);
    }).map(([x, y]) => ({
      x: MIDDLE + (x - 4.5) * wide + (y - 4.5) * slant * wide, y: MIDDLE + (y - 4.5) * high + (x - 4.5) * turn * high, width: PEN,
    }));
  });
  return { strokes, width: SIDE, height: SIDE };
}

/** A pen that wanders. */
export function scribble(random) {
  const within = (most) => (2 * random() - 1) * most;
  const strokes = Array.from({ length: 1 + Math.floor(random() * 2) }, () => {
    let x = 80 + 120 * random(), y = 80 + 120 * random(), angle = 6.28 * random(), turn = 0;
    return Array.from({ length: 60 }, () => {
      angle += turn = 0.8 * turn + within(0.7);
      x = Math.min(230, Math.max(50, x + 9 * Math.cos(angle)));
      y = Math.min(230, Math.max(50, y + 9 * Math.sin(angle)));
      return { x, y, width: PEN };
    });
  });
  return { strokes, width: SIDE, height: SIDE };
}
