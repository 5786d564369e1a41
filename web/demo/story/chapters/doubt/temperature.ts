/** The slider of temperatures, on which the model's own is marked. */
import type { VitConfig } from "vitrine";
import { button, h } from "../../../dom.ts";
import { decimal } from "../../../texts/words.ts";
import type { Choices } from "../../choices.ts";
import { temperaturesFor } from "./reliability.ts";
import type { Words } from "./texts/en.ts";

/** `change` is called after each move, with what the slider says; `done` where the move is over. */
export function buildTemperature(words: Words["softmax"], choices: Choices, change: (says: string, done: boolean) => void) {
  let temperatures: number[] = [], own = 1;
  const says = h("output"), mark = h("option"), marks = h("datalist", { id: "doubt-temperatures" }, mark);
  const show = () => {
    const temperature = temperatures[input.valueAsNumber]!;
    input.ariaValueText = says.textContent = (temperature === own ? words.temperatureOwn : words.temperatureIs)({ t: decimal(temperature, 2) });
    input.dataset.temperature = String(temperature);
  };
  const { label, input } = choices.slider("temperature", words.temperature, [0, 1, 1], 0, () => {
    show();
    change(says.textContent!, false);
  });
  input.setAttribute("list", marks.id);
  const goBack = () => {
    choices.set("temperature", undefined);
    input.value = mark.value;
    show();
  };
  const back = button(words.ownTemperature, () => {
    goBack();
    change(says.textContent!, true);
  });
  label.append(says, marks);
  return {
    root: h("div", { className: "temperature" }, label, back),
    get value() {
      return temperatures[input.valueAsNumber]!;
    },
    /** Takes the model's own temperature; for the first model the one that was chosen before, if any. */
    fit(config: Readonly<VitConfig>): void {
      const isFirst = temperatures.length === 0;
      temperatures = temperaturesFor(config);
      own = config.temperature;
      input.max = String(temperatures.length - 1);
      mark.value = String(temperatures.indexOf(own));
      if (isFirst && choices.restore("temperature", input)) show();
      else goBack();
    },
  };
}
