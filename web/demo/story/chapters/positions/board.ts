/** An image cut into patches. The visitor may swap them, by pointer or by keys. */
import { css, paint, tone } from "../../../colour.ts";
import { scaled } from "../../../figure/canvas.ts";
import { ARROWS, spotAt } from "../../../figure/cells.ts";
import { animate } from "../../../figure/motion.ts";
import { accent, type Shape } from "../../../pixels.ts";
import { h } from "../../../dom.ts";

export interface BoardImage {
  image: Float32Array; // (rows, columns), the ink from 0 to 1
  order: readonly number[]; // place i of the grid shows patch order[i]
  shape: Shape;
  dark: boolean;
}

export interface BoardEvents {
  swap(place: number, other: number): void;
  /** A patch was picked up or put back where it was. */
  hold(place: number | undefined): void;
  /** The pointer or the keys are at another place. */
  point(place: number | undefined, byKey: boolean): void;
}

const FLIGHT = 500; // milliseconds that patches take to their new places
const DRAG = 5; // a press that moves fewer CSS pixels is a click

export class Board {
  readonly canvas = h("canvas", { className: "board" });
  /** A patch that is outlined, by its number in the image. */
  marked?: number;
  readonly #ink = document.createElement("canvas");
  readonly #events?: BoardEvents;
  #shown?: BoardImage;
  #cursor?: number;
  #held?: number;
  #drag?: { place: number; x: number; y: number; moved: boolean };
  /** Where the patches fly from, and how much of their way they have flown, from 0 to 1. */
  #from = new Map<number, number>();
  #flown = 1;
  #land = () => {};

  constructor(label: string, keys?: string, events?: BoardEvents) {
    this.canvas.setAttribute("role", events ? "application" : "img");
    this.canvas.setAttribute("aria-label", label);
    if (!events || !keys) return;
    this.#events = events;
    this.canvas.tabIndex = 0;
    this.canvas.classList.add("swappable");
    this.canvas.setAttribute("aria-description", keys);
    this.#listenToPointer(events);
    this.#listenToKeys();
  }

  show(shown: BoardImage): void {
    const before = this.#shown?.order;
    const moved = before && before.length === shown.order.length && shown.order.some((patch, i) => patch !== before[i]);
    this.#shown = shown;
    const { image, shape, dark } = shown;
    paint(this.#ink, shape.rows, shape.cols, (row, col) => tone(image[row * shape.cols + col]!, dark));
    if (!moved || this.#drag) return this.draw();
    this.#land();
    this.#from = new Map(before.map((patch, place) => [patch, place]));
    this.#flown = 0;
    this.#land = animate(FLIGHT, (flown) => {
      this.#flown = flown;
      this.draw();
    });
  }

