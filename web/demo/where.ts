/** Where on a drawing or a photo a map is hottest, by the ink's own geometry. Needs no page. */
import type { Placement } from "vitrine";
import { ofStroke, type Stroke } from "./ink.ts";

/** What the ink is there: two lines meet, a stroke ends, it turns sharply, it bends, it runs straight; any of these, in a photo; or no ink. */
type InkFeature = "crossing" | "end" | "turn" | "bend" | "line" | "ink" | "gap";
type Position =
  | "topLeft" | "top" | "topRight" | "left" | "middle" | "right" | "bottomLeft" | "bottom" | "bottomRight";
export interface Hotspot {
  kind: InkFeature;
  position: Position;
}

/** The model's image of a photo. */
interface ModelImage {
  values: Float32Array;
  rows: number;
  cols: number;
}

export interface Where {
  places: Hotspot[]; // the hottest first; at most two
  patches: number; // how many are hot
  share: number; // the hot patches' share of the map
  spread: boolean; // they are too many to be a place
}

/** A patch is hot from this part of the hottest one on. */
const HOT = 0.4;
/** A second place is named if its patches hold this part of the first place's share. */
const SECOND = 0.6;
/** Steps along the ink, in the drawing's units. */
const STEP = 6;
/** A turn is measured over so many steps on either side, a bend over twice as many. */
const ARM = 3;
const degrees = (angle: number) => (angle * Math.PI) / 180;
const TURN = degrees(75), BEND = degrees(20);
/** A pen's half, and nearly touching. */
const NEAR = 9;
/** More ink than this in one patch is a scribble. */
const MOST_SPOTS = 200;

type Spot = readonly [x: number, y: number];
interface Box { left: number; top: number; right: number; bottom: number }
/** A stroke as spots of equal distance. */
interface Line { spots: readonly Spot[]; box: Box; closed: boolean }

export function whereOf(
  map: Float32Array,
  [rows, cols]: readonly [number, number],
  placement: Placement,
  strokes: readonly Stroke[],
  image?: ModelImage,
): Where {
  const most = map.reduce((a, b) => Math.max(a, b), 0);
  const hot = [...map.keys()].filter((i) => map[i]! >= HOT * most);
  const shareOf = (patches: readonly number[]) => patches.reduce((sum, i) => sum + map[i]!, 0);
  const groups = groupsOf(hot, cols).sort((a, b) => shareOf(b) - shareOf(a));
  const named = groups.slice(0, 2).filter((group) => shareOf(group) >= SECOND * shareOf(groups[0]!));
  const lines = image ? [] : strokes.map(lineOf), inked = image ? inkOf(image, placement) : [];
  const ink = boxOf([...inked, ...lines.flatMap(({ box }): Spot[] => [[box.left, box.top], [box.right, box.bottom]])]);
  const { left, top, width, height } = placement;
  const places = named.map((group) => {
    const at = group.reduce((best, i) => (map[i]! > map[best]! ? i : best));
    const x = left + ((at % cols) * width) / cols, y = top + (Math.floor(at / cols) * height) / rows;
    const box = { left: x, top: y, right: x + width / cols, bottom: y + height / rows };
    const kind = !image ? featureIn(box, lines) : inked.some((spot) => within(spot, box, 0)) ? "ink" : "gap";
    return { kind, position: positionOf([(box.left + box.right) / 2, (box.top + box.bottom) / 2], ink) };
  });
  const same = places.length > 1 && places[0]!.kind === places[1]!.kind && places[0]!.position === places[1]!.position;
  return {
    places: same ? places.slice(0, 1) : places,
    patches: hot.length,
    share: shareOf(hot),
    spread: hot.length > map.length / 4,
  };
}

/** Patches that touch each other, also at corners. */
function groupsOf(patches: readonly number[], cols: number): number[][] {
  const rest = new Set(patches), groups: number[][] = [];
  for (const first of patches) {
    if (!rest.delete(first)) continue;
    const group = [first];
    for (const at of group) {
      for (const other of rest) {
        const across = Math.abs((at % cols) - (other % cols)), down = Math.abs(Math.floor(at / cols) - Math.floor(other / cols));
        if (across <= 1 && down <= 1 && rest.delete(other)) group.push(other);
      }
    }
    groups.push(group);
  }
  return groups;
}

/** A pixel with this part of full ink, or more, is ink. */
const INKED = 0.25;

/** The inked pixels' middles. */
function inkOf({ values, rows, cols }: ModelImage, { left, top, width, height }: Placement): Spot[] {
  const pixels = [...values.keys()].filter((i) => values[i]! >= INKED);
  return pixels.map((i) => [left + (((i % cols) + 0.5) * width) / cols, top + ((Math.floor(i / cols) + 0.5) * height) / rows]);
}

