// Makes the instances of our module ill while globalThis.ill names a word of the C session: the next
// run finds an address there that is beyond the heap. It runs in Node, in workers and on a page.
const { instantiate } = WebAssembly;
/** Of src/wasm/session.c's `struct session`, in its order. */
const WORDS = { images: 12, logits: 13 };
const NOWHERE = 0xffff_0000;

WebAssembly.instantiate = async (...given) => {
  const instance = await instantiate(...given);
  const { vitw_run: run, vitw_session: session } = instance.exports ?? {};
  if (!run) return instance; // none of ours
  const memory = instance.exports.memory ?? given[1].env.memory;
  const vitw_run = (...words) => {
    const at = session() / 4 + WORDS[globalThis.ill];
    if (globalThis.ill) new Uint32Array(memory.buffer)[at] = NOWHERE;
    return run(...words);
  };
  return { exports: { ...instance.exports, vitw_run } };
};
