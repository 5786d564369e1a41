import { ARROWS } from "./dom.ts";
import type { Sheet } from "./history.ts";
import { drawStrokes, inPadUnits, PEN, SIDE, toGrain, type Point, type Stroke } from "./ink.ts";
import { drawPhoto } from "./photo.ts";

export interface PadEvents {
  begin(point: Point): void;
  extend(points: Point[]): void;
  end(): void;
  /** The stroke was none: it leaves no ink. */
  cancel(): void;
  hover?(x: number, y: number): void;
  /** Whether a tap there chooses a patch instead of drawing a dot. */
  choosable?(x: number, y: number): boolean;
  moved(): void; // the keyboard's pen has changed and must be drawn again
}

/** The keyboard's pen: its place, and whether it draws. */
export interface KeyPen {
  x: number;
  y: number;
  down: boolean;
  visible: boolean;
}

/** A pointer that moves less than this, in pad units, has tapped. */
const TAP = 8;

/** A touch this soon after a pen was near, in milliseconds, is the hand that holds it. */
const PEN_MS = 1000;

/** Turns pointer and key events on the canvas into strokes in pad units. The pad has `across` squares side by side. */
export function listen(canvas: HTMLCanvasElement, events: PadEvents, across = 1): KeyPen {
  const keyPen: KeyPen = { x: SIDE / 2, y: SIDE / 4, down: false, visible: false };
  listenToPointer(canvas, keyPen, events, across);
  listenToKeys(canvas, keyPen, events, across);
  return keyPen;
}

function listenToPointer(canvas: HTMLCanvasElement, keyPen: KeyPen, events: PadEvents, across: number): void {
  let active: number | undefined; // the one pointer that draws; others are ignored
  let touches = false; // it is a finger, or a palm
  let lastPenTime = -Infinity; // when a pen drew or hovered last
  let tap: Point | undefined; // where the pointer went down, while this may still be a tap

  const pointAt = (event: PointerEvent): Point => {
    const box = canvas.getBoundingClientRect();
    const pressed = event.pointerType === "pen" && event.pressure > 0;
    return {
      x: toGrain(((event.clientX - box.left) / box.width) * SIDE * across),
      y: toGrain(((event.clientY - box.top) / box.height) * SIDE),
      width: toGrain(PEN * (pressed ? 0.5 + event.pressure : 1)),
    };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (active !== undefined && !(touches && event.pointerType === "pen")) return;
    if (event.pointerType === "touch" && event.timeStamp - lastPenTime < PEN_MS) return;
    if (active !== undefined) drop(); // a pen goes before a palm that lay there
    active = event.pointerId;
    touches = event.pointerType === "touch";
    try {
      canvas.setPointerCapture(active);
    } catch {
      // A pointer made by a script cannot be captured, but it can draw.
    }
    getSelection()?.removeAllRanges(); // otherwise the browser drags a selection and lifts the pen
    if (keyPen.down) events.end();
    keyPen.down = keyPen.visible = false;
    const point = pointAt(event);
    if (events.choosable?.(point.x, point.y)) tap = point;
    else events.begin(point);
  });
  canvas.addEventListener("pointermove", (event) => {
    const { x, y } = pointAt(event);
    if (event.pointerId === active) {
      if (tap && Math.hypot(x - tap.x, y - tap.y) > TAP) {
        events.begin(tap);
        tap = undefined;
      }
      const steps = event.getCoalescedEvents?.() ?? [];
      if (!tap) events.extend((steps.length ? steps : [event]).map(pointAt));
    }
    if (active === undefined || event.pointerId === active) events.hover?.(x, y);
  });
  const drop = () => {
    active = undefined;
    if (!tap) events.cancel();
    tap = undefined;
  };
  const lift = (event: PointerEvent) => {
    if (event.pointerId !== active) return;
    // The system takes a touch back when it knows the palm, or when a pen comes near.
    if (event.type === "pointercancel" && touches) return drop();
    active = undefined;
    if (tap) events.hover?.(tap.x, tap.y);
    else events.end();
    tap = undefined;
  };
  for (const type of ["pointerdown", "pointermove", "pointerup"] as const) {
    canvas.addEventListener(type, ({ pointerType, timeStamp }) => {
      if (pointerType === "pen") lastPenTime = timeStamp;
    });
  }
  canvas.addEventListener("dragstart", (event) => event.preventDefault());
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("lostpointercapture", lift);
}

