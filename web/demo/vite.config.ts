import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const bytesOf = (name: string) => statSync(here(`../../weights/${name}.safetensors`)).size;

/** The page is isolated from others, as threads and the finest clock want it. */
const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export default defineConfig({
  root: here("."),
  base: "./",
  resolve: { alias: { vitrine: here("../../dist/vit.js") } },
  // A compressed answer has no length, and the progress bar needs one.
  define: {
    WEIGHTS_BYTES: Object.fromEntries(
      ["digits", "digits-large", "myvit"].map((name) => [name, bytesOf(name)]),
    ),
  },
  server: { headers, fs: { allow: [here("../..")] } },
  preview: { headers },
  worker: { format: "es" },
  build: {
    outDir: here("../../build/page"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the page's Content-Security-Policy lets nothing in from data: URLs
  },
});
