// How much WebAssembly memory somebody's library takes: no library says it of itself, so its
// memories are caught as they are made.

const caught = []; // WeakRefs, oldest first

/** Calls `make`; resolves to [what it gave, a function: bytes of the largest memory made
 *  meanwhile that is still alive]. */
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

/** From an instance, or { instance } as instantiate gives it for bytes; returns it. */
function keepExported(made) {
  const { exports } = made.instance ?? made;
  for (const value of Object.values(exports)) if (value instanceof WebAssembly.Memory) keep(value);
  return made;
}

const keep = (memory) => caught.push(new WeakRef(memory));
