/** worker.js, the script of the threads that run models. */
import { type Script, WorkerAddress } from "./thread.js";

export const WORKER: Script = {
  /** Bundlers look for exactly this expression, include the file and insert its final address. */
  browser: () => {
    const of = (Worker: typeof WorkerAddress) => new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    return of(WorkerAddress).url;
  },
  node: () => {
    const here = import.meta.url; // apart from new URL, or bundlers think that this is a browser's worker
    return new URL("./worker.js", here);
  },
};
