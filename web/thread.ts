/** A thread that runs worker.js, a browser's Worker or one of Node's, and is asked by messages. */
import { reason, VitError, type VitErrorCode } from "./errors.js";
import type { Piece } from "./fetch.js";
import type { Picture } from "./images.js";
import type { CompiledModule } from "./module.js";
import { isNode, workerThreads } from "./node.js";
import type { ModelSource, Wants } from "./wasm.js";

/** What a thread can be asked, one after the other. */
export type Question =
  | { readonly begin: ModelSource }
  | { readonly feed: Piece }
  | { readonly end: number }
  | { readonly run: { readonly pictures: readonly Picture[]; readonly wants: Wants } }
  | { readonly join: { readonly module: CompiledModule; readonly memory: WebAssembly.Memory } }
  | { readonly help: { readonly index: number; readonly stack: number } };

export type Request = Question & { readonly id: number };

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { code: VitErrorCode; message: string } };

interface Channel {
  post(request: Request, transfer: Transferable[]): void;
  /** A busy thread keeps the Node process alive, an idle one does not. */
  busy(is: boolean): void;
  terminate(): void;
}

type Waiting = { resolve(value: never): void; reject(error: VitError): void };

export class Thread {
  readonly #waiting = new Map<number, Waiting>();
  #channel: Channel | undefined;
  #lost: VitError | undefined;
  #nextId = 0;

  /** @throws {VitError} code `worker_lost`; a thread that fails later rejects what it is asked. */
  static async start(): Promise<Thread> {
    const thread = new Thread();
    try {
      thread.#channel = await (isNode ? nodeChannel : browserChannel)(
        (reply) => thread.#answer(reply),
        (why) => thread.end(new VitError("worker_lost", `${why}; the next call starts a new one`)),
      );
      return thread;
    } catch (cause) {
      throw new VitError(
        "worker_lost",
        `expected a worker, got none (${reason(cause)}); serve vitrine from the page's own ` +
          "origin, or load without worker: true",
        { cause },
      );
    }
  }

  get lost(): boolean {
    return this.#lost !== undefined;
  }

  ask<Value>(question: Question, transfer: Transferable[] = []): Promise<Value> {
    const channel = this.#channel;
    return new Promise((resolve, reject) => {
      if (this.#lost || !channel) return reject(this.#lost);
      const id = this.#nextId++;
      try {
        channel.post({ id, ...question }, transfer);
      } catch (cause) {
        const what = `expected a message that can be sent to a worker (${reason(cause)})`;
        return reject(new VitError("worker_lost", what, { cause }));
      }
      channel.busy(true);
      this.#waiting.set(id, { resolve, reject });
    });
  }

  /** Asks for what is never answered. */
  tell(question: Question): void {
    this.#channel?.post({ id: this.#nextId++, ...question }, []);
  }

  /** Ends the thread; who waits for it gets the error. */
  end(error: VitError): void {
    if (this.#lost) return;
    this.#lost = error;
    this.#channel?.terminate();
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #answer(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#channel?.busy(false);
    if ("value" in reply) return waiting?.resolve(reply.value as never);
    const error = new VitError(reply.error.code, reply.error.message);
    waiting?.reject(error);
    if (error.code === "internal") this.end(error);
  }
}

type Start = (
  onReply: (reply: Reply) => void,
  onLost: (why: string) => void,
) => Channel | Promise<Channel>;

const browserChannel: Start = (onReply, onLost) => {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }) => onReply(data as Reply));
  worker.addEventListener("messageerror", () => onLost("a message from the worker was lost"));
  worker.addEventListener("error", ({ message }) =>
    onLost(`the worker died or did not start (${message || "is worker.js beside vit.js?"})`),
  );
  return {
    post: (request, transfer) => worker.postMessage(request, transfer),
    busy: () => {},
    terminate: () => worker.terminate(),
  };
};

const nodeChannel: Start = async (onReply, onLost) => {
  const { Worker: NodeThread } = await workerThreads();
  const here = import.meta.url; // apart from the URL, or bundlers take this for a browser's worker
  const worker = new NodeThread(new URL("./worker.js", here), { execArgv: [] });
  worker.on("message", (reply) => onReply(reply as Reply));
  worker.on("messageerror", () => onLost("a message from the worker was lost"));
  worker.on("error", (error) => onLost(`the worker died (${String(error)})`));
  worker.on("exit", (code) => onLost(`the worker ended with code ${String(code)}`));
  return {
    post: (request, transfer) => worker.postMessage(request, transfer),
    busy: (is) => (is ? worker.ref() : worker.unref()),
    terminate: () => void worker.terminate(),
  };
};
