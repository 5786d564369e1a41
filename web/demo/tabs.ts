/** The page's tabs. The code of those after the first loads when they are opened. */
import { element } from "./dom.ts";
import { isolate } from "./offline/isolate.ts";
import { once } from "./once.ts";
import type { FileTransfer } from "./own/files.ts";
import { showError, withRemedy } from "./status.ts";
import { loadSentences } from "./texts/language.ts";
import { words } from "./texts/words.ts";

/** What a tab's code may do when the tab is opened or left, or when a button is pressed before the code is there. */
interface Code {
  enter?(): void;
  leave?(): void;
  press?(id: string): void;
}

const LOAD = {
  own: once(() => loadSentences().then(() => import("./own/main.ts"))),
  number: once(() => loadSentences().then(() => import("./number/main.ts"))),
};
const NAMES = ["draw", "own", "number"] as const;
type Name = (typeof NAMES)[number];
type Later = keyof typeof LOAD;

const tab = (name: Name) => element(`tab-${name}`);

const loaded: Partial<Record<Name, Code>> = {};
let failed = false;

/** The id of a button of the second tab that was pressed before its code was there. */
let pressed = "";
const keepPress = ({ target }: Event) => {
  pressed = (target as Element).closest("button[data-text]")?.id || pressed;
};
element("own").addEventListener("click", keepPress);

const hostAnswers = () => fetch(location.href, { cache: "no-store" }).then(({ ok }) => ok, () => false);

/**
 * Loads a tab's code once, and tries again after a failure. Firefox repeats a failed
 * import's error until the page is reloaded. A reload keeps the drawing and the tab.
 */
async function withCode<Tab extends Later>(name: Tab, use: (code: Awaited<ReturnType<(typeof LOAD)[Tab]>> & Code) => void): Promise<void> {
  const status = element(`${name}-status`);
  const code: Code | undefined = (loaded[name] = await LOAD[name]().catch(() => undefined));
  if (code) {
    if (status.querySelector(`#${name}-retry`)) Object.assign(status, { className: "", textContent: "" });
    use(code as Parameters<typeof use>[0]);
    if (!code.press) return;
    element("own").removeEventListener("click", keepPress);
    code.press(pressed);
    pressed = "";
    return;
  }
  if (failed && (await hostAnswers())) return location.reload();
  failed = true;
  showError(status, withRemedy(words.trouble.tab), () => void withCode(name, use));
}

export const isOpen = (name: Name): boolean => !element(name).hidden;

function show(name: Name): void {
  for (const each of NAMES) {
    element(each).hidden = each !== name;
    tab(each).ariaSelected = String(each === name);
    tab(each).tabIndex = each === name ? 0 : -1;
    if (each !== name) loaded[each]?.leave?.();
  }
  element("story").hidden = name !== "draw";
}

/** The tab of the address: #own, or #number=de with a language. */
const tabInAddress = (): Name => NAMES.find((name) => location.hash.split(/[=&]/)[0] === `#${name}`) ?? "draw";

/** Puts the open tab into the address's fragment, so that Back returns to the tab before. */
function enter(name: Name): void {
  if (tabInAddress() !== name) history.pushState(null, "", name === "draw" ? location.pathname + location.search : `#${name}`);
}

function follow(): void {
  const name = tabInAddress();
  show(name);
  if (name === "draw" || (name === "own" && isolate())) return;
  void withCode(name, (code: Code) => isOpen(name) && code.enter?.());
}

function open(name: Name): void {
  enter(name);
  follow();
}

let takeFiles = async (_transfer: FileTransfer): Promise<boolean> => false;

/** Sets what takes files that come to the first tab. It tells whether they are for that tab. */
export const onFiles = (take: typeof takeFiles): void => void (takeFiles = take);

/** Gives files to the tab that they are for. The second one opens without a reload, which would lose the files. */
async function accept({ items, files }: DataTransfer): Promise<void> {
  // Taken now, because the event's items are gone afterwards.
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry != null);
  const transfer = { entries, files: [...files] };
  if (isOpen("draw") && (await takeFiles(transfer))) return;
  enter("own");
  show("own");
  await withCode("own", ({ receive }) => void receive(transfer));
}

const hasFiles = (data: DataTransfer | null) => data?.types.includes("Files") ?? false;

NAMES.forEach((name, index) => {
  tab(name).addEventListener("click", () => open(name));
  tab(name).addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: NAMES.length - 1 }[key];
    if (!step) return;
    const other = NAMES[(index + step) % NAMES.length];
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
