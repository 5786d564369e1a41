/** The types of the WebAssembly module. */

/** The builds of the core, named after the instructions they use. */
export type Variant = "relaxed" | "simd128" | "scalar";

/** WebAssembly.Module. Only programs with DOM types have this type; it is `never` elsewhere. */
export type CompiledModule = typeof globalThis extends {
  WebAssembly: { Module: { prototype: infer Module } };
}
  ? Module
  : never;