const lineOf = ofStroke((stroke): Line => {
  const spots = evenly(stroke);
  const closed = spots.length > 7 && apart(spots[0]!, spots.at(-1)!) < 3 * NEAR; // its ends meet
  return { spots, box: boxOf(spots), closed };
});

function evenly(stroke: Stroke): Spot[] {
  const spots: Spot[] = stroke.slice(0, 1).map(({ x, y }) => [x, y]);
  let rest = STEP;
  for (let i = 1; i < stroke.length; i++) {
    const [a, b] = [stroke[i - 1]!, stroke[i]!], length = Math.hypot(b.x - a.x, b.y - a.y);
    for (; rest <= length; rest += STEP) spots.push([a.x + ((b.x - a.x) * rest) / length, a.y + ((b.y - a.y) * rest) / length]);
    rest -= length;
  }
  const last = stroke.at(-1);
  if (last && rest < STEP) spots.push([last.x, last.y]);
  return spots;
}

function boxOf(spots: readonly Spot[]): Box {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const [x, y] of spots) {
    box.left = Math.min(box.left, x), box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y), box.bottom = Math.max(box.bottom, y);
  }
  return box;
}

const within = ([x, y]: Spot, { left, top, right, bottom }: Box, margin: number) =>
  x >= left - margin && x <= right + margin && y >= top - margin && y <= bottom + margin;

const touch = (a: Box, b: Box, margin: number) =>
  a.left <= b.right + margin && a.right >= b.left - margin && a.top <= b.bottom + margin && a.bottom >= b.top - margin;

/** A spot in the box, at its place along its line. */
interface Run { spot: Spot; line: readonly Spot[]; at: number; closed: boolean }

/** The most telling thing that the ink does in a box. */
function featureIn(box: Box, lines: readonly Line[]): InkFeature {
  const margin = (box.right - box.left) / 5;
  const runs = lines.filter((line) => touch(line.box, box, margin)).flatMap(({ spots: line, closed }) =>
    [...line.entries()].filter(([, spot]) => within(spot, box, margin)).map(([at, spot]): Run => ({ spot, line, at, closed })));
  if (!runs.some(({ spot }) => within(spot, box, 5))) return "gap";
  if (meets(runs)) return "crossing";
  if (runs.some(({ at, line, closed }) => !closed && (at === 0 || at === line.length - 1))) return "end";
  const most = (arm: number) => Math.max(...runs.map((run) => turnAt(run, arm)));
  return most(ARM) >= TURN ? "turn" : most(2 * ARM) >= BEND ? "bend" : "line";
}

const apart = ([ax, ay]: Spot, [bx, by]: Spot) => Math.hypot(bx - ax, by - ay);

/** By how much the ink's direction changes at a spot. */
function turnAt({ line, at, closed, spot: [x, y] }: Run, arm: number): number {
  const spotAt = (i: number) => line[closed ? (i + line.length) % line.length : i];
  const before = spotAt(at - arm), after = spotAt(at + arm);
  if (!before || !after) return 0;
  const change = Math.abs(Math.atan2(after[1] - y, after[0] - x) - Math.atan2(y - before[1], x - before[0]));
  return Math.min(change, 2 * Math.PI - change);
}

/** Whether two strokes come near each other, or one comes near itself again after a way. */
function meets(runs: readonly Run[]): boolean {
  return runs.length > MOST_SPOTS || runs.some((a, i) => runs.slice(i + 1).some((b) => {
    const way = Math.abs(a.at - b.at), least = a.closed ? Math.min(way, a.line.length - way) : way;
    return apart(a.spot, b.spot) < NEAR && (a.line !== b.line || least > 4 * ARM);
  }));
}

const ROWS = ["top", "middle", "bottom"] as const;
const COLUMNS = ["Left", "", "Right"] as const;

/** The place in the ink's box, whose sides are taken at least half as long as each other. */
function positionOf([x, y]: Spot, { left, top, right, bottom }: Box): Position {
  const side = Math.max(right - left, bottom - top) / 2 || 1;
  const third = (value: number, low: number, high: number) => {
    const part = (value - (low + high) / 2) / Math.max(high - low, side);
    return part < -0.2 ? 0 : part > 0.2 ? 2 : 1;
  };
  const row = ROWS[third(y, top, bottom)]!, column = COLUMNS[third(x, left, right)]!;
  if (row === "middle") return column === "" ? "middle" : column === "Left" ? "left" : "right";
  return `${row}${column}`;
}
