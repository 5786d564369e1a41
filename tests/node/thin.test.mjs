// The page's thinning of strokes: the drawn curve stays where it was, corners too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { importTypescript } from "../../web/scripts/typescript.mjs";
import { Vit } from "../../dist/vit.js";

const { thinned } = await importTypescript("web/demo/thin.ts");

/** A stroke along a line of corners, with a point at every second unit, as a slow pen leaves them. */
function along(...corners) {
  const points = corners.slice(1).flatMap(([x, y], i) => {
    const [fromX, fromY] = corners[i], steps = Math.ceil(Math.hypot(x - fromX, y - fromY) / 2);
    return Array.from({ length: steps }, (_, k) => [fromX + ((x - fromX) * k) / steps, fromY + ((y - fromY) * k) / steps]);
  });
  return [...points, corners.at(-1)].map(([x, y]) => ({ x, y, width: 10 }));
}

/** The points that drawStroke passes: quadratic curves between the middles of lines (Bézier's formula). */
function curveOf(stroke) {
  const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  let from = stroke[0];
  return stroke.slice(1).flatMap((control, i) => {
    const start = from, to = i + 2 < stroke.length ? middle(control, stroke[i + 2]) : control;
    from = to;
    return Array.from({ length: 65 }, (_, k) => k / 64).map((t) => ({
      x: (1 - t) ** 2 * start.x + 2 * t * (1 - t) * control.x + t * t * to.x,
      y: (1 - t) ** 2 * start.y + 2 * t * (1 - t) * control.y + t * t * to.y,
    }));
  });
}

function distanceTo(point, from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const t = ((point.x - from.x) * dx + (point.y - from.y) * dy) / (dx * dx + dy * dy || 1);
  const along = Math.min(1, Math.max(0, t));
  return Math.hypot(point.x - from.x - along * dx, point.y - from.y - along * dy);
}

const SHAPES = {
  "a corner": along([20, 20], [200, 30], [60, 220]),
  "a star in one line": along([140, 30], [205, 230], [35, 106], [245, 106], [75, 230], [140, 30]),
  "a 7": along([70, 60], [210, 60], [120, 240]),
  "a straight line": along([10, 10], [250, 250]),
  "a circle": Array.from({ length: 200 }, (_, i) => ({ x: 140 + 90 * Math.cos(i / 30), y: 140 + 90 * Math.sin(i / 30), width: 10 })),
  "one point": [{ x: 3, y: 4, width: 10 }],
};

for (const [name, stroke] of Object.entries(SHAPES)) {
  test(`${name} keeps its curve within the distance, with fewer points`, () => {
    for (const distance of [0.25, 1, 2]) {
      const few = thinned(stroke, distance);
      const line = [...few.slice(0, 1), ...curveOf(few)];
      let at = 0; // the part of the line that the last point was near, because the next point is near it too
      const isNear = (point) => line.some(() => {
        if (distanceTo(point, line[Math.max(0, at - 1)], line[at]) <= distance + 0.1) return true; // both sides are sampled
        at = (at + 1) % line.length;
      });
      for (const point of curveOf(stroke)) assert.ok(isNear(point), `${distance}: too far away at ${point.x}, ${point.y}`);
      assert.ok(few.length <= Math.max(2, stroke.length / 2), `${name}: ${few.length} of ${stroke.length} points`);
      assert.deepEqual([few[0], few.at(-1)], [stroke[0], stroke.at(-1)]);
    }
  });
}

test("a star reads the same once it is thinned", async () => {
  const vit = await Vit.load(readFileSync(new URL("../../weights/digits.safetensors", import.meta.url)));
  const read = async (stroke) => (await vit.classify({ strokes: [stroke], width: 280, height: 280 })).logits;
  for (const stroke of [SHAPES["a star in one line"], SHAPES["a 7"]]) {
    const [whole, few] = [await read(stroke), await read(thinned(stroke, 0.25))];
    const most = Math.max(...whole.map(Math.abs));
    whole.forEach((logit, k) => assert.ok(Math.abs(logit - few[k]) < 0.05 * most, `${k}: ${logit}, ${few[k]}`));
  }
  vit.dispose();
});
