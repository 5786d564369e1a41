/** The script of the threads in thread.ts. It runs an engine, or helps an engine elsewhere. */
import { Engine } from "./engine.js";
import { Helper } from "./helper.js";
import type { ModelQuestion } from "./remote.js";
import { serve } from "./serve.js";
import type { HelperQuestion, Request } from "./thread.js";

type Question = ModelQuestion | HelperQuestion;

let engine: Engine;
let helper: Helper;

async function answer(request: Request<Question>): Promise<unknown> {
  if ("begin" in request) engine = await Engine.begin(request.begin);
  else if ("feed" in request) await engine.feed(request.feed);
  else if ("end" in request) return engine.end(request.end);
  else if ("run" in request) return engine.run(request.run.pictures, request.run.wants);
  else if ("join" in request) helper = await Helper.join(request.join.module, request.join.memory);
  else helper.help(request.help.index, request.help.stack); // it returns when it is dismissed
  return undefined;
}

/** The memory of the results. */
function memory(question: Question, value: Awaited<ReturnType<Engine["run"]>>): Transferable[] {
  if (!("run" in question)) return [];
  return value
    .flatMap(({ input, logits, attention, tokens, pooled, trace, relevance }) => [
      input, logits, attention, tokens, pooled, trace, relevance?.values,
    ])
    .flatMap((array) => (array && "buffer" in array ? [array.buffer] : []));
}

serve(answer, memory);
