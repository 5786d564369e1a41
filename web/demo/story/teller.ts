/** The model that tells the story: the plain one. A visitor may ask for the page's model instead, or for digits-stem if the page's is plain. */
import { Vit } from "vitrine";
import { MODELS, type ModelFile } from "../models.ts";
import { inWords } from "../status.ts";
import type { State } from "../state.ts";

const PLAIN = MODELS[0]!, STEM = MODELS.find(({ id }) => id === "digits-stem")!;

export type Teller = ReturnType<typeof buildTeller>;

/** `changed` is called when another model reads, `failed` when one did not load. */
export function buildTeller(state: State, changed: () => void, failed: (why: string, retry: () => void) => void) {
  const loads = new Map<ModelFile, Vit | "loading" | "failed">();
  const load = (file: ModelFile) => {
    loads.set(file, "loading");
    Vit.load(new URL(file.url, document.baseURI)).then((model) => loads.set(file, model), (error: unknown) => {
      loads.set(file, "failed"); // the page's model reads
      failed(inWords(error), () => {
        loads.delete(file);
        changed();
      });
    }).finally(changed);
  };
  const readerFile = () => (made.reader === "plain" ? PLAIN : made.other) ?? PLAIN;
  const isPages = () => readerFile().id === state.choice?.id || loads.get(readerFile()) === "failed";
  const made = {
    /** "page" asks for the other one: addresses hold this word. */
    reader: "plain" as "plain" | "page",
    /** What else than the plain model may tell the story. */
    get other() {
      return state.choice?.id === PLAIN.id ? STEM : state.choice;
    },
    /** Where the model came from. */
    get choice() {
      return isPages() ? state.choice : readerFile();
    },
    get file() {
      return made.choice!.own?.file ?? made.choice!.url;
    },
    model(): Vit | undefined {
      if (isPages()) return state.model;
      const loaded = loads.get(readerFile());
      if (!loaded) load(readerFile());
      return typeof loaded === "string" ? undefined : loaded;
    },
  };
  return made;
}
