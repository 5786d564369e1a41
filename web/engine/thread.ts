/** A thread that runs a script of ours, as a browser's or Node's Worker, and answers calls. */
import { absolute, hasScheme } from "../base/address.js";
import { beside, BESIDE } from "../base/beside.js";
import { inNode, newThread } from "../base/node.js";
import { reason, VitError } from "../errors.js";
import { type Caller, closed, type Reply, type Request } from "./call.js";
import type { Entry } from "./serve.js";

/** The address of a script beside this code: in a browser, and in Node. */
export interface Script {
  browser(): URL;
  node(): URL;
}

interface Channel {
  post(request: Request, transfer: Transferable[]): void;
  /** A busy thread keeps the Node process alive, an idle one does not. */
  busy(is: boolean): void;
  terminate(): void;
}

type Waiting = { resolve(value: never): void; reject(error: VitError): void };

/** The thread answers calls one after the other: those of {@link Entry}, then those of the session that it opened. */
export class Thread {
  readonly remote = true;
  readonly #waiting = new Map<number, Waiting>();
  #channel: Channel | undefined;
  #failure: VitError | undefined;
  #nextId = 0;

  /**
   * @param address the script's address, if it is not beside this code.
   * @throws {VitError} code `worker_lost`. If the thread fails later, its calls reject.
   */
  static async start(script: Script, address: string | URL | undefined): Promise<Thread & Caller<Entry>> {
    const thread = new Thread();
    const node = await inNode();
    try {
      thread.#channel = await (node ? nodeChannel : browserChannel)(
        script,
        address,
        (reply) => thread.#answer(reply),
        (why) => thread.#end(new VitError("worker_lost", `${why}; the next call starts a new one`)),
      );
      return thread;
    } catch (cause) {
      if (cause instanceof VitError) throw cause;
      const trust = node ? "" : "under Trusted Types the page's trusted-types must allow vitrine; ";
      const what = `expected a worker, got none (${reason(cause)}); ${trust}or load without worker: true`;
      throw new VitError("worker_lost", what, { cause });
    }
  }

  get alive(): boolean {
    return this.#failure === undefined;
  }

  call(method: string, args: readonly unknown[], transfer: Transferable[] = []): Promise<never> {
    const channel = this.#channel;
    return new Promise((resolve, reject) => {
      if (this.#failure || !channel) return reject(this.#failure);
      const id = this.#nextId++;
      try {
        channel.post({ id, method, args }, transfer);
      } catch (cause) {
        const what = `expected a message that can be sent to a worker (${reason(cause)})`;
        return reject(new VitError("worker_lost", what, { cause }));
      }
      channel.busy(true);
      this.#waiting.set(id, { resolve, reject });
    });
  }

  /** Lets the thread help. It answers when it is dismissed, and until then keeps no process alive. */
  help(...args: Parameters<Entry["help"]>): void {
    this.#channel?.post({ id: this.#nextId++, method: "help", args }, []);
  }

  close(): void {
    this.#end(closed());
  }

  /** Ends the thread. Calls that wait for an answer reject with the error. */
  #end(error: VitError): void {
    if (this.#failure) return;
    this.#failure = error;
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
    if (error.code === "internal") this.#end(error);
  }
}

/** Why neither a worker nor helpers can run in an engine without Worker. */
export const NO_WORKER = "this engine has no Worker";

type Start = (
  script: Script,
  address: string | URL | undefined,
  onReply: (reply: Reply) => void,
  onFailure: (why: string) => void,
) => Channel | Promise<Channel>;

const browserChannel: Start = (script, customAddress, onReply, onFailure) => {
  if (typeof Worker !== "function") {
    throw new VitError("worker_lost", `${NO_WORKER}; load without worker: true`);
  }
  const address = absolute(customAddress ?? beside(script.browser));
  const { start, type } = runnable(address);
  const worker = new Worker(trusted(start), { type });
  worker.addEventListener("message", ({ data }) => onReply(data as Reply));
  worker.addEventListener("messageerror", () => onFailure("a message from the worker was lost"));
  const unknown = `does worker-src allow ${address.href}, as blob: where it is of another origin, and is it a script? ${BESIDE}`;
  worker.addEventListener("error", ({ message }) =>
    onFailure(`the worker died or did not start (${message || unknown})`),
  );
  return {
    post: (request, transfer) => worker.postMessage(request, transfer),
    busy: () => {},
    terminate: () => worker.terminate(),
  };
};

/** Keeps an address that is given as to `new Worker`, the expression that bundlers look for. */
export class WorkerAddress {
  readonly url: URL;
  constructor(url: URL, _: WorkerOptions) {
    this.url = url;
  }
}

/** The blob: addresses of scripts that import a script, by that script's address. Never revoked. */
const importers = new Map<string, string>();

/** A script of another origin may not be a worker, but a script of this page may import it. */
function runnable({ origin, href }: URL): { readonly start: string; readonly type: WorkerType } {
  if (origin === globalThis.origin) return { start: href, type: "module" };
  const type = globalThis.origin === "null" ? "classic" : "module";
  const script = JSON.stringify(href);
  const code = new Blob([type === "module" ? `import ${script};` : later(script)], { type: "text/javascript" });
  const start = importers.get(href) ?? URL.createObjectURL(code);
  importers.set(href, start);
  return { start, type };
}

/**
 * Imports a script in a classic worker, because Chromium starts no module from a blob: where the
 * page has no origin, as in a sandboxed frame. Messages that come too early are held until then.
 */
const later = (script: string) => `const early = [], hold = ({ data }) => early.push(data);
addEventListener("message", hold);
import(${script}).then(() => {
  removeEventListener("message", hold);
  for (const data of early) dispatchEvent(new MessageEvent("message", { data }));
}).catch((error) => setTimeout(() => { throw error; }));`;

interface Policy {
  createScriptURL(address: string): string;
}

let policy: Policy | undefined;

/**
 * The address as the Trusted Types policy `vitrine` gives it. If that policy may not be made, the
 * page's default policy decides.
 */
function trusted(address: string): string {
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy(name: string, policy: Policy): Policy };
  };
  try {
    policy ??= trustedTypes?.createPolicy("vitrine", { createScriptURL: (ours) => ours });
  } catch {
    // then new Worker throws, with the reason
  }
  return policy?.createScriptURL(address) ?? address;
}

const nodeChannel: Start = async (script, customAddress, onReply, onFailure) => {
  const worker = await newThread(typeof customAddress === "string" && hasScheme(customAddress) ? new URL(customAddress) : (customAddress ?? beside(script.node)));
  worker.on("message", (reply) => onReply(reply as Reply));
  worker.on("messageerror", () => onFailure("a message from the worker was lost"));
  worker.on("error", (error) => onFailure(`the worker died (${String(error)})`));
  worker.on("exit", (code) => onFailure(`the worker ended with code ${String(code)}`));
  return {
    post: (request, transfer) => worker.postMessage(request, transfer),
    busy: (is) => (is ? worker.ref() : worker.unref()),
    terminate: () => void worker.terminate(),
  };
};
