// Epochs of the tutorial's model by us and by PyTorch: the same losses of the first steps, then an
// epoch of each in turn.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { writeSafetensors } from "../../web/base/safetensors.mjs";
import { limit } from "./limit.mjs";
import { forPeers, patchRows } from "./training-model.mjs";
import { oursSide } from "./training-sides.mjs";
import { compare, CONSTANTS, STEPS, stepFlops } from "./training.mjs";

const program = fileURLToPath(new URL("training.py", import.meta.url));
const folder = fileURLToPath(new URL("../../build/bench/", import.meta.url));

/** The first Python that has PyTorch; undefined without one. */
export async function findTorch() {
  for (const python of ["python3", "/usr/bin/python3"]) {
    const found = await promisify(execFile)(python, ["-c", "import torch"]).then(() => true, () => false);
    if (found) return python;
  }
}

/** A process of training.py. `ask` sends it a command and resolves to the answer. */
async function startTorch(python, start, constants, { images, labels }) {
  const peer = forPeers(start), path = join(folder, "training.safetensors");
  const numbers = { shape: [labels.length], data: Float32Array.from(labels) };
  const all = { ...peer.tensors, position: peer.position, patches: patchRows(images, peer.config), labels: numbers };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, writeSafetensors({ config: peer.config, tensors: new Map(Object.entries(all)) }));
  const child = spawn(python, [program, path, JSON.stringify(constants)], {
    stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, OMP_NUM_THREADS: "1" },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error("training.py ended early");
    return JSON.parse(value);
  };
  return {
    version: await answer(),
    ask: (command) => {
      child.stdin.write(`${command}\n`);
      return answer();
    },
    close: () => child.stdin.end(),
  };
}

/** The losses of the first steps on the first batch. */
async function firstLosses(Trainer, recipe, { images, labels }, variant) {
  const { batch } = recipe.training, losses = [];
  const side = await oursSide(Trainer, recipe, { images: images.slice(0, batch), labels: labels.slice(0, batch) }, { variant });
  for (let step = 0; step < STEPS; step++) losses.push(await side.run());
  side.close();
  return { start: side.start, losses };
}

/**
 * Times epochs on one thread.
 * @param {object} engines { Trainer, limits, python: has PyTorch, or undefined }
 * @param {object} recipe of per_head; its learning rate and batch are taken
 * @param {object} plan { epochs, variant }
 * @returns {Promise<{ rows: object[], notes: string[], limit: number }>} as contest's; a row's
 *   times are those of all epochs; without PyTorch it has no peer
 * @throws if a loss of the first steps differs
 */
export async function epochsContest({ Trainer, limits, python }, { model, training }, data, { epochs, variant }) {
  const { batch, learning_rate } = training, constants = { ...CONSTANTS, learning_rate, weight_decay: 0, batch };
  const recipe = { model, training: constants }, before = await limit(limits);
  const { start, losses } = await firstLosses(Trainer, recipe, data, variant);
  const ours = await oursSide(Trainer, recipe, data, { variant });
  const torch = python && await startTorch(python, start, constants, data);
  const sides = [ours, ...(torch ? [{ run: () => torch.ask("epoch") }] : [])];
  try {
    if (torch) compare({ ours: losses, PyTorch: await torch.ask(`steps ${STEPS}`) }, start.config);
    const [[ours_ms, loss], [peer_ms = null, peer_loss] = []] = await inTurn(sides, epochs);
    const images = epochs * data.images.length;
    const row = {
      row: `train ${epochs} epochs`, precision: "f32", batch, threads: 1, variant: ours.variant, ours_ms,
      peer: torch ? `PyTorch ${torch.version}` : null, peer_ms, ratio: torch ? peer_ms / ours_ms : null,
      gflops: stepFlops(start.config, images) / ours_ms / 1e6, images, loss, ...(torch && { peer_loss }),
    };
    const notes = torch ? [] : ["PyTorch's part is skipped: install it for python3, in Debian as python3-torch"];
    return { rows: [row], notes, limit: Math.max(before, await limit(limits)) };
  } finally {
    ours.close();
    torch?.close();
  }
}

/** Runs the sides in turn, `count` times. Resolves to [milliseconds in all, the last answer] of each. */
async function inTurn(sides, count) {
  const done = sides.map(() => [0]);
  for (let i = 0; i < count; i++) {
    for (const [at, side] of sides.entries()) {
      const begin = performance.now(), answer = await side.run();
      done[at] = [done[at][0] + performance.now() - begin, answer];
    }
  }
  return done;
}
