/** The model that tells the story: the plain one, or the page's if the visitor asks for it. */
import { Vit } from "vitrine";
import { MODELS } from "../models.ts";
import { inWords } from "../remedy.ts";
import type { State } from "../state.ts";

const PLAIN = MODELS.find(({ id }) => id === "digits-plain")!;

export type Teller = ReturnType<typeof buildTeller>;

/** `changed` is called when another model reads, `failed` when the plain one did not load. */
export function buildTeller(state: State, changed: () => void, failed: (why: string, retry: () => void) => void) {
  let plain: Vit | "loading" | "failed" | undefined;
  const load = () => {
    plain = "loading";
    Vit.load(new URL(PLAIN.url, document.baseURI)).then((model) => (plain = model), (error: unknown) => {
      plain = "failed"; // the page's model reads
      failed(inWords(error), () => {
        plain = undefined;
        changed();
      });
    }).finally(changed);
  };
  const isPages = () => made.wanted === "page" || made.pageIsPlain || plain === "failed";
  const made = {
    wanted: "plain" as "plain" | "page",
    /** Whether the page itself reads by the plain model. */
    get pageIsPlain() {
      return state.choice?.id === PLAIN.id;
    },
    /** Where the model came from. */
    get choice() {
      return isPages() ? state.choice : PLAIN;
    },
    get file() {
      return made.choice!.own?.file ?? made.choice!.url;
    },
    /** Undefined while it loads. */
    model(): Vit | undefined {
      if (isPages()) return state.model;
      if (!plain) load();
      return typeof plain === "string" ? undefined : plain;
    },
  };
  return made;
}
