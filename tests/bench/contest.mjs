// One model, two engines, in turn: the same code times them in Node and in a browser.
import { drawings, flops } from "./models.mjs";
import { forms, toOnnx } from "./onnx.mjs";
import { readSafetensors } from "./safetensors.mjs";

const TOLERANCE = 1e-4; // between the two sides' logits, of the largest

/**
 * Times classify (batch 1) and classifyAll of `Vit` against `ort`, which is onnxruntime-web,
 * one thread each.
 * @param {Uint8Array} file the model's safetensors
 * @param {{ batches: number[], rounds: number, slice: number }} plan each of the rounds gives
 *   every side `slice` milliseconds, after one round that only warms up
 * @returns {Promise<object[]>} two rows a batch size, the whole call and the engine alone:
 *   medians and bests in milliseconds
 * @throws where the two sides' logits differ: then there is nothing to compare
 */
export async function contest(Vit, ort, file, plan) {
  ort.env.wasm.numThreads = 1;
  const model = readSafetensors(file);
  const vit = await Vit.load(file);
  const rows = [];
  for (const batch of plan.batches) rows.push(...(await match(vit, ort, model, batch, plan)));
  vit.dispose();
  return rows;
}

async function match(vit, ort, model, batch, { rounds, slice }) {
  const images = drawings(batch, model.config);
  const ours = ourSide(vit, images);
  const peers = [];
  for (const form of forms) peers.push(await peerSide(ort, model, images, form));
  await agree(ours, peers, batch);

  for (let round = 0; round <= rounds; round++) {
    for (const side of [ours, ...peers]) {
      if (round === 1) side.times.length = side.engineTimes.length = 0;
      await time(side, slice);
    }
  }
  for (const { session } of peers) await session.release();

  const [peer] = peers.toSorted((a, b) => median(a.times) - median(b.times));
  const row = (timed, times) => ({
    timed,
    batch,
    variant: vit.variant,
    ours_ms: median(times),
    ours_best_ms: Math.min(...times),
    peer_form: peer.form,
    peer_ms: median(peer.times),
    peer_best_ms: Math.min(...peer.times),
    ratio: median(peer.times) / median(times),
    gflops: (batch * flops(model.config)) / median(times) / 1e6,
  });
  return [row(ours.call, ours.times), row("engine alone", ours.engineTimes)];
}

// A side: `run` is what a user calls; `logits` and `engine`, its milliseconds, read the answer.

function ourSide(vit, images) {
  const one = images.length === 1;
  return {
    call: one ? "classify" : "classifyAll",
    run: one ? async () => [await vit.classify(images[0])] : () => vit.classifyAll(images),
    logits: (answer) => answer.flatMap(({ logits }) => [...logits]),
    engine: (answer) => answer.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
    times: [],
    engineTimes: [],
  };
}

async function peerSide(ort, model, images, form) {
  const { channels, image_size } = model.config;
  const session = await ort.InferenceSession.create(toOnnx(model, { batch: images.length, form }), {
    executionProviders: ["wasm"],
    graphOptimizationLevel: "all",
  });
  const pixels = Float32Array.from(images.flatMap((image) => [...image]));
  const image = new ort.Tensor("float32", pixels, [images.length, channels, ...image_size]);
  return {
    form,
    session,
    run: () => session.run({ image }),
    logits: (answer) => [...answer.logits.data],
    times: [],
    engineTimes: [],
  };
}

async function agree(ours, peers, batch) {
  const logits = ours.logits(await ours.run());
  for (const peer of peers) {
    const difference = largestDifference(logits, peer.logits(await peer.run()));
    if (difference <= TOLERANCE) continue;
    throw new Error(`batch ${batch}: our logits and those of onnxruntime-web (${peer.form} ONNX) ` +
      `differ by ${difference} of the largest; expected at most ${TOLERANCE}`);
  }
}

async function time(side, slice) {
  const end = performance.now() + slice;
  do {
    const start = performance.now();
    const answer = await side.run();
    side.times.push(performance.now() - start);
    if (side.engine) side.engineTimes.push(side.engine(answer));
  } while (performance.now() < end);
}

function median(times) {
  const sorted = times.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/** The largest |got - want| over the largest |want|; NaN where any number is. */
export function largestDifference(got, want) {
  const largest = (values) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  return largest(got.map((value, i) => value - want[i])) / largest(want);
}
