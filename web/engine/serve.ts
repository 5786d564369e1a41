/** Answers the calls to a thread of thread.ts, one after the other. */
import { VitError } from "../errors.js";
import { inNode, type NodePort, workerThreads } from "../base/node.js";
import { apply, type Reply, type Request } from "./call.js";
import { type HeapExports, instantiate, type ThreadExports } from "./instance.js";
import type { ModuleSource } from "./session.js";

/** The calls that a thread answers before it has a session, or without one. */
export interface Entry {
  /** From then on the thread answers the calls of this session, too. */
  open(source: ModuleSource): void;
  /** Joins a session elsewhere, as its helper. */
  join(source: ModuleSource): void;
  /** Waits for work and does it, as in src/wasm/team.c, until the session dismisses its helpers. */
  help(index: number, stack: number): void;
}

/** @param names the functions that the module must have. */
export function serve(open: (source: ModuleSource) => Promise<object>, names: readonly string[]): void {
  let session: object;
  let helper: ThreadExports;
  const entry = {
    open: async (source: ModuleSource) => void (session = await open(source)),
    join: async ({ module, memory }: ModuleSource) =>
      void (helper = await instantiate<HeapExports & ThreadExports>(module, memory, names)),
    help: (index: number, stack: number) => {
      helper.__stack_pointer.value = stack;
      helper.vitw_help(index);
    },
  };
  let turn = Promise.resolve();
  const answer = ({ id, method, args }: Request, post: (reply: Reply, transfer: Transferable[]) => void) => {
    turn = turn.then(async () => {
      try {
        const value = await apply(method in entry ? entry : session, method, args);
        post({ id, value }, memoryOf(value));
      } catch (error) {
        const { code, message } =
          error instanceof VitError ? error : new VitError("internal", String(error));
        post({ id, error: { code, message } }, []);
      }
    });
  };
  const listen = (port: NodePort | null) =>
    port?.on("message", (request) => {
      answer(request as Request, (reply, transfer) => port.postMessage(reply, transfer));
    });
  void inNode().then(async (node) => {
    if (node) return listen((await workerThreads()).parentPort);
    addEventListener("message", ({ data }: MessageEvent<Request>) => {
      answer(data, (reply, transfer) => postMessage(reply, { transfer }));
    });
  });
}

/** The memory of a result's arrays, which is transferred, not copied. */
function memoryOf(value: unknown): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) return [value.buffer as ArrayBuffer];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(memoryOf) : [];
}
