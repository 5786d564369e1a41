/** The slider of temperatures, on which the model's own is marked. */
import type { VitConfig } from "vitrine";
import type { Texts } from "../../texts/en.ts";
import { decimal } from "../../texts/words.ts";
import { button, h, named, slider } from "../../dom.ts";
import { temperaturesFor } from "./reliability.ts";

/** `change` is called after each move, with what the slider says; `done` where the move is over. */
export function buildTemperature(words: Texts["doubt"], change: (says: string, done: boolean) => void) {
  let temperatures: number[] = [], own = 1, at = 0;
  const says = h("output"), mark = h("option"), marks = h("datalist", { id: "doubt-temperatures" }, mark);
  const show = () => {
    const temperature = temperatures[at]!;
    says.textContent = words.temperatureIs(decimal(temperature, 2), temperature === own);
    input.value = String(at);
    input.setAttribute("aria-valuetext", says.textContent);
    input.dataset.temperature = String(temperature);
  };
  const move = (to: number, done: boolean) => {
    at = to;
    show();
    change(says.textContent!, done);
  };
  const { label, input } = slider(words.temperature, [0, 1, 1], 0, (value) => move(value, false));
  named("temperature", input).setAttribute("list", marks.id);
  const back = button("", () => move(temperatures.indexOf(own), true));
  label.append(says, marks);
  return {
    root: h("div", { className: "temperature" }, label, back),
    get value() {
      return temperatures[at]!;
    },
    /** Takes the model's own temperature. */
    fit(config: Readonly<VitConfig>): void {
      temperatures = temperaturesFor(config);
      own = config.temperature;
      at = temperatures.indexOf(own);
      input.max = String(temperatures.length - 1);
      mark.value = String(at);
      back.textContent = words.ownTemperature(decimal(own, 2));
      show();
    },
  };
}
