import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { fillFooter } from "./footer.mjs";
import { HEADERS, POLICY } from "../base/headers.mjs";
import { mnistDigits } from "./mnist.mjs";
import { offline } from "./offline/plugin.ts";
import { previewTags } from "./preview.mjs";
import { source } from "./source.mjs";
import { translations } from "./texts/translations.mjs";
import { worstDigits } from "./worst.mjs";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const bytesOf = (name: string) => statSync(here(`../../weights/${name}.safetensors`)).size;

/** Puts the policy into the page, so that it holds on every server. */
const policy = {
  name: "policy",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" as const },
  ],
};

const text = (path: string) => readFileSync(here(path), "utf8");
const manifest = () => JSON.parse(text("../../package.json"));
const footer = { name: "footer", transformIndexHtml: (html: string) => fillFooter(html, manifest(), text("../../LICENSE")) };
const preview = {
  name: "preview",
  transformIndexHtml: () => previewTags(process.env.VITRINE_ADDRESS || manifest().homepage),
};

/** What *Look closer* shows, and chapters use too. */
const closer = { name: "closer", test: /demo.(blocks|choices|closer|closer-words|code|figure.cells|looks|where|lettering|patches|picture|receptive|save|send|stem|takeaway|texts.(en-closer|sentences)|tokens)\.ts$/ };

/** Small files of the first window that later ones use too. */
const opening = { name: "opening", test: /(demo.(dom|figure.(canvas|motion)|history|ink|logits|pad|photo|texts.(en-opening|words)|write)|train.handwriting)\.ts$/ };

/** What several chapters use is one file: it compresses better than many small ones. */
const shared = { name: "story", test: /demo.(story.[a-z]+|explain.\w+|figure.parts|pack|thin)\.m?ts$/, minShareCount: 2 };

/** Two files for the chapters compress better than one each: 7 kB of 55. */
const halves = [["beginning", "patches|score|block|positions|layers"], ["end", "why|learning|doubt|cnn|masks|words"]]
  .map(([name, ids]) => ({ name, test: new RegExp(`demo.story.chapters.(${ids}).(?!live)`) }));

export default defineConfig({
  root: here("."),
  base: "./",
  plugins: [policy, footer, preview, worstDigits(), mnistDigits(), translations(), source(), offline()],
  resolve: { alias: { "vitrine/train": here("../../dist/train.js"), vitrine: here("../../dist/vit.js") } },
  // The progress bar needs the files' sizes, because a compressed answer has no length.
  define: {
    WEIGHTS_BYTES: Object.fromEntries(
      ["digits", "digits-int8", "digits-stem", "digits-large", "myvit", "numbers"].map((name) => [name, bytesOf(name)]),
    ),
  },
  server: { headers: HEADERS, fs: { allow: [here("../..")] } },
  worker: { format: "es" },
  build: {
    outDir: here("../../build/page"),
    emptyOutDir: true,
    target: "es2022",
    // Only the first window's scripts are named ahead: the lists of what later parts need would be in its own.
    modulePreload: { polyfill: false, resolveDependencies: (_, files, { hostType }) => (hostType === "html" ? files : []) },
    rolldownOptions: { output: {
      chunkFileNames: ({ facadeModuleId }) => `assets/${/chapters.(\w+).chapter\.ts$/.exec(facadeModuleId ?? "")?.[1].concat("-chapter") ?? "[name]"}-[hash].js`,
      codeSplitting: { includeDependenciesRecursively: false, groups: [opening, closer, shared, ...halves] },
    } },
    assetsInlineLimit: 0, // the page's Content-Security-Policy allows data: URLs for images only
  },
});
