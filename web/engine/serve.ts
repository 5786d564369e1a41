/** Answers the messages to a thread of thread.ts, one after the other. */
import { VitError } from "../errors.js";
import { inNode, type NodePort, workerThreads } from "../base/node.js";
import type { Reply, Request } from "./thread.js";

/** @param memory what of a value is transferred, not copied */
export function serve<Question extends object>(
  answer: (question: Request<Question>) => Promise<unknown>,
  memory: (question: Question, value: never) => Transferable[],
): void {
  let turn = Promise.resolve();
  const take = (request: Request<Question>, post: (reply: Reply, transfer: Transferable[]) => void) => {
    turn = turn.then(async () => {
      try {
        const value = await answer(request);
        post({ id: request.id, value }, memory(request, value as never));
      } catch (thrown) {
        const { code, message } =
          thrown instanceof VitError ? thrown : new VitError("internal", String(thrown));
        post({ id: request.id, error: { code, message } }, []);
      }
    });
  };
  const listen = (port: NodePort | null) =>
    port?.on("message", (request) => {
      take(request as Request<Question>, (reply, transfer) => port.postMessage(reply, transfer));
    });
  void inNode().then(async (node) => {
    if (node) return listen((await workerThreads()).parentPort);
    addEventListener("message", ({ data }: MessageEvent<Request<Question>>) => {
      take(data, (reply, transfer) => postMessage(reply, { transfer }));
    });
  });
}
