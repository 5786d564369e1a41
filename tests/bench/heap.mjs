// How much WebAssembly memory a library takes. Libraries do not tell, so their memories are caught
// when they are made.

const caught = []; // WeakRefs, oldest first

/** Calls `make`. Resolves to [its result, a function that gives the bytes of the largest memory
 *  that was made meanwhile and is still alive]. */
export async function heapOf(make) {
  watch();
  const before = caught.length;
  const made = await make();
  const mine = caught.slice(before);
  const bytes = () => Math.max(0, ...mine.map((memory) => memory.deref()?.buffer.byteLength ?? 0));
  return [made, bytes];
}

let watching = false;

function watch() {
  if (watching) return;
  watching = true;
  const { instantiate, instantiateStreaming } = WebAssembly;
  const constructed = (found) => ({
    construct: (...call) => {
      const made = Reflect.construct(...call);
      found(made);
      return made;
    },
  });
  WebAssembly.Memory = new Proxy(WebAssembly.Memory, constructed(keep));
  WebAssembly.Instance = new Proxy(WebAssembly.Instance, constructed(keepExported));
  WebAssembly.instantiate = (...call) => instantiate(...call).then(keepExported);
  WebAssembly.instantiateStreaming &&= (...call) => instantiateStreaming(...call).then(keepExported);
}

/** Keeps the memories that an instance exports. `made`: the instance, or { instance }, which
 *  instantiate gives for bytes. Returns `made`. */
function keepExported(made) {
  const { exports } = made.instance ?? made;
  for (const value of Object.values(exports)) if (value instanceof WebAssembly.Memory) keep(value);
  return made;
}

const keep = (memory) => caught.push(new WeakRef(memory));