  draw(): void {
    if (!this.#shown) return;
    const { order, shape, dark } = this.#shown;
    const { gridRows, gridCols, patchRows, patchCols } = shape;
    const width = this.canvas.clientWidth || 252, height = (width * gridRows * patchRows) / (gridCols * patchCols);
    const context = scaled(this.canvas, width, height, gridCols, gridRows);
    context.imageSmoothingEnabled = false;
    order.forEach((patch, place) => {
      if (!this.#drag?.moved || place !== this.#drag.place) this.#patch(context, patch, ...this.#whereIs(patch, place));
    });
    this.#outline(context, order.indexOf(this.marked ?? -1), css(accent(dark)));
    this.#outline(context, this.#cursor, css(accent(dark)));
    if (this.#held !== undefined) this.#outline(context, this.#held, getComputedStyle(this.canvas).color);
    if (this.#drag?.moved) this.#patch(context, order[this.#drag.place]!, this.#drag.x - 0.5, this.#drag.y - 0.5, 1.12);
  }

  #whereIs(patch: number, place: number): [x: number, y: number] {
    const columns = this.#shown!.shape.gridCols;
    const from = this.#from.get(patch) ?? place;
    const eased = 1 - (1 - this.#flown) ** 3;
    const between = (a: number, b: number) => a + (b - a) * eased;
    return [between(from % columns, place % columns),
      between(Math.floor(from / columns), Math.floor(place / columns))];
  }

  #patch(context: CanvasRenderingContext2D, patch: number, x: number, y: number, size = 1): void {
    const { gridCols, patchRows, patchCols } = this.#shown!.shape;
    const gap = 0.03, side = size - 2 * gap, shift = (1 - size) / 2 + gap;
    context.drawImage(this.#ink, (patch % gridCols) * patchCols, Math.floor(patch / gridCols) * patchRows,
      patchCols, patchRows, x + shift, y + shift, side, side);
  }

  #outline(context: CanvasRenderingContext2D, place: number | undefined, colour: string): void {
    if (place === undefined || place < 0) return;
    const columns = this.#shown!.shape.gridCols;
    context.strokeStyle = colour;
    context.lineWidth = 0.08;
    context.strokeRect((place % columns) + 0.05, Math.floor(place / columns) + 0.05, 0.9, 0.9);
  }

  #at(event: PointerEvent): { x: number; y: number; place: number | undefined } {
    const { gridRows, gridCols } = this.#shown!.shape;
    const [y, x] = spotAt(event, this.canvas, gridRows, gridCols);
    const inside = x >= 0 && y >= 0 && x < gridCols && y < gridRows;
    return { x, y, place: inside ? Math.floor(y) * gridCols + Math.floor(x) : undefined };
  }

  #point(place: number | undefined, byKey = false): void {
    this.#cursor = place;
    this.#events!.point(place, byKey);
    this.draw();
  }

  /** Picks up the patch at a place; or swaps it with the one picked up before. */
  #press(place: number): void {
    const held = this.#held;
    this.#hold(held === undefined ? place : undefined, held === undefined || held === place);
    if (held !== undefined && held !== place) this.#events!.swap(held, place);
  }

  #hold(place: number | undefined, tell = true): void {
    this.#held = place;
    if (tell) this.#events!.hold(place);
    this.draw();
  }

  #listenToPointer(events: BoardEvents): void {
    let start: PointerEvent | undefined;
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.#shown || start || event.button !== 0) return;
      const { x, y, place } = this.#at(event);
      if (place === undefined) return;
      start = event;
      canvas.setPointerCapture(event.pointerId);
      this.#drag = { place, x, y, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.#shown) return;
      const { x, y, place } = this.#at(event);
      if (start && this.#drag) {
        const far = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > DRAG;
        this.#drag = { ...this.#drag, x, y, moved: this.#drag.moved || far };
      }
      if (place !== this.#cursor || start) this.#point(place);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (event.pointerId !== start?.pointerId || !this.#drag) return;
      const { place: from, moved } = this.#drag;
      const { place } = this.#at(event);
      start = this.#drag = undefined;
      if (!moved) this.#press(from);
      else {
        this.#hold(undefined, false);
        if (place !== undefined && place !== from) events.swap(from, place);
      }
    });
    const leave = () => {
      start = this.#drag = undefined;
      this.#point(undefined);
    };
    canvas.addEventListener("pointercancel", leave);
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("blur", leave);
  }

  #listenToKeys(): void {
    this.canvas.addEventListener("keydown", (event) => {
      if (!this.#shown) return;
      const { gridRows, gridCols } = this.#shown.shape;
      const step = ARROWS[event.key], now = this.#cursor;
      if (step) {
        const row = Math.floor((now ?? 0) / gridCols) + step[0], column = ((now ?? 0) % gridCols) + step[1];
        const inside = row >= 0 && column >= 0 && row < gridRows && column < gridCols;
        this.#point(now === undefined ? 0 : inside ? row * gridCols + column : now, true);
      } else if (event.key === "Enter" || event.key === " ") this.#press(now ?? 0);
      else if (event.key === "Escape" && this.#held !== undefined) this.#hold(undefined);
      else return;
      event.preventDefault();
      event.stopPropagation(); // Escape would clear the pad
    });
  }
}
