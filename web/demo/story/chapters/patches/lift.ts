/** The image, whose grid of patches lifts off. Pointer and arrow keys choose a patch. */
import { accent, css } from "../../../colour.ts";
import { scaled } from "../../../figure/canvas.ts";
import { choosePatch } from "../../../figure/cells.ts";
import { h } from "../../../dom.ts";
import { animate } from "../../../figure/motion.ts";
import { saveable } from "../../../figure/parts.ts";
import type { Scene } from "../../scene.ts";
import { paperOf } from "../../tokens.ts";
import type { Words } from "./texts/en.ts";

const SIDE = 280; // CSS pixels
const GAP = 0.16; // of a cell, between patches that have lifted off

export function buildLift(words: Words, choose: (patch: [row: number, column: number]) => void) {
  const canvas = saveable(h("canvas", {
    id: "patches-grid", tabIndex: 0, role: "application", aria: { roledescription: words.chooser, description: words.gridKeys },
  }), words.grid);
  let scene: Scene | undefined, lift = 1;
  const paint = () => scene && paintLift(canvas, scene, lift);
  choosePatch(
    canvas,
    { get model() { return scene?.model; }, get view() { return { patch: scene?.patch ?? [0, 0] }; } },
    (row, column, pressed) => pressed && choose([row, column]),
  );
  whenVisible(canvas, () => animate(1100, (over) => {
    lift = over;
    paint();
  }));

  return {
    root: h("figure", { className: "lift" }, canvas),
    draw(next: Scene) {
      scene = next;
      paint();
    },
    chosenBox() {
      const { left, top, width, height } = canvas.getBoundingClientRect();
      const [row, column] = scene?.patch ?? [0, 0];
      const { gridRows, gridCols } = scene!.shape;
      const [w, t] = [width / gridCols, height / gridRows];
      return new DOMRect(left + column * w, top + row * t, w, t);
    },
  };
}

/** Plays once, when most of the picture is on the screen. */
function whenVisible(canvas: HTMLElement, play: () => void): void {
  const observer = new IntersectionObserver(([entry]) => {
    if (!entry!.isIntersecting) return;
    observer.disconnect();
    play();
  }, { threshold: 0.6 });
  observer.observe(canvas);
}

/** `lift` 0: one image. 1: its patches are apart and float above the paper. */
function paintLift(canvas: HTMLCanvasElement, scene: Scene, lift: number): void {
  const { patch, dark, shape: { gridRows, gridCols, patchRows, patchCols } } = scene, image = paperOf(scene);
  const context = scaled(canvas, SIDE, SIDE);
  context.imageSmoothingEnabled = false;
  const [width, height] = [SIDE / gridCols, SIDE / gridRows];
  const inset = (GAP / 2) * width * lift;
  for (let row = 0; row < gridRows; row++) {
    for (let column = 0; column < gridCols; column++) {
      const [x, y, w, t] = [column * width + inset, row * height + inset, width - 2 * inset, height - 2 * inset];
      context.fillStyle = `rgb(0 0 0 / ${(dark ? 0.55 : 0.22) * lift})`;
      context.fillRect(x + inset * 0.8, y + inset * 1.2, w, t);
      context.drawImage(image, column * patchCols, row * patchRows, patchCols, patchRows, x, y, w, t);
    }
  }
  context.strokeStyle = css(accent(dark));
  context.lineWidth = SIDE / 90;
  context.strokeRect(patch[1] * width + inset, patch[0] * height + inset, width - 2 * inset, height - 2 * inset);
}
