/** The page's two tabs: drawing a digit, and one's own ViT, whose code comes when it is opened. */
import { dropped, type Found } from "./own/files.ts";

const NAMES = ["draw", "own"] as const;
type Name = (typeof NAMES)[number];

const element = (id: string) => document.getElementById(id)!;
const tab = (name: Name) => element(`tab-${name}`);

let own: Promise<typeof import("./own/main.ts")> | undefined;
const openOwn = () => (own ??= import("./own/main.ts"));

export const isOpen = (name: Name): boolean => !element(name).hidden;

/** The address after its # says which is open. */
function open(name: Name): void {
  for (const each of NAMES) {
    element(each).hidden = each !== name;
    tab(each).ariaSelected = String(each === name);
    tab(each).tabIndex = each === name ? 0 : -1;
  }
  const address = name === "own" ? "#own" : location.pathname + location.search;
  const asked = (location.hash === "#own") === (name === "own");
  history[asked ? "replaceState" : "pushState"](null, "", address); // so that Back returns
  if (name === "own") void openOwn();
  else void own?.then(({ leave }) => leave());
}

async function accept(files: Promise<Found[]>): Promise<void> {
  open("own");
  const [{ accept }, found] = await Promise.all([openOwn(), files]);
  accept(found);
}

const hasFiles = (data: DataTransfer | null) => data?.types.includes("Files") ?? false;

NAMES.forEach((name, index) => {
  const other = NAMES[1 - index];
  tab(name).addEventListener("click", () => open(name));
  tab(name).addEventListener("keydown", ({ key }) => {
    if (key !== "ArrowLeft" && key !== "ArrowRight") return;
    open(other);
    tab(other).focus();
  });
});
// A file dropped anywhere is for the model, not for the browser to open in our place.
document.addEventListener("dragover", (event) => {
  if (hasFiles(event.dataTransfer)) event.preventDefault();
});
document.addEventListener("drop", (event) => {
  if (!hasFiles(event.dataTransfer)) return;
  event.preventDefault();
  void accept(dropped(event.dataTransfer!));
});
document.addEventListener("paste", ({ clipboardData }) => {
  if (hasFiles(clipboardData)) void accept(dropped(clipboardData!));
});
const follow = () => open(location.hash === "#own" ? "own" : "draw");
addEventListener("hashchange", follow);
addEventListener("popstate", follow);
follow();
