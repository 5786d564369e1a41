/** What a link holds beside the drawing: the choice of map, layer, head and patch, and the chapter. */
import type { VitConfig } from "vitrine";
import { shapeOf } from "./pixels.ts";
import type { MapKind, View } from "./state.ts";

export interface Place {
  view?: Omit<View, "strength">;
  chapter?: string; // its id
}

const MAPS: readonly MapKind[] = ["class", "patch", "rollout"];
const VIEW = /^(class|patch|rollout)\.(\d{1,4})\.(\d{1,4}|mean)\.(\d{1,4})\.(\d{1,4})$/;

/** The view that the page begins with. */
export function firstView(config: Readonly<VitConfig>): Omit<View, "strength"> {
  const { gridRows, gridCols } = shapeOf(config);
  return { map: "class", layer: config.depth - 1, head: "mean", patch: [gridRows >> 1, gridCols >> 1] };
}

const written = ({ map, layer, head, patch }: Omit<View, "strength">) => [map, layer, head, ...patch].join(".");

/** "&view=patch.3.mean.2.4&at=score". What is as at first is left out. */
export function writePlace(view: View, config: Readonly<VitConfig> | undefined, chapter: string | undefined): string {
  const changed = config && written(view) !== written(firstView(config));
  return (changed ? `&view=${written(view)}` : "") + (chapter ? `&at=${chapter}` : "");
}

/** The reverse. What is not well-formed is left out. */
export function readPlace(fragment: URLSearchParams): Place {
  const [, map, layer, head, row, col] = VIEW.exec(fragment.get("view") ?? "") ?? [];
  const chapter = fragment.get("at") ?? undefined;
  const view = map && {
    map: MAPS.find((kind) => kind === map)!,
    layer: Number(layer),
    head: head === "mean" ? ("mean" as const) : Number(head),
    patch: [Number(row), Number(col)] as View["patch"],
  };
  return { ...(view && { view }), ...(chapter && /^[a-z]{1,20}$/.test(chapter) && { chapter }) };
}

/** Whether a model has the layer, the head and the patch. */
export function isIn({ layer, head, patch }: Omit<View, "strength">, config: Readonly<VitConfig>): boolean {
  const { gridRows, gridCols } = shapeOf(config);
  return layer < config.depth && (head === "mean" || head < config.heads) && patch[0] < gridRows && patch[1] < gridCols;
}

/** The id of the chapter in the middle of the screen; undefined above the story. */
export function chapterShown(): string | undefined {
  for (const chapter of document.querySelectorAll("#chapters .chapter")) {
    const { top, bottom } = chapter.getBoundingClientRect();
    if (top <= innerHeight / 2 && bottom > innerHeight / 2) return chapter.id;
  }
  return undefined;
}
