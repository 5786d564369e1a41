/** The model that tells the story: the plain one, or the page's if the visitor asks for it. */
import { Vit } from "vitrine";
import { MODELS, type ModelFile } from "../models.ts";
import { inWords } from "../remedy.ts";
import type { State } from "../state.ts";

const PLAIN = MODELS.find(({ id }) => id === "digits-plain")!;

export class Teller {
  wanted: "plain" | "page" = "plain";
  readonly #state: State;
  readonly #loaded: () => void;
  readonly #failed: (why: string, retry: () => void) => void;
  #plain: Vit | "loading" | "failed" | undefined;

  constructor(state: State, loaded: () => void, failed: (why: string, retry: () => void) => void) {
    this.#state = state;
    this.#loaded = loaded;
    this.#failed = failed;
  }

  /** Where it came from. */
  get choice(): ModelFile | undefined {
    return this.#isPages ? this.#state.choice : PLAIN;
  }

  get file(): string | Uint8Array<ArrayBuffer> {
    return this.choice!.own?.file ?? this.choice!.url;
  }

  /** Undefined while it loads. */
  model(): Vit | undefined {
    if (this.#isPages) return this.#state.model;
    this.#plain ??= this.#load();
    return typeof this.#plain === "string" ? undefined : this.#plain;
  }

  /** Whether the page itself reads by the plain model. */
  get pageIsPlain(): boolean {
    return this.#state.choice?.id === PLAIN.id;
  }

  get #isPages(): boolean {
    return this.wanted === "page" || this.pageIsPlain || this.#plain === "failed";
  }

  #load(): "loading" {
    Vit.load(new URL(PLAIN.url, document.baseURI)).then(
      (model) => (this.#plain = model),
      (error: unknown) => {
        this.#plain = "failed"; // the page's model reads
        this.#failed(inWords(error), () => {
          this.#plain = undefined;
          this.#loaded();
        });
      },
    ).finally(this.#loaded);
    return "loading";
  }
}
