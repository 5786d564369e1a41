/**
 * Makes a trap of a debug build name C's functions and lines. A release contains nothing of this
 * file, because instance.ts uses it only if DEBUG is true.
 */
import type { CompiledModule } from "./module.js";

/** The section with the table, as JSON. web/scripts/debug.mjs adds it to a module. */
const SECTION = "vitrine.lines";

interface Table {
  /** Functions with their lines, such as `gelu (src/stages/mlp.c:42)`. */
  readonly places: readonly string[];
  /** The module's bytes from an address on: their function, then the callers it is inlined into. */
  readonly rows: readonly (readonly [address: number, ...places: number[]])[];
}

/** A stack frame in the module, as Chromium, Node and Firefox write it. It names a byte. */
const FRAME = /^\s*(?:at )?([^\s(@]*).*wasm-function\[\d+\]:0x([0-9a-f]+)/;

/** Wraps the exports so that they rewrite the stack of a trap and print it to the console. */
export function traced(exports: WebAssembly.Exports, module: CompiledModule): WebAssembly.Exports {
  const own = Object.entries(exports).map(([name, value]) => {
    if (typeof value !== "function") return [name, value] as const;
    const traced = (...words: unknown[]): unknown => {
      try {
        return (value as (...words: unknown[]) => unknown)(...words);
      } catch (error) {
        if (error instanceof Error) explain(error, module);
        throw error;
      }
    };
    return [name, traced] as const;
  });
  return Object.fromEntries(own) as WebAssembly.Exports;
}

function explain(error: Error, module: CompiledModule): void {
  const [section] = WebAssembly.Module.customSections(module, SECTION);
  if (!section) return;
  const table = JSON.parse(new TextDecoder().decode(section)) as Table;
  const places: string[] = [];
  const lines = (error.stack ?? "").split("\n").flatMap((line) => {
    const [, name, address] = FRAME.exec(line) ?? [];
    if (address === undefined) return [line];
    const here = placesAt(table, parseInt(address, 16)) ?? [name!];
    places.push(...here);
    return here.map((place) => `    at ${place}`);
  });
  error.stack = lines.join("\n");
  error.message += ` in ${places.join(" ← ")}`;
  console.error(error);
}

/** The functions at an address; undefined in code without lines, such as the C library's. */
function placesAt({ places, rows }: Table, address: number): string[] | undefined {
  const after = rows.findIndex(([start]) => start > address);
  const [, ...indices] = rows.at(after - 1) ?? [];
  return indices.length > 0 ? indices.map((index) => places[index]!) : undefined;
}
