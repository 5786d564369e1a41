/** The WebAssembly module that runs. */

/** Builds of the core, by the instructions they use. */
export type Variant = "relaxed" | "simd128" | "scalar";

/** WebAssembly.Module, which TypeScript knows together with the DOM alone. */
export type CompiledModule = typeof globalThis extends {
  WebAssembly: { Module: { prototype: infer Module } };
}
  ? Module
  : never;
