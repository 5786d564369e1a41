// Recipes: the smallest programs that use the package in other tools and engines. web/RECIPES.md shows
// what they need, and `npm run ecosystem` tries them all.

/** The npm package with Node for this machine. */
const nodePackage = `node-${process.platform}-${process.arch}`;
const copied = "node_modules/vitrine/dist/*.wasm node_modules/vitrine/dist/worker.js " +
  "node_modules/vitrine/weights/digits.safetensors";
const published = "mkdir -p public && cp node_modules/vitrine/weights/digits.safetensors public";

/** Compiles tests/node/consumer.ts without Node's types, and consumer-node.ts with them. Checks the package's own declarations too. */
const compiled = (resolution) => Object.entries({ vitrine: "consumer", node: "consumer-node" }).map(([types, file]) =>
  `tsc --noEmit --strict --target es2022 --lib es2022,dom --module ${resolution === "node16" ? resolution : "esnext"} ` +
  `--moduleResolution ${resolution} --types ${types} ${file}.ts`).join(" && ");

/** The page's program without a page. */
const inNode = { "const vit": "const vit = await Vit.load(weights);", document: "console.log(JSON.stringify(classes[0]));" };

/** A bundle in dist, with the page beside it. */
const bundled = (build) => ({ build: `${build} && cp index.html dist`, page: "dist" });

const vite = (version) => ({
  title: `Vite ${version}`, packages: [`vite@${version}`], files: ["page"], build: "vite build", page: "dist",
  lines: { "const weights": 'import weights from "vitrine/weights/digits.safetensors?url";' },
});

const next = (title, option = "") => ({
  title, packages: ["next@16", "react@19", "react-dom@19"], files: ["next"],
  build: `${published} && next build${option}`, serve: "next start -p $PORT", asks: "/answer", page: "/",
});

/**
 * `files` are folders here whose files the recipe has. Each of `lines` takes the place of the line of
 * main.js that begins with its key. `packages` are npm packages to install beside vitrine, and `build`
 * is a command. The answer comes from a `page` (the folder that is served), from a program that `run`
 * starts, or from a server (`serve`), at the path `asks` and on its page.
 */
export const recipes = {
  html: {
    title: "Plain HTML", files: ["page"], page: ".",
    lines: {
      import: 'import { Vit } from "./node_modules/vitrine/dist/vit.js";',
      "const weights": 'const weights = "./node_modules/vitrine/weights/digits.safetensors";',
    },
  },
  vite: vite(8),
  "vite-7": vite(7),
  webpack: {
    title: "webpack 5", packages: ["webpack@5", "webpack-cli@7"], files: ["page", "webpack"], ...bundled("webpack"),
  },
  "webpack-node": {
    title: "webpack 5, target node", packages: ["webpack@5", "webpack-cli@7"], files: ["page", "webpack-node"],
    lines: inNode, build: "webpack", run: "node dist/main.js",
  },
  rspack: {
    title: "Rspack 2", packages: ["@rspack/core@2", "@rspack/cli@2"], files: ["page", "webpack"],
    ...bundled("rspack build -c webpack.config.js"),
  },
  "rspack-node": {
    title: "Rspack 2, target node", packages: ["@rspack/core@2", "@rspack/cli@2"], files: ["page", "webpack-node"],
    lines: inNode, build: "rspack build -c webpack.config.js", run: "node dist/main.js",
  },
  rollup: {
    title: "Rollup 4", files: ["page", "rollup"], ...bundled("rollup -c"),
    packages: ["rollup@4", "@rollup/plugin-node-resolve@16", "@web/rollup-plugin-import-meta-assets@2"],
    lines: {
      "const weights": 'const weights = new URL("./node_modules/vitrine/weights/digits.safetensors", import.meta.url);',
    },
  },
  rolldown: {
    title: "Rolldown", packages: ["rolldown@1"], files: ["page", "rolldown"], ...bundled("rolldown -c"),
  },
  esbuild: {
    title: "esbuild", packages: ["esbuild@0"], files: ["page"],
    ...bundled(`esbuild main.js --bundle --format=esm --splitting --outdir=dist && cp ${copied} dist`),
    lines: { "const weights": 'const weights = new URL("./digits.safetensors", import.meta.url);' },
  },
  parcel: {
    title: "Parcel 2", packages: ["parcel@2"], files: ["page"], build: "parcel build index.html", page: "dist",
    lines: { "const weights": 'const weights = new URL("npm:vitrine/weights/digits.safetensors", import.meta.url);' },
  },
  next: next("Next 16, client and route handler"),
  "next-webpack": next("Next 16 by webpack", " --webpack"),
  angular: {
    title: "Angular 22", files: ["angular"],
    packages: [
      ...["build", "cli", "core", "common", "compiler", "compiler-cli", "platform-browser"].map((name) => `@angular/${name}@22`),
      "rxjs@7", "tslib@2", "typescript@6", `${nodePackage}@24`,
    ],
    build: "ng build", page: "dist",
  },
  workerd: {
    title: "workerd, by Wrangler 4", packages: ["wrangler@4"], files: ["workerd"],
    serve: "wrangler dev --port $PORT", asks: "/",
  },
  deno: { title: "Deno 2", packages: ["deno@2"], files: ["node"], run: "deno run -A main.js" },
  bun: {
    title: "Bun 1", packages: ["bun@1"], files: ["node"], prepare: "node node_modules/bun/install.js", run: "bun main.js",
  },
  node: { title: "Node", files: ["node"], run: "node main.js" },
  ...Object.fromEntries(["20.0.0", "20.11.1", "22", "24", "26"].map((version) => [
    `node-${version}`,
    { title: `Node ${version}`, packages: [`${nodePackage}@${version}`], files: ["node"], run: "node main.js" },
  ])),
  ...Object.fromEntries(["5.1", "5.4", "5.9", "7"].map((version) => [
    `typescript-${version}`,
    {
      title: `TypeScript ${version}`, packages: [`typescript@${version}`, "@types/node@22"],
      files: ["../node/consumer.ts", "../node/consumer-node.ts"],
      build: [...(version === "7" ? [] : ["node10"]), "node16", "bundler"].map(compiled).join(" && "),
    },
  ])),
};
