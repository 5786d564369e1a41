/** The worker's side of remote.ts: one engine, asked by messages, in a browser or in Node. */
import { Engine, type Model, type Output } from "./engine.js";
import { VitError } from "./errors.js";
import { isNode, type NodePort, workerThreads } from "./node.js";
import type { Reply, Request } from "./remote.js";

let engine: Engine;

async function answer(request: Request): Promise<Model | Output[]> {
  if ("run" in request) return engine.run(request.run.pictures, request.run.wants);
  engine = await Engine.open(request.open);
  return engine.model;
}

/** Results are handed over, not copied again. */
function memory(value: Model | Output[]): Transferable[] {
  if (!Array.isArray(value)) return [];
  return value
    .flatMap(({ input, logits, attention, tokens }) => [input, logits, attention, tokens])
    .flatMap((array) => (array ? [array.buffer] : []));
}

async function serve(
  request: Request,
  post: (reply: Reply, transfer: Transferable[]) => void,
): Promise<void> {
  try {
    const value = await answer(request);
    post({ id: request.id, value }, memory(value));
  } catch (thrown) {
    const { code, message } =
      thrown instanceof VitError ? thrown : new VitError("internal", String(thrown));
    post({ id: request.id, error: { code, message } }, []);
  }
}

function listen(port: NodePort | null): void {
  port?.on("message", (request) => {
    void serve(request as Request, (reply, transfer) => port.postMessage(reply, transfer));
  });
}

if (isNode) {
  void workerThreads().then(({ parentPort }) => listen(parentPort));
} else {
  addEventListener("message", ({ data }: MessageEvent<Request>) => {
    void serve(data, (reply, transfer) => postMessage(reply, { transfer }));
  });
}