function listenToKeys(canvas: HTMLCanvasElement, keyPen: KeyPen, events: PadEvents, across: number): void {
  const point = (): Point => ({ x: keyPen.x, y: keyPen.y, width: PEN });
  const within = (value: number, side: number) => Math.min(side - PEN / 2, Math.max(PEN / 2, value));

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow) {
      const step = event.shiftKey ? 28 : 7;
      keyPen.x = within(keyPen.x + arrow[1] * step, SIDE * across);
      keyPen.y = within(keyPen.y + arrow[0] * step, SIDE);
      if (keyPen.down) events.extend([point()]);
      else events.hover?.(keyPen.x, keyPen.y);
    } else if (event.key === " " || event.key === "Enter") {
      if (event.repeat) return event.preventDefault();
      const down = !keyPen.down;
      if (down) events.begin(point());
      else events.end();
      keyPen.down = down; // after begin(), because replacing the drawing lifts the pen
    } else return;
    event.preventDefault();
    keyPen.visible = true;
    events.moved();
  });
  canvas.addEventListener("focus", () => requestAnimationFrame(() => { // Firefox knows only then whether keys led here
    keyPen.visible ||= canvas.matches(":focus-visible");
    events.moved();
  }));
  canvas.addEventListener("blur", () => {
    if (keyPen.down) events.end();
    keyPen.down = keyPen.visible = false;
    events.moved();
  });
}

/** The strokes before the last one, drawn once on a canvas of their own: a frame costs the same however many they are. */
interface Layer { canvas: HTMLCanvasElement; strokes: readonly Stroke[]; ink: string }
const layers = new WeakMap<HTMLCanvasElement, Layer>();

/** The layer for a canvas of such a width, with these strokes. What it has already is not drawn again. */
function layerFor(width: number, strokes: readonly Stroke[], ink: string, across: number, old?: Layer): Layer {
  const fits = old && old.canvas.width === width && old.ink === ink && old.strokes.every((stroke, at) => stroke === strokes[at]);
  const canvas = fits ? old.canvas : document.createElement("canvas");
  if (!fits) Object.assign(canvas, { width, height: Math.round(width / across) });
  const context = canvas.getContext("2d")!;
  context.setTransform(width / (SIDE * across), 0, 0, canvas.height / SIDE, 0, 0);
  drawStrokes(context, strokes.slice(fits ? old.strokes.length : 0), ink);
  return { canvas, strokes, ink };
}

/** Draws strokes in a canvas's context in pad units. */
export function drawInk(context: CanvasRenderingContext2D, strokes: readonly Stroke[], ink: string, across = 1): void {
  const { canvas } = context;
  const layer = layerFor(canvas.width, strokes.slice(0, -1), ink, across, layers.get(canvas));
  layers.set(canvas, layer);
  context.drawImage(layer.canvas, 0, 0, SIDE * across, SIDE);
  drawStrokes(context, strokes.slice(-1), ink);
}

/** Draws the sheet and, if shown, the keyboard's pen, in the canvas's CSS colours. */
export function drawPad(canvas: HTMLCanvasElement, { strokes, photo }: Sheet, keyPen: KeyPen, across = 1): void {
  const context = inPadUnits(canvas, across);
  if (photo) drawPhoto(context, photo);
  drawInk(context, strokes, getComputedStyle(canvas).color, across);
  canvas.classList.toggle("by-keys", keyPen.visible);
  if (!keyPen.visible) return;
  context.lineWidth = 2;
  context.strokeStyle = getComputedStyle(canvas).accentColor;
  context.beginPath();
  context.arc(keyPen.x, keyPen.y, keyPen.down ? PEN / 2 : PEN / 2 + 4, 0, 2 * Math.PI);
  context.moveTo(keyPen.x - 4, keyPen.y);
  context.lineTo(keyPen.x + 4, keyPen.y);
  context.moveTo(keyPen.x, keyPen.y - 4);
  context.lineTo(keyPen.x, keyPen.y + 4);
  context.stroke();
}
