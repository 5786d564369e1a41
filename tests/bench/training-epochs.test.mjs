import assert from "node:assert/strict";
import { test } from "node:test";
import { Trainer } from "../../dist/train.js";
import { named, tables } from "./report.mjs";
import { epochsContest, findTorch } from "./training-epochs.mjs";
import { examples } from "./training.mjs";

const model = {
  channels: 2, image_size: [8, 12], patch_size: [4, 6], width: 8, depth: 2, heads: 2, mlp_width: 12, classes: 3,
  labels: ["a", "b", "c"], position: "sincos1d", attention: "per_head", final_norm: false, norm_eps: 1e-5,
};
const tutorial = { model, training: { batch: 6, learning_rate: 0.005 } };

test("epochs without PyTorch have no peer, and say how to get one", async () => {
  const data = examples(15, model), plan = { epochs: 2, variant: "auto" };
  const { rows, notes } = await epochsContest({ Trainer, limits: [] }, tutorial, data, plan);
  const [row] = named("node", "Node 1", [{ title: "small", rows, limit: 50 }], {});
  assert.equal(row.name, "small, train 2 epochs f32, batch 6, node");
  assert.deepEqual([row.peer, row.peer_ms, row.ratio, row.images], [null, null, null, 30]);
  assert.match(tables([row]), /\nsmall +train 2 epochs f32 +6 /);
  assert.match(notes[0], /PyTorch's part is skipped: .*python3-torch/);
});

const python = await findTorch();
const skip = !python && "no PyTorch here";
test("the tutorial's kind of model has the same losses in PyTorch over 20 steps", { skip }, async () => {
  const data = examples(15, model), plan = { epochs: 1, variant: "auto" };
  const { rows: [row] } = await epochsContest({ Trainer, limits: [], python }, tutorial, data, plan);
  assert.match(row.peer, /^PyTorch \d/);
  assert.ok(row.peer_loss > 0 && row.ratio > 0);
  const faster = ({ training }) => ({ model, training: { ...training, learning_rate: 0.0051 } });
  const wrong = { create: ({ recipe }, options) => Trainer.create({ recipe: faster(recipe) }, options) };
  await assert.rejects(epochsContest({ Trainer: wrong, limits: [], python }, tutorial, data, plan), /the loss of PyTorch is/);
});
