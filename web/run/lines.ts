/**
 * In a debug build a trap names C's functions and lines. A release has none of this file: wasm.ts
 * asks for it where DEBUG is true alone.
 */
import type { CompiledModule } from "./module.js";

/** web/scripts/debug.mjs adds this section to a module. It holds a table as JSON. */
const SECTION = "vitrine.lines";

interface Table {
  /** As `gelu (src/stages/mlp.c:42)`. */
  readonly places: readonly string[];
  /** From this byte of the module on: what runs there, then the callers that it is inlined into. */
  readonly rows: readonly (readonly [address: number, ...places: number[]])[];
}

/** Chromium's, Node's and Firefox's frames name a byte of the module. */
const FRAME = /^\s*(?:at )?([^\s(@]*).*wasm-function\[\d+\]:0x([0-9a-f]+)/;

/** The exports, which rewrite the stack of a trap and say it to the console. */
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

/** Undefined in code without lines, as the C library's. */
function placesAt({ places, rows }: Table, address: number): string[] | undefined {
  const after = rows.findIndex(([start]) => start > address);
  const [, ...indices] = rows.at(after - 1) ?? [];
  return indices.length > 0 ? indices.map((index) => places[index]!) : undefined;
}
