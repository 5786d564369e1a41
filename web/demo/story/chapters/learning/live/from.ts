/** Where the images come from: MNIST, or files of the visitor's own, which stay in the tab. */
import { inWords } from "../../../../remedy.ts";
import type { Texts } from "../../../../texts/en.ts";
import { whole } from "../../../../texts/words.ts";
import { chips, h } from "../../../../dom.ts";
import { MNIST } from "./digits.ts";
import type { Meter } from "./meter.ts";
import { photosIn, readIdx, type Source, sourceOf } from "./own.ts";
import { shrinkGrey, shrinkPhotos } from "./shrink.ts";

type Prepared = (done: number, all: number) => void;

/** As the package prepares photos, so that the saved model reads those that it has not seen. */
const PHOTO = { kind: "photo", resize: 28, crop: 28, mean: [0], std: [1], interpolation: "bilinear" };

/** What makes images to train on of chosen files. */
const READ = {
  async folder(files: readonly File[], prepared: Prepared): Promise<Source> {
    const { names, photos, labels } = photosIn(files);
    const pixels = await shrinkPhotos(photos, (done) => prepared(done, photos.length));
    return sourceOf({ names, labels, pixels }, PHOTO);
  },
  async idx(files: readonly File[]): Promise<Source> {
    return sourceOf(shrinkGrey(await readIdx(files)));
  },
};
type SourceKind = keyof typeof READ;
const KINDS = Object.keys(READ) as SourceKind[];

/**
 * The meter of the run that the buttons act on tells how far the files are read. `changed` is called when there
 * are other images to train on. Files that are refused change nothing.
 */
export function buildFrom({ learning: { live: words } }: Texts, meter: () => Pick<Meter, "say" | "prepared">, changed: () => void) {
  let source: Source = MNIST, asked = 0;
  const says = h("p", { id: "learning-live-own", className: "grid-legend" });
  const use = (next: Source) => {
    source = next;
    says.textContent = next.names ? words.own(next.names.join(", "), whole(next.train), whole(next.test)) : "";
    changed();
  };
  const read = async (kind: SourceKind, files: readonly File[]) => {
    const mine = ++asked, { say, prepared } = meter();
    say(words.loading);
    try {
      const next = await READ[kind](files, (done, all) => mine === asked && prepared(done, all));
      if (mine !== asked) return;
      use(next);
      say(says.textContent);
    } catch (error) {
      if (mine === asked) say(words.refused(inWords(error)));
    }
  };
  const picks = KINDS.map((kind) => {
    const input = h("input", { type: "file", id: `live-${kind}`, multiple: true, webkitdirectory: kind === "folder" });
    input.addEventListener("change", () => {
      const files = [...input.files!];
      input.value = ""; // so that the same files can be chosen again
      if (files.length > 0) void read(kind, files);
    });
    return h("label", { hidden: true, data: { kind } }, words.pick[kind], input);
  });
  const how = h("p", { hidden: true }, words.shrunk);
  const choose = (chosen: SourceKind | "mnist") => {
    for (const pick of picks) pick.hidden = pick.dataset.kind !== chosen;
    how.hidden = chosen === "mnist";
    if (chosen !== "mnist") return;
    asked++;
    use(MNIST);
  };
  const names = (["mnist", ...KINDS] as const).map((kind) => [kind, words.sources[kind]] as const);
  return {
    root: h("div", { className: "live-from" }, chips(words.from, names, "mnist", choose).root, ...picks, how, says),
    get source() {
      return source;
    },
  };
}
