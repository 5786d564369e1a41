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
};
const SIDE = 280, MIDDLE = 140, PEN = 10, PIECES = 12;

/** The same numbers for the same seed: a linear congruence. */
export function dice(seed) {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
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
