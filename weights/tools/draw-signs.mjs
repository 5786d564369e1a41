// Signs that are no digits, drawn by curves and each time by another hand, for a model to learn doubt from: one line
// of JSON a drawing, as in weights/README.md, y up. The signs that doubt is measured on (shapes.mjs) are drawn otherwise.
import { dice } from "./shapes.mjs";

/** What the signs are made of: lists of points in a square from -1 to 1, y up. `near` gives a number near another. */
function pens(random) {
  const near = (value, by = 0.06) => value + by * (2 * random() - 1);
  const arc = (x, y, r, from, to, tall = 1, steps = 24) => Array.from({ length: steps + 1 }, (_, i) => {
    const angle = 2 * Math.PI * (from + ((to - from) * i) / steps);
    return [x + r * Math.cos(angle), y + r * tall * Math.sin(angle)];
  });
  /** A ring that closes a little early or late, from anywhere and to either side. */
  const ring = (x, y, r, tall = near(1, 0.15)) => {
    const from = random(), turn = random() < 0.5 ? 1 : -1;
    return arc(near(x), near(y), near(r, 0.05), from, from + turn * near(1, 0.04), tall, 30);
  };
  const line = (...corners) => corners.map(([x, y]) => [near(x), near(y)]).flatMap(([x, y], i, all) => {
    const [fromX, fromY] = all[Math.max(0, i - 1)];
    return Array.from({ length: i ? 8 : 1 }, (_, k) => (i ? (k + 1) / 8 : 1)).map((t) => [fromX + (x - fromX) * t, fromY + (y - fromY) * t]);
  });
  const dot = (x, y) => line([x, y], [near(x, 0.08), near(y, 0.14)]);
  const rays = (x, y, from, to, count, turn = random()) => Array.from({ length: count }, (_, i) => {
    const angle = 2 * Math.PI * (turn + i / count), [c, s] = [Math.cos(angle), Math.sin(angle)];
    return line([x + from * c, y + from * s], [x + to * c, y + to * s]);
  });
  return { near, arc, ring, line, dot, rays, random, some: (least, most) => least + Math.floor(random() * (most - least + 1)) };
}

const eyes = ({ ring, dot, near, random }, apart = near(0.34, 0.08), high = near(0.28, 0.1)) =>
  random() < 0.25 ? [ring(-apart, high, 0.12), ring(apart, high, 0.12)] : [dot(-apart, high), dot(apart, high)];
