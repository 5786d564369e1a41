// What all of the bench's pages need.
import "/node_modules/@tensorflow/tfjs-core/dist/tf-core.min.js"; // globalThis.tf
import "/node_modules/@tensorflow/tfjs-backend-wasm/dist/tf-backend-wasm.min.js"; // tf.wasm

export const bytesOf = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());

/** tfjs in wasm, by one thread. */
export async function startTfjs() {
  const { tf } = globalThis;
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", false);
  tf.wasm.setWasmPaths("/node_modules/@tensorflow/tfjs-backend-wasm/dist/");
  await tf.setBackend("wasm");
  return tf;
}
