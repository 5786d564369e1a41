/** The controls for map, layer, head and strength. Both tabs have them. */
import type { VitConfig } from "vitrine";
import type { View } from "./state.ts";
import { words } from "./texts/words.ts";

/** A view whose `map` is one of the options of its own control. */
type ViewWith<Map> = Omit<View, "map"> & { map: Map };
type Find = (id: string) => HTMLElement;

const select = (find: Find, id: string) => find(id) as HTMLSelectElement;

/** Fills in one option for each layer, one for each head and one for the mean of all heads. */
export function fillChoices(find: Find, { depth, heads }: Readonly<VitConfig>): void {
  const numbers = (count: number) =>
    Array.from({ length: count }, (_, index) => new Option(String(index + 1)));
  select(find, "layer").replaceChildren(...numbers(depth));
  select(find, "head").replaceChildren(new Option(words.maps.mean, "mean"), ...numbers(heads));
}

export function showChoices<Map extends string>(find: Find, view: ViewWith<Map>, able: boolean): void {
  select(find, "map").value = view.map;
  for (const id of ["layer", "head"]) select(find, id).disabled = !able;
  select(find, "layer").value = String(view.layer + 1);
  select(find, "head").value = view.head === "mean" ? "mean" : String(view.head + 1);
}

/** Puts each choice into the view, then calls `changed`. */
export function listenToChoices<Map extends string>(
  find: Find,
  view: ViewWith<Map>,
  changed: (id: string) => void,
): void {
  const take: Record<string, (value: string) => void> = {
    map: (value) => (view.map = value as Map),
    layer: (value) => (view.layer = Number(value) - 1),
    head: (value) => (view.head = value === "mean" ? "mean" : Number(value) - 1),
    strength: (value) => (view.strength = Number(value) / 100),
  };
  for (const id of Object.keys(take)) {
    find(id).addEventListener("input", (event) => {
      take[id]((event.target as HTMLInputElement).value);
      changed(id);
    });
  }
}
