/** Takes the taught model away and brings it back: download, upload, and a link that holds the examples. */
import { pack } from "../../pack.ts";
import { download } from "../../picture.ts";
import { inWords } from "../../remedy.ts";
import type { Texts } from "../../texts/en.ts";
import { words } from "../../texts/words.ts";
import { button, h, named } from "../dom.ts";
import { readTaught } from "./learn.ts";
import type { Shelves } from "./shelf.ts";
import { packExamples, unpackExamples } from "./text.ts";

const NAME = "my-signs.safetensors";
/** Longer addresses are cut by some programs. */
const MOST_LINK = 8000;

export function buildTakeaway(texts: Texts["teachIt"], shelves: Shelves, say: (text: string) => void) {
  const input = h("input", { type: "file", id: "teach-it-file", className: "unseen", ariaLabel: texts.upload, tabIndex: -1 });
  input.addEventListener("change", async () => {
    const [file] = input.files ?? [];
    if (!file) return;
    try {
      shelves.change(await readTaught(file));
      say(texts.uploaded(file.name));
    } catch (error) {
      say(texts.refused(file.name, inWords(error)));
    }
    input.value = "";
  });
  /** A link's examples come by this control: ../choices.ts sets it. */
  const linked = named("signs", h("input", { hidden: true, ariaLabel: texts.link }));
  linked.addEventListener("input", () => {
    const examples = unpackExamples(linked.value);
    if (examples) shelves.change({ examples });
    say(examples ? texts.linked : texts.damaged);
    linked.value = "";
  });
  const save = button(texts.download, () => {
    const { taught } = shelves.now;
    if (taught) download(new Blob([taught], { type: "application/octet-stream" }), NAME);
  }, { id: "teach-it-download", className: "plain small" });
  const copy = button(texts.link, async () => say(await copyLink(shelves, texts)), { id: "teach-it-link", className: "plain small" });
  const kept = h("small");
  return {
    root: h("div", { className: "figure-tools" }, save,
      button(texts.upload, () => input.click(), { className: "plain small" }), copy, input, linked, kept),
    draw(): void {
      const { examples, taught } = shelves.now;
      save.ariaDisabled = String(!taught);
      copy.ariaDisabled = String(examples.length === 0);
      kept.textContent = shelves.kept === undefined || !shelves.canUndo && examples.length === 0 ? "" : shelves.kept ? texts.kept : texts.notKept;
    },
  };
}

async function copyLink({ now: { examples } }: Shelves, texts: Texts["teachIt"]): Promise<string> {
  const first = examples[0] && pack(examples[0].strokes);
  if (!first) return texts.noExamples;
  const fragment = new URLSearchParams({ d: first, at: "teach-it", signs: packExamples(examples) });
  const link = `${location.href.replace(/#.*/, "")}#${fragment}`;
  if (link.length > MOST_LINK) return texts.tooLarge;
  try {
    await navigator.clipboard.writeText(link);
    return words.share.copied;
  } catch {
    history.replaceState(null, "", link);
    return words.share.refused;
  }
}
