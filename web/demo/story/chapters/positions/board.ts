/** An image cut into patches. The visitor may swap them, by pointer or by keys. */
import { accent, css, paintInk } from "../../../colour.ts";
import { ARROWS, h } from "../../../dom.ts";
import { scaled } from "../../../figure/canvas.ts";
import { spotAt } from "../../../figure/cells.ts";
import { animate } from "../../../figure/motion.ts";
import type { Shape } from "../../../pixels.ts";

interface BoardImage {
  image: Float32Array; // (rows, columns), the ink from 0 to 1
  order: readonly number[]; // place i of the grid shows patch order[i]
  shape: Shape;
  dark: boolean;
}

interface BoardEvents {
  keys: string; // says what the keys do
  swap(place: number, other: number): void;
  /** A patch was picked up or put back where it was. */
  hold(place: number | undefined): void;
  /** The pointer or the keys are at another place. */
  point(place: number | undefined, byKey: boolean): void;
}

const FLIGHT = 500; // milliseconds that patches take to their new places
const DRAG = 5; // a press that moves fewer CSS pixels is a click

/** With events its patches can be swapped. */
export function buildBoard(events?: BoardEvents) {
  const canvas = h("canvas", { className: "board" }), ink = h("canvas");
  let current: BoardImage | undefined, marked: number | undefined, cursor: number | undefined, held: number | undefined;
  let drag: { start: PointerEvent; place: number; x: number; y: number; moved: boolean } | undefined;
  /** Where the patches fly from, and how much of their way they have flown, from 0 to 1. */
  let from = new Map<number, number>(), progress = 1, land = () => {};

  const draw = () => {
    if (!current) return;
    const { order, shape: { gridRows, gridCols, patchRows, patchCols }, dark } = current;
    const width = canvas.clientWidth || 252, context = scaled(canvas, width, (width * gridRows * patchRows) / (gridCols * patchCols), gridCols, gridRows);
    const spotOf = (place: number) => [place % gridCols, Math.floor(place / gridCols)] as [x: number, y: number];
    const drawPatch = (patch: number, [x, y]: readonly [number, number], size: number) => {
      const [column, row] = spotOf(patch), side = size - 0.06, shift = (1 - side) / 2;
      context.drawImage(ink, column * patchCols, row * patchRows, patchCols, patchRows, x + shift, y + shift, side, side);
    };
    const outline = (place: number | undefined, colour: string) => {
      if (place === undefined || place < 0) return;
      const [x, y] = spotOf(place);
      context.strokeStyle = colour;
      context.strokeRect(x + 0.05, y + 0.05, 0.9, 0.9);
    };
    context.imageSmoothingEnabled = false;
    context.lineWidth = 0.08;
    const eased = 1 - (1 - progress) ** 3;
    order.forEach((patch, place) => {
      if (drag?.moved && place === drag.place) return;
      const [x, y] = spotOf(from.get(patch) ?? place), [toX, toY] = spotOf(place);
      drawPatch(patch, [x + (toX - x) * eased, y + (toY - y) * eased], 1);
    });
    outline(order.indexOf(marked ?? -1), css(accent(dark)));
    outline(cursor, css(accent(dark)));
    outline(held, getComputedStyle(canvas).color);
    if (drag?.moved) drawPatch(order[drag.place]!, [drag.x - 0.5, drag.y - 0.5], 1.12);
  };
  if (events) listen(events);
  return {
    canvas,
    /** Outlines a patch, by its number in the image. */
    mark(patch: number | undefined): void {
      if (patch === marked) return;
      marked = patch;
      draw();
    },
    show(next: BoardImage): void {
      const before = current?.order, { image, order, shape: { rows, cols }, dark } = next;
      const moved = before?.length === order.length && order.some((patch, i) => patch !== before[i]);
      current = next;
      paintInk(ink, image, rows, cols, dark);
      if (!moved || drag) return draw();
      land();
      from = new Map(before.map((patch, place) => [patch, place]));
      progress = 0;
      land = animate(FLIGHT, (over) => {
        progress = over;
        draw();
      });
    },
  };

  function listen({ keys, swap, hold, point }: BoardEvents): void {
    Object.assign(canvas, { role: "application", tabIndex: 0 });
    canvas.classList.add("swappable");
    canvas.setAttribute("aria-description", keys);
    const at = (event: PointerEvent) => {
      const { gridRows, gridCols } = current!.shape, [y, x] = spotAt(event, canvas, gridRows, gridCols);
      const inside = x >= 0 && y >= 0 && x < gridCols && y < gridRows;
      return { x, y, place: inside ? Math.floor(y) * gridCols + Math.floor(x) : undefined };
    };
    const goTo = (place: number | undefined, byKey = false) => {
      cursor = place;
      point(place, byKey);
      draw();
    };
    const pick = (place: number | undefined) => {
      held = place;
      hold(place);
      draw();
    };
    const exchange = (place: number, other: number | undefined) => {
      held = undefined;
      draw();
      if (other !== undefined && other !== place) swap(place, other);
    };
    /** Picks up the patch at a place; or swaps it with the one picked up before. */
    const press = (place: number) =>
      held === undefined ? pick(place) : held === place ? pick(undefined) : exchange(held, place);

    canvas.addEventListener("pointerdown", (event) => {
      if (!current || drag || event.button !== 0) return;
      const { place, ...spot } = at(event);
      if (place === undefined) return;
      canvas.setPointerCapture(event.pointerId);
      drag = { start: event, place, ...spot, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!current) return;
      const { place, ...spot } = at(event);
      if (drag) {
        const { start, moved } = drag, far = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > DRAG;
        Object.assign(drag, spot, { moved: moved || far });
      }
      if (drag || place !== cursor) goTo(place);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!drag || event.pointerId !== drag.start.pointerId) return;
      const { place: first, moved } = drag, { place } = at(event);
      drag = undefined;
      if (moved) exchange(first, place);
      else press(first);
    });
    for (const away of ["pointercancel", "pointerleave", "blur"]) {
      canvas.addEventListener(away, () => {
        drag = undefined;
        goTo(undefined);
      });
    }
    canvas.addEventListener("keydown", (event) => {
      if (!current) return;
      const { gridRows, gridCols } = current.shape, step = ARROWS[event.key];
      if (step && cursor === undefined) goTo(0, true);
      else if (step) {
        const row = Math.floor(cursor! / gridCols) + step[0], column = (cursor! % gridCols) + step[1];
        const inside = row >= 0 && column >= 0 && row < gridRows && column < gridCols;
        goTo(inside ? row * gridCols + column : cursor, true);
      } else if (event.key === "Enter" || event.key === " ") press(cursor ?? 0);
      else if (event.key === "Escape" && held !== undefined) pick(undefined);
      else return;
      event.preventDefault();
      event.stopPropagation(); // Escape would clear the pad
    });
  }
}
