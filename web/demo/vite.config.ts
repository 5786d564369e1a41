import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { fillFooter } from "./footer.mjs";
import { HEADERS, POLICY } from "../base/headers.mjs";
import { WEIGHTS } from "../scripts/weights.mjs";
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

/** Leaves `import()` as it is. Vite's own would first load style sheets, of which there are none, and scripts, which `import()` loads itself. */
const imports = {
  name: "imports",
  enforce: "pre" as const,
  load: (id: string) => (id === "\0vite/preload-helper.js" ? "export const __vitePreload = (load) => load();" : undefined),
};

/** The first window's code is one file: it compresses better than several. */
const opening = { name: "opening", tags: ["$initial" as const] };

/** What *Look closer* and the story show, without the chapters: it loads after the first prediction. One file compresses better than many. */
const closer = {
  name: "closer",
  test: /demo.(blocks|choices|closer|explain.\w+|figure.(cells|parts)|journey|lettering|looks|picture|save|send|stem|story.[a-z]+|takeaway|thin|threads|where)\.ts$|base.(pack|safetensors|scramble)\.mjs$|weights.explain/,
};

/** The chapters, without what trains in the tab. */
const chapters = { name: "chapters", test: /demo.(story.chapters.(?!\w+.live)|explain.\w+\.json)|virtual:worst-digits/ };

/** What opens photos, for the first tab and the second. */
const photo = { name: "photo", test: /demo.(open-photo|own.(files|photo|words))\.ts$|base.heic\.ts$/ };

export default defineConfig({
  root: here("."),
  base: "./",
  plugins: [imports, policy, footer, preview, worstDigits(), mnistDigits(), translations(), source(), offline()],
  resolve: { alias: { "vitrine/train": here("../../dist/train.js"), vitrine: here("../../dist/vit.js") } },
  // The progress bar needs the files' sizes, because a compressed answer has no length.
  define: {
    WEIGHTS_BYTES: Object.fromEntries(WEIGHTS.map((name) => [name, bytesOf(name)])),
  },
  server: { headers: HEADERS, fs: { allow: [here("../..")] } },
  worker: { format: "es" },
  build: {
    outDir: here("../../build/page"),
    emptyOutDir: true,
    target: "es2022",
    // Only the first window's scripts are named ahead: the lists of what later parts need would be in its own.
    modulePreload: { polyfill: false, resolveDependencies: (_, files, { hostType }) => (hostType === "html" ? files : []) },
    rolldownOptions: { output: { codeSplitting: { includeDependenciesRecursively: false, groups: [opening, closer, chapters, photo] } } },
    assetsInlineLimit: 0, // the page's Content-Security-Policy allows data: URLs for images only
  },
});
