/** The script of the threads that train: it runs a session, or helps one elsewhere. */
import { Helper } from "./helper.js";
import { TRAINING_EXPORTS } from "./instance.js";
import { serve } from "./serve.js";
import type { HelperQuestion, Request } from "./thread.js";
import { callOf, type TrainQuestion } from "./call.js";
import { TrainSession } from "./training-session.js";

type Question = TrainQuestion | HelperQuestion;

let session: TrainSession;
let helper: Helper;

async function answer(request: Request<Question>): Promise<unknown> {
  if ("call" in request) return callOf(session, request.call, request.given);
  if ("open" in request) session = await TrainSession.open(request.open.module, request.open.memory);
  else if ("join" in request) {
    helper = await Helper.join(request.join.module, request.join.memory, TRAINING_EXPORTS);
  } else helper.help(request.help.index, request.help.stack); // it returns when it is dismissed
  return undefined;
}

/** The memory of a model, a checkpoint or examples. */
function memory(_: Question, value: unknown): Transferable[] {
  const parts = value instanceof Uint8Array ? [value] : Object.values((value ?? {}) as object);
  return parts.flatMap((part) => (part instanceof Uint8Array ? [part.buffer as ArrayBuffer] : []));
}

serve(answer, memory);
