// The bench in Node, of any version. Each contest and each start has a process of its own.
import { execFileSync, fork } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { modelOf } from "./models.mjs";
import { writeSafetensors } from "../../web/base/safetensors.mjs";
import { onnxFiles, startUp } from "./start-up.mjs";

const root = new URL("../../", import.meta.url);
const dist = new URL("dist/vit.js", root).href;
const onnxruntime = import.meta.resolve("onnxruntime-web/wasm");

/** A place to bench in: `where` names it; `limits` are the files of limit.c's builds. */
export function inNode(execPath, limits) {
  const child = (job, file, plan) =>
    answerOf(execPath, [job, file, JSON.stringify(plan), JSON.stringify(limits)]);
  return {
    where: `Node ${execFileSync(execPath, ["--version"], { encoding: "utf8" }).trim().slice(1)}`,
    contest: (name, plan) => child("contest", name, plan),
    training: (recipe, plan) => child("training", recipe, plan),
    epochs: (recipe, plan) => child("epochs", recipe, plan),
    startUp: async (name, plan) => {
      const model = await modelOf(name, () => readFileSync(name));
      const folder = fileURLToPath(new URL("build/bench/", root));
      mkdirSync(folder, { recursive: true });
      const files = { "model.safetensors": writeSafetensors(model), ...onnxFiles(model) };
      for (const [file, bytes] of Object.entries(files)) writeFileSync(join(folder, file), bytes);
      const file = join(folder, "model.safetensors");
      const urls = { vitrine: dist, onnx: onnxruntime, model: file, folder, fs: "node:fs/promises" };
      return startUp(model, urls, (script, options) => child("startUp", script, options), plan);
    },
    close: () => {},
  };
}

function answerOf(execPath, options) {
  return new Promise((resolve, reject) => {
    const path = fileURLToPath(new URL("in-node-child.mjs", import.meta.url));
    const stdio = ["ignore", 2, 2, "ipc"]; // only the table goes to the standard output
    const child = fork(path, options, { execPath, stdio });
    let answer;
    child.on("message", (message) => {
      answer = message;
      child.kill(); // tfjs's threads and ours need not end on their own
    });
    child.on("error", (error) => reject(new Error(`cannot run ${execPath}: ${error.message}`)));
    child.on("close", (code) => {
      if (!answer) return reject(new Error(`${execPath} ended with exit code ${code}`));
      if (answer.error) return reject(new Error(answer.error));
      resolve(answer);
    });
  });
}
