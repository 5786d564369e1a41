/** The test digits on which the measured model has its greatest loss, to choose from. */
import address from "virtual:worst-digits"; // see web/demo/worst.mjs
import { paint, tone } from "../../../colour.ts";
import { button, h } from "../../../dom.ts";
import { bytesOf } from "../../bytes.ts";
import type { Measured } from "./reliability.ts";
import type { Words } from "./texts/en.ts";

/** One of MNIST's test images. */
export interface Digit {
  index: number; // its place among the test images, from 0
  truth: number;
  pixels: Uint8Array<ArrayBuffer>; // (28, 28): light ink on black
}

const SIDE = 28;

export function buildWorst(measured: Measured, words: Words["right"], choose: (digit: Digit) => void) {
  const strip = h("div", { className: "worst" });
  const root = h("div", { className: "figure" }, h("h3", {}, words.worst), h("p", {}, words.worstLead({ model: measured.model })), strip);
  let buttons: [digit: Digit, press: HTMLButtonElement, picture: HTMLCanvasElement][] = [];
  let dark = false;
  const paintAll = () => buttons.forEach(([digit, , picture]) => paintDigit(picture, digit, dark));
  const show = (digits: Digit[]) => {
    buttons = digits.map((digit) => {
      const picture = h("canvas", { ariaHidden: "true" });
      const press = button("", () => choose(digit), {
        aria: { pressed: "false", label: words.digit({ number: String(digit.index), truth: digit.truth }) }, data: { index: String(digit.index) },
      });
      press.append(picture);
      return [digit, press, picture];
    });
    strip.replaceChildren(...buttons.map(([, press]) => press));
    paintAll();
  };
  if (!address) strip.replaceWith(h("p", { className: "without" }, words.without));
  else void load(address, measured).then(show, () => strip.replaceWith(h("p", { className: "without" }, words.notLoaded)));
  return {
    root,
    draw(chosen: Digit | undefined, isDark: boolean): void {
      for (const [digit, press] of buttons) press.ariaPressed = String(digit.index === chosen?.index);
      if (dark === isDark) return;
      dark = isDark;
      paintAll();
    },
  };
}

export const paintDigit = (canvas: HTMLCanvasElement, { pixels }: Digit, dark: boolean): void =>
  paint(canvas, SIDE, SIDE, (row, column) => tone(pixels[row * SIDE + column]! / 255, dark));

/** The file holds the labels, a byte each, then the images. */
async function load(from: string, { worst }: Measured): Promise<Digit[]> {
  const bytes = await bytesOf(from, "the test digits"), count = worst.length, size = SIDE * SIDE;
  if (bytes.length !== count * (1 + size)) throw new Error(`expected ${count} test digits, got ${bytes.length} bytes`);
  return worst.map((index, at) => ({
    index, truth: bytes[at]!, pixels: bytes.slice(count + at * size, count + (at + 1) * size),
  }));
}