const SIGNS = {
  smiley: (pen) => [pen.ring(0, 0, 0.95), ...eyes(pen), pen.arc(0, pen.near(-0.1, 0.08), pen.near(0.5, 0.1), 0.55, 0.95, pen.near(0.8, 0.2))],
  sad: (pen) => [pen.ring(0, 0, 0.95), ...eyes(pen), pen.arc(0, pen.near(-0.6, 0.08), pen.near(0.4, 0.1), 0.05, 0.45, pen.near(0.8, 0.2))],
  plainFace: (pen) => [pen.ring(0, 0, 0.95), ...eyes(pen), pen.line([-0.4, -0.4], [0.4, -0.4])],
  moon: ({ arc, near }) => {
    const half = near(0.2, 0.05), side = near(0.25, 0.12);
    return [[...arc(0, 0, 0.95, half, 1 - half), ...arc(side, 0, 0.95 * near(0.85, 0.03), 1 - half * 0.95, half * 0.95)]];
  },
  key: ({ ring, line, near, random }) => {
    const r = near(0.34, 0.08), teeth = [0.6, 0.85].slice(random() < 0.4 ? 1 : 0);
    return [ring(-0.6, 0, r), line([-0.6 + r, 0], [0.95, 0]), ...teeth.map((x) => line([x, 0], [x, -0.35]))];
  },
  standingKey: ({ ring, line, near }) => {
    const r = near(0.34, 0.08);
    return [ring(0, 0.6, r), line([0, 0.6 - r], [0, -0.95]), line([0, -0.9], [0.35, -0.9]), line([0, -0.6], [0.3, -0.6])];
  },
  diamond: ({ line, near }) => {
    const wide = near(0.7, 0.25);
    return [line([0, 0.95], [wide, 0], [0, -0.95], [-wide, 0], [0, 0.95])];
  },
  square: ({ line, near }) => {
    const wide = near(0.75, 0.25);
    return [line([-wide, 0.8], [wide, 0.8], [wide, -0.8], [-wide, -0.8], [-wide, 0.8])];
  },
  triangle: ({ line }) => [line([0, 0.9], [0.9, -0.8], [-0.9, -0.8], [0, 0.9])],
  spiral: ({ near, random }) => {
    const turns = near(2.8, 0.8), from = random(), side = random() < 0.5 ? 1 : -1;
    return [Array.from({ length: 60 }, (_, i) => [Math.cos(2 * Math.PI * (from + (side * turns * i) / 60)) * (i / 60), Math.sin(2 * Math.PI * (from + (side * turns * i) / 60)) * (i / 60)])];
  },
  target: ({ ring, near }) => [ring(0, 0, 0.95), ring(0, 0, near(0.45, 0.12))],
  clock: ({ ring, line }) => [ring(0, 0, 0.95), line([0, 0], [0, 0.65]), line([0, 0], [0.45, 0])],
  crossed: ({ ring, line }) => [ring(0, 0, 0.95), line([-0.65, 0.65], [0.65, -0.65]), line([-0.65, -0.65], [0.65, 0.65])],
  sun: (pen) => [pen.ring(0, 0, pen.near(0.5, 0.08)), ...pen.rays(0, 0, 0.62, 0.95, pen.some(5, 9))],
  flower: (pen) => [pen.ring(0, 0.3, 0.18), ...Array.from({ length: 5 }, (_, i) => pen.ring(0.4 * Math.cos(1.2566 * i), 0.3 + 0.4 * Math.sin(1.2566 * i), 0.2)), pen.line([0, -0.2], [0, -0.95])],
  heart: ({ arc, near }) => {
    const low = near(-0.9, 0.05);
    return [[[0, 0.35], ...arc(-0.43, 0.4, 0.43, 0, 0.55, near(1, 0.2), 12), [0, low], ...arc(0.43, 0.4, 0.43, -0.05, 0.5, near(1, 0.2), 12)]];
  },
  star: ({ near, random }) => {
    const turn = 0.25 + 0.04 * (random() - 0.5), tips = Array.from({ length: 6 }, (_, i) => 2 * Math.PI * (turn + (2 * i) / 5));
    return [tips.map((angle) => [near(Math.cos(angle), 0.08), near(Math.sin(angle), 0.08)])];
  },
  house: ({ line, random }) => [line([-0.8, -0.9], [-0.8, 0.2], [0, 0.95], [0.8, 0.2], [0.8, -0.9], [-0.8, -0.9]), ...(random() < 0.5 ? [line([-0.2, -0.9], [-0.2, -0.3], [0.2, -0.3], [0.2, -0.9])] : [])],
  arrow: ({ line, random }) => {
    const side = random() < 0.5 ? 1 : -1;
    return [line([-0.95 * side, 0], [0.95 * side, 0]), line([0.45 * side, 0.45], [0.95 * side, 0], [0.45 * side, -0.45])];
  },
  bolt: ({ line }) => [line([0.25, 0.95], [-0.35, 0.05], [0.3, 0.05], [-0.25, -0.95])],
  cloud: ({ arc, near }) => [[...arc(-0.5, 0, near(0.4), 0.75, 0.3), ...arc(0, 0.25, near(0.45), 0.4, 0.1), ...arc(0.5, 0, near(0.4), 0.2, -0.25), [-0.5, -0.4]]],
  infinity: ({ near }) => {
    const tall = near(0.45, 0.12);
    return [Array.from({ length: 41 }, (_, i) => [0.95 * Math.sin((2 * Math.PI * i) / 40), tall * Math.sin((4 * Math.PI * i) / 40)])];
  },
  umbrella: ({ arc, line, near }) => [arc(0, 0, 0.9, 0, 0.5, near(0.9, 0.15)), line([-0.9, 0], [0.9, 0]), [...line([0, 0], [0, -0.75]), ...arc(-0.18, -0.75, 0.18, 1, 0.5)]],
  eye: ({ arc, ring }) => [[...arc(0, -0.5, 1.05, 0.42, 0.08), ...arc(0, 0.5, 1.05, -0.08, -0.42)], ring(0, 0, 0.25)],
  note: ({ ring, line }) => [ring(-0.4, -0.65, 0.28), line([-0.12, -0.65], [-0.12, 0.95], [0.5, 0.5])],
  cup: ({ arc, line }) => [line([-0.7, 0.6], [-0.55, -0.8], [0.4, -0.8], [0.55, 0.6], [-0.7, 0.6]), arc(0.52, 0, 0.35, 0.2, -0.2)],
  peace: ({ ring, line }) => [ring(0, 0, 0.95), line([0, 0.95], [0, -0.95]), line([0, 0], [-0.65, -0.65]), line([0, 0], [0.65, -0.65])],
};

/** How the whole is drawn: larger or wider, leaning, turned, its points a little off. */
function byHand(strokes, { near }) {
  const [wide, slant, turn] = [Math.exp(near(0, 0.25)), near(0, 0.25), near(0, 0.15)];
  const waves = [0, 1].map(() => ({ high: near(0, 0.04), long: near(4, 2), at: near(0, 3) }));
  return strokes.map((points) => points.map(([x, y]) => {
    const bent = [x + waves[0].high * Math.sin(waves[0].long * y + waves[0].at), y + waves[1].high * Math.sin(waves[1].long * x + waves[1].at)];
    const leant = [wide * bent[0] + slant * bent[1], bent[1] + turn * bent[0]];
    return leant.map((value) => Math.round(1000 * value) / 1000);
  }));
}

/** `count` drawings of each sign, each by a writer of its own: seven in ten to train on (writers_part in src/train/strokes.c). */
export function drawSigns(count, firstWriter, seed = 5) {
  const random = dice(seed), pen = pens(random);
  return Object.values(SIGNS).flatMap((sign) => Array.from({ length: count }, (_, index) =>
    ({ label: null, writer: firstWriter + index, strokes: byHand(sign(pen), pen) })));
}
