/** Reads what a link holds beside the drawing: map, layer, head and patch, the chapter, and choices in chapters. */
import type { VitConfig } from "vitrine";
import { shapeOf } from "./pixels.ts";
import type { MapKind, View } from "./state.ts";

export interface LinkState {
  view?: Omit<View, "strength">;
  chapter?: string; // its id
  choices: [name: string, value: string][];
  signs?: string;
}

const CHOICE = /^([a-z0-9-]{1,24})\.([\w.-]{1,64})$/;
const MOST_CHOICES = 64;
/** Examples of signs: teach/text.ts. */
const SIGNS = /^[\w.~%!'()*-]{1,16000}$/;
const VIEW = /^(class|patch|rollout)\.(\d{1,4})\.(\d{1,4}|mean)\.(\d{1,4})\.(\d{1,4})$/;

export function firstView(config: Readonly<VitConfig>): Omit<View, "strength"> {
  const { gridRows, gridCols } = shapeOf(config);
  return { map: "class", layer: config.depth - 1, head: "mean", patch: [gridRows >> 1, gridCols >> 1] };
}

/** The reverse of send.ts. What is not well-formed is left out. */
export function readLink(fragment: URLSearchParams): LinkState {
  const [, map, layer, head, row, col] = VIEW.exec(fragment.get("view") ?? "") ?? [];
  const chapter = fragment.get("at") ?? undefined;
  const view = map && {
    map: map as MapKind,
    layer: Number(layer),
    head: head === "mean" ? ("mean" as const) : Number(head),
    patch: [Number(row), Number(col)] as View["patch"],
  };
  const choices = (fragment.get("set") ?? "").split("~", MOST_CHOICES).flatMap((text): LinkState["choices"] => {
    const [, name, value] = CHOICE.exec(text) ?? [];
    return name && value ? [[name, value]] : [];
  });
  const signs = fragment.get("signs") ?? "";
  return { choices, ...(fragment.has("signs") && { signs: SIGNS.test(signs) ? signs : "" }), ...(view && { view }), ...(chapter && /^[a-z-]{1,20}$/.test(chapter) && { chapter }) };
}

/** Whether a model has the layer, the head and the patch. */
export function isIn({ layer, head, patch }: Omit<View, "strength">, config: Readonly<VitConfig>): boolean {
  const { gridRows, gridCols } = shapeOf(config);
  return layer < config.depth && (head === "mean" || head < config.heads) && patch[0] < gridRows && patch[1] < gridCols;
}
