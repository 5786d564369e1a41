/** The page's two tabs. The code of the second one, for one's own ViT, loads when it is opened. */
import { element } from "./dom.ts";
import { isolate } from "./offline/isolate.ts";
import type { Given } from "./own/files.ts";
import { withRemedy } from "./remedy.ts";
import { showError } from "./status.ts";
import { words } from "./texts/words.ts";

const NAMES = ["draw", "own"] as const;
type Name = (typeof NAMES)[number];

const tab = (name: Name) => element(`tab-${name}`);

type Own = typeof import("./own/main.ts");
let own: Promise<Own> | undefined;
let failed = false;

/** The id of a button of the second tab that was pressed before its code was there. */
let pressed = "";
const keepPress = ({ target }: Event) => {
  pressed = (target as Element).closest("button[data-text]")?.id || pressed;
};
element("own").addEventListener("click", keepPress);

const hostAnswers = () => fetch(location.href, { cache: "no-store" }).then(({ ok }) => ok, () => false);

/**
 * Loads the second tab's code once, and tries again after a failure. Firefox repeats a failed
 * import's error until the page is reloaded. A reload keeps the drawing and the tab.
 */
async function withOwn(use: (own: Own) => void): Promise<void> {
  const status = element("own-status");
  own ??= import("./own/main.ts");
  const code = await own.catch(() => undefined);
  if (code) {
    if (status.querySelector("#own-retry")) Object.assign(status, { className: "", textContent: "" });
    use(code);
    element("own").removeEventListener("click", keepPress);
    code.press(pressed);
    pressed = "";
    return;
  }
  own = undefined;
  if (failed && (await hostAnswers())) return location.reload();
  failed = true;
  const retry = () => void withOwn(use);
  showError(status, withRemedy(words.trouble.tab), retry);
}

export const isOpen = (name: Name): boolean => !element(name).hidden;

function show(name: Name): void {
  for (const each of NAMES) {
    element(each).hidden = each !== name;
    tab(each).ariaSelected = String(each === name);
    tab(each).tabIndex = each === name ? 0 : -1;
  }
  element("story").hidden = name !== "draw";
  if (name === "draw") void own?.then(({ leave }) => leave(), () => {});
}

/** Puts the open tab into the address's fragment, so that Back returns to the other tab. */
function enter(name: Name): void {
  const address = name === "own" ? "#own" : location.pathname + location.search;
  if ((location.hash === "#own") !== (name === "own")) history.pushState(null, "", address);
}

function follow(): void {
  const name = location.hash === "#own" ? "own" : "draw";
  show(name);
  if (name === "own" && !isolate()) void withOwn(() => {});
}

function open(name: Name): void {
  enter(name);
  follow();
}

let takeFiles = async (_given: Given): Promise<boolean> => false;

/** Sets what takes files that come to the first tab. It tells whether they are for that tab. */
export const onFiles = (take: typeof takeFiles): void => void (takeFiles = take);

/** Gives files to the tab that they are for. The second one opens without a reload, which would lose the files. */
async function accept({ items, files }: DataTransfer): Promise<void> {
  // Taken now, because the event's items are gone afterwards.
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry != null);
  const given = { entries, files: [...files] };
  if (isOpen("draw") && (await takeFiles(given))) return;
  enter("own");
  show("own");
  await withOwn(({ receive }) => void receive(given));
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

/** Lights up what takes files, while some are over the page. */
const light = (on: boolean) => document.body.classList.toggle("dragging", on);
// A file dropped anywhere goes to the model. Otherwise the browser would leave the page and open it.
document.addEventListener("dragover", (event) => {
  const over = hasFiles(event.dataTransfer);
  light(over);
  if (over) event.preventDefault();
});
document.addEventListener("dragleave", ({ relatedTarget }) => {
  if (!relatedTarget) light(false); // the pointer has left the page, not only one element
});
document.addEventListener("drop", (event) => {
  light(false);
  if (!hasFiles(event.dataTransfer)) return;
  event.preventDefault();
  void accept(event.dataTransfer!);
});
document.addEventListener("paste", ({ clipboardData }) => {
  if (hasFiles(clipboardData)) void accept(clipboardData!);
});
addEventListener("hashchange", follow);
addEventListener("popstate", follow);
follow();
