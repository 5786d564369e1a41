// The time from a script's first statement to its first prediction, including the library's import.
import { pairRow } from "./contest.mjs";
import { largestDifference, median } from "./figures.mjs";
import { drawings } from "./models.mjs";
import { forms, toOnnx } from "./onnx.mjs";

const TOLERANCE = 1e-4; // of the two sides' logits, as a share of the largest

/** The scripts that a user would write. Each stands alone, because its text becomes a page's script.
 *  `fs` is given in Node only, because this peer does not read files there. */
export const scripts = {
  async vitrine({ library, model, image, variant }) {
    const start = performance.now();
    const { Vit } = await import(library);
    const vit = await Vit.load(model, { variant });
    const { logits } = await vit.classify(Float32Array.from(image));
    return { ms: performance.now() - start, logits: [...logits] };
  },

  async "onnxruntime-web"({ library, model, image, shape, fs }) {
    const start = performance.now();
    const ort = await import(library);
    ort.env.wasm.numThreads = 1;
    const source = fs ? await (await import(fs)).readFile(model) : model;
    const session = await ort.InferenceSession.create(source, { executionProviders: ["wasm"] });
    const input = new ort.Tensor("float32", Float32Array.from(image), shape);
    const { logits } = await session.run({ image: input });
    return { ms: performance.now() - start, logits: [...logits.data] };
  },
};

/** The ONNX files that the peer starts from, by name. */
export function onnxFiles(model) {
  return Object.fromEntries(forms.map((form) => [`${form}.onnx`, toOnnx(model, { form })]));
}

/**
 * Starts the sides in turn, each time from scratch.
 * @param {{ config }} model of `urls`
 * @param {object} urls { vitrine, onnx: the two libraries, model, folder: of the onnxFiles, fs }
 * @param {(script: string, options: object) => Promise<{ ms, logits }>} run makes a new start
 * @param {object} plan { startUps, variant }
 * @returns {Promise<object>} a row like contest's
 */
export async function startUp({ config }, urls, run, { startUps, variant }) {
  const [pixels] = drawings(1, config);
  const shape = [1, config.channels, ...config.image_size];
  const shared = { image: [...pixels], shape, variant, fs: urls.fs };
  const side = (script, options, form) =>
    ({ form, times: [], start: () => run(script, { ...shared, ...options }) });
  const ours = side("vitrine", { library: urls.vitrine, model: urls.model });
  const peers = forms.map((form) =>
    side("onnxruntime-web", { library: urls.onnx, model: `${urls.folder}${form}.onnx` }, form));
  for (let round = 0; round <= startUps; round++) {
    let reference;
    for (const { start, times } of [ours, ...peers]) {
      const { ms, logits } = await start();
      reference ??= logits;
      const difference = largestDifference(logits, reference);
      if (!(difference <= TOLERANCE)) throw new Error(`start-up: logits differ by ${difference}`);
      if (round > 0) times.push(ms);
    }
  }
  const [peer] = peers.toSorted((a, b) => median(a.times) - median(b.times));
  return pairRow({ row: "start-up", side: ours, peer, against: "onnxruntime-web", gflops: null }, { precision: "f32", batch: 1 });
}
