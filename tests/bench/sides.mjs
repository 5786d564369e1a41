// The sides of a contest. Each is { form, run, logits, close, times }: `run` makes the calls of a
// user, `logits` reads the answer, `times` collects milliseconds.
import { forms as onnxForms, toOnnx } from "./onnx.mjs";
import { forms as tfjsForms, tfjsVit } from "./tfjs.mjs";

/** classify for one image, classifyAll for more. `options` are passed to them. */
export function oursSide(vit, images, options = {}) {
  const one = images.length === 1;
  return {
    run: one
      ? async () => [await vit.classify(images[0], options)]
      : () => vit.classifyAll(images, options),
    logits: (answer) => answer.flatMap(({ logits }) => [...logits]),
    close: () => {},
    times: [],
  };
}

/** onnxruntime-web with the same weights, float32 or int8: one side for each form. */
export function ortSides(ort, model, images) {
  const batch = images.length;
  return onnxForms.map((form) => async () => {
    const session = await ort.InferenceSession.create(toOnnx(model, { batch, form }), {
      executionProviders: ["wasm"],
      graphOptimizationLevel: "all",
    });
    const { channels, image_size } = model.config;
    const image = new ort.Tensor("float32", concat(images), [batch, channels, ...image_size]);
    return {
      form,
      run: () => session.run({ image }),
      logits: (answer) => [...answer.logits.data],
      close: () => session.release(),
      times: [],
    };
  });
}

/** tfjs-backend-wasm: one side for each form. */
export function tfjsSides(tf, model, images) {
  const { channels, image_size } = model.config;
  return tfjsForms(images.length).map((form) => async () => {
    const vit = tfjsVit(tf, model, { batch: images.length, form });
    const image = tf.tidy(() => {
      const rows = tf.tensor(concat(images), [images.length, channels, ...image_size]);
      return tf.transpose(rows, [0, 2, 3, 1]);
    });
    return {
      form,
      run: async () => {
        const logits = vit.run(image);
        const answer = await logits.data();
        logits.dispose();
        return answer;
      },
      logits: (answer) => [...answer],
      close: () => {
        vit.dispose();
        image.dispose();
      },
      times: [],
    };
  });
}

function concat(images) {
  const pixels = new Float32Array(images.length * images[0].length);
  images.forEach((image, i) => pixels.set(image, i * image.length));
  return pixels;
}
