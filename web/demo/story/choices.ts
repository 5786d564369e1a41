/** The visitor's choices in the chapters, by the names that links have for them. A chapter asks for its own when it is built. */
import { chips, slider } from "../dom.ts";
import type { State } from "../state.ts";

export class Choices {
  readonly #made: State["chapterChoices"];

  constructor(made: State["chapterChoices"]) {
    this.#made = made;
  }

  of(name: string): string | undefined {
    return this.#made.get(name);
  }

  /** Whether anything was chosen whose name begins so. */
  has(beginning: string): boolean {
    return [...this.#made.keys()].some((name) => name.startsWith(beginning));
  }

  /** Keeps what the visitor chose; undefined is as at first. */
  set(name: string, value: string | number | boolean | undefined): void {
    if (value === undefined) this.#made.delete(name);
    else this.#made.set(name, typeof value === "boolean" ? (value ? "on" : "off") : String(value));
  }

  /** Gives a control the value that was chosen before, if the control has it. Says whether it does. */
  restore(name: string, control: HTMLInputElement | HTMLSelectElement): boolean {
    const value = this.of(name), before = control.value;
    if (value === undefined) return false;
    if (control instanceof HTMLInputElement && control.type === "checkbox") {
      control.checked = value === "on";
      return true;
    }
    control.value = value; // a range takes the nearest, a list none
    if (control.value === value) return true;
    control.value = before;
    return false;
  }

  /** Sets a slider's end for a model. The slider stands there unless the visitor chose otherwise, for the first model. */
  endAt(name: string, input: HTMLInputElement, most: number, isFirst: boolean): void {
    if (!isFirst) this.set(name, undefined);
    input.max = String(most); // before the value, which it limits
    input.value = input.max;
    this.restore(name, input);
  }

  slider(name: string, ...[text, range, value, change]: Parameters<typeof slider>) {
    const made = slider(text, range, value, (value) => {
      this.set(name, value);
      change(value);
    });
    this.restore(name, made.input);
    return made;
  }

  chips<Name extends string>(name: string, ...[legend, options, first, choose]: Parameters<typeof chips<Name>>) {
    const [before = first] = options.find(([option]) => option === this.of(name)) ?? [];
    return chips(legend, options, before, (chosen) => {
      this.set(name, chosen);
      choose(chosen);
    });
  }
}
