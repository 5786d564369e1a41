/** The visitor's examples and the model that learnt them, kept in this browser until they are deleted. */
import type { LabelledDrawing } from "../../train/handwriting.ts";
import { packExamples, unpackExamples } from "./text.ts";

export interface Shelf {
  readonly examples: readonly LabelledDrawing[];
  readonly taught?: Bytes; // the taught model's file
  /** What the next lesson begins with: a model of the page by its id, or a file that brought no examples. */
  readonly base?: string | Bytes;
}
type Bytes = Uint8Array<ArrayBuffer>;

type StoredShelf = Omit<Shelf, "examples"> & { examples: string };

const DATABASE = "vitrine", STORE = "signs", KEY = "shelf";

/** Runs one request on the browser's database. */
function request<Value>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result, idbRequest = ask(database.transaction(STORE, mode).objectStore(STORE));
      idbRequest.transaction!.oncomplete = () => {
        database.close();
        resolve(idbRequest.result);
      };
      idbRequest.transaction!.onabort = () => {
        database.close();
        reject(idbRequest.transaction!.error);
      };
    };
  });
}

export class Shelves {
  now: Shelf = { examples: [] };
  /** What undo returns to. */
  readonly past: Shelf[] = [];
  #writing: Promise<unknown> = Promise.resolve();
  readonly #changed: () => void;
  /** Whether this browser keeps the shelf. Unknown until it has tried. */
  isStored: boolean | undefined;
  /** Settles when what an earlier visit left is here, which is no change. */
  readonly restored: Promise<void>;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.restored = this.#restore();
  }

  change(next: Shelf): void {
    this.past.push(this.now);
    this.#put(next);
  }

  undo(): void {
    const before = this.past.pop();
    if (before) this.#put(before);
  }

  #put(next: Shelf): void {
    this.now = next;
    this.#changed();
    this.#writing = this.#writing.then(() => this.#write(next));
  }

  async #write({ examples, ...rest }: Shelf): Promise<void> {
    const record: StoredShelf = { ...rest, examples: packExamples(examples) };
    const empty = examples.length === 0 && !rest.taught;
    const ask = (store: IDBObjectStore): IDBRequest => (empty ? store.delete(KEY) : store.put(record, KEY));
    const work = request("readwrite", ask);
    this.isStored = await work.then(() => true, () => false);
    this.#changed();
  }

  /** A shelf that is changed already stays. */
  async #restore(): Promise<void> {
    const record = await request<StoredShelf | undefined>("readonly", (store) => store.get(KEY)).catch(() => undefined);
    const examples = record && (record.examples === "" ? [] : unpackExamples(record.examples));
    if (!examples || this.past.length > 0) return;
    this.now = { ...record, examples };
    this.isStored = true;
  }
}
