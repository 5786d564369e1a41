// A job of the bench in a process of its own: node in-node-child.mjs JOB FILE PLAN LIMITS. FILE is
// the model or the recipe, of a start its script; PLAN, of a start its options, and LIMITS, the files
// of limit.c's builds, are JSON.
import { readFile } from "node:fs/promises";

const [job, file, planJson, limitFiles] = process.argv.slice(2), plan = JSON.parse(planJson);
const limits = () => Promise.all(JSON.parse(limitFiles).map((file) => readFile(file)));
const recipe = async () => JSON.parse(await readFile(file, "utf8"));

/** tfjs in wasm. */
async function startTfjs() {
  const { default: tf } = await import("@tensorflow/tfjs-core");
  await import("@tensorflow/tfjs-backend-wasm");
  await tf.setBackend("wasm");
  return tf;
}

const jobs = {
  async contest() {
    const { Vit } = await import("../../dist/vit.js"), ort = await import("onnxruntime-web/wasm");
    const { contest } = await import("./contest.mjs"), { modelOf } = await import("./models.mjs");
    ort.env.wasm.numThreads = 1;
    const engines = { Vit, ort, tf: await startTfjs(), limits: await limits() };
    return contest(engines, await modelOf(file, () => readFile(file)), plan);
  },
  async training() {
    const { Trainer } = await import("../../dist/train.js"), jax = await import("@jax-js/jax");
    const { registerGradients } = await import("./tfjs-gradients.mjs"), { trainingContest } = await import("./training.mjs");
    const tf = await startTfjs();
    await registerGradients();
    await jax.init("wasm");
    jax.defaultDevice("wasm");
    return trainingContest({ Trainer, tf, jax, limits: await limits() }, (await recipe()).model, plan);
  },
  /** `plan.images` is how many of MNIST to train on. */
  async epochs() {
    const { Trainer } = await import("../../dist/train.js"), { trainingDigits } = await import("../../web/scripts/data.mjs");
    const { epochsContest, findTorch } = await import("./training-epochs.mjs");
    const digits = trainingDigits(), count = plan.images;
    if (!digits) {
      return { rows: [], notes: ["epochs are skipped: no MNIST here; npm run train fetches it, or name its folder in $VITRINE_DATA"] };
    }
    const image = (i) => Float32Array.from(digits.images.subarray(784 * i, 784 * (i + 1)), (value) => value / 255);
    const data = { images: Array.from({ length: count }, (_, i) => image(i)), labels: [...digits.labels.subarray(0, count)] };
    return epochsContest({ Trainer, limits: await limits(), python: await findTorch() }, await recipe(), data, plan);
  },
  async startUp() {
    const { scripts } = await import("./start-up.mjs");
    return scripts[file](plan);
  },
};

jobs[job]().then((answer) => process.send(answer), ({ message }) => process.send({ error: message }));
