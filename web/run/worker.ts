/** The script of the threads in thread.ts. It runs an engine, or helps an engine elsewhere. */
import { Engine } from "./engine.js";
import { VitError } from "../errors.js";
import { isNode, type NodePort, workerThreads } from "../base/node.js";
import type { Reply, Request } from "./thread.js";
import { Helper } from "./wasm.js";

let engine: Engine;
let helper: Helper;

async function answer(request: Request): Promise<unknown> {
  if ("begin" in request) engine = await Engine.begin(request.begin);
  else if ("feed" in request) await engine.feed(request.feed);
  else if ("end" in request) return engine.end(request.end);
  else if ("run" in request) return engine.run(request.run.pictures, request.run.wants);
  else if ("join" in request) helper = await Helper.join(request.join.module, request.join.memory);
  else helper.help(request.help.index, request.help.stack); // it returns when it is dismissed
  return undefined;
}

/** The memory of the results. It is transferred, not copied. */
function memory(request: Request, value: unknown): Transferable[] {
  if (!("run" in request)) return [];
  return (value as Awaited<ReturnType<Engine["run"]>>)
    .flatMap(({ input, logits, attention, tokens, pooled, trace, relevance }) => [
      input, logits, attention, tokens, pooled, trace, relevance?.values,
    ])
    .flatMap((array) => (array && "buffer" in array ? [array.buffer] : []));
}

async function serve(
  request: Request,
  post: (reply: Reply, transfer: Transferable[]) => void,
): Promise<void> {
  try {
    const value = await answer(request);
    post({ id: request.id, value }, memory(request, value));
  } catch (thrown) {
    const { code, message } =
      thrown instanceof VitError ? thrown : new VitError("internal", String(thrown));
    post({ id: request.id, error: { code, message } }, []);
  }
}

let turn = Promise.resolve();

function listen(port: NodePort | null): void {
  port?.on("message", (request) => {
    turn = turn.then(() =>
      serve(request as Request, (reply, transfer) => port.postMessage(reply, transfer)),
    );
  });
}

if (isNode) {
  void workerThreads().then(({ parentPort }) => listen(parentPort));
} else {
  addEventListener("message", ({ data }: MessageEvent<Request>) => {
    turn = turn.then(() => serve(data, (reply, transfer) => postMessage(reply, { transfer })));
  });
}
