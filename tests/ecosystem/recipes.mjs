// Recipes: the smallest programs that use the package in other tools and engines. A recipe's folder
// holds its files. web/RECIPES.md shows them, and `npm run ecosystem` tries them all.

/** The npm package with Node for this machine. */
const nodePackage = `node-${process.platform}-${process.arch}`;
const copied = "node_modules/vitrine/dist/*.wasm node_modules/vitrine/dist/worker.js " +
  "node_modules/vitrine/weights/digits.safetensors";
const published = "mkdir -p public && cp node_modules/vitrine/weights/digits.safetensors public";

/** Compiles tests/node/consumer.ts without Node's types, and consumer-node.ts with them. Checks the package's own declarations too. */
const compiled = (resolution) => Object.entries({ vitrine: "consumer", node: "consumer-node" }).map(([types, file]) =>
  `tsc --noEmit --strict --target es2022 --lib es2022,dom --module ${resolution === "node16" ? resolution : "esnext"} ` +
  `--moduleResolution ${resolution} --types ${types} ${file}.ts`).join(" && ");

/**
 * `packages` are npm packages to install beside vitrine, and `build` is a command. The answer comes
 * from a `page` (the folder that is served), from a program that `run` starts, or from a server
 * (`serve`), at the path `asks` and on its page. web/RECIPES.md shows the files in `shown`.
 */
export const recipes = {
  html: { title: "Plain HTML", page: ".", shown: ["index.html"] },
  vite: { title: "Vite 8", packages: ["vite@8"], build: "vite build", page: "dist", shown: ["main.js"] },
  "vite-7": {
    title: "Vite 7", files: "vite", packages: ["vite@7"], build: "vite build", page: "dist",
  },
  webpack: {
    title: "webpack 5", packages: ["webpack@5", "webpack-cli@7"], build: "webpack", page: ".",
    shown: ["main.js", "webpack.config.js"],
  },
  "webpack-node": {
    title: "webpack 5, target node", packages: ["webpack@5", "webpack-cli@7"], build: "webpack",
    run: "node dist/main.js", shown: ["webpack.config.js"],
  },
  rspack: {
    title: "Rspack 2", packages: ["@rspack/core@2", "@rspack/cli@2"], build: "rspack build", page: ".",
  },
  "rspack-node": {
    title: "Rspack 2, target node", packages: ["@rspack/core@2", "@rspack/cli@2"],
    build: "rspack build", run: "node dist/main.js",
  },
  rollup: {
    title: "Rollup 4",
    packages: ["rollup@4", "@rollup/plugin-node-resolve@16", "@web/rollup-plugin-import-meta-assets@2"],
    build: "rollup -c", page: ".", shown: ["main.js", "rollup.config.js"],
  },
  rolldown: {
    title: "Rolldown", packages: ["rolldown@1"], build: "rolldown -c", page: ".", shown: ["rolldown.config.js"],
  },
  esbuild: {
    title: "esbuild", packages: ["esbuild@0"],
    build: `esbuild main.js --bundle --format=esm --splitting --outdir=dist && cp ${copied} dist`,
    page: ".", shown: ["main.js"],
  },
  parcel: {
    title: "Parcel 2", packages: ["parcel@2"], build: "parcel build index.html", page: "dist", shown: ["main.js"],
  },
  next: {
    title: "Next 16, client and route handler", packages: ["next@16", "react@19", "react-dom@19"],
    build: `${published} && next build`, serve: "next start -p $PORT", asks: "/answer", page: "/",
    shown: ["app/page.jsx", "next.config.mjs", "app/answer/route.js"],
  },
  "next-webpack": {
    title: "Next 16 by webpack", files: "next", packages: ["next@16", "react@19", "react-dom@19"],
    build: `${published} && next build --webpack`, serve: "next start -p $PORT", asks: "/answer", page: "/",
  },
  angular: {
    title: "Angular 22",
    packages: [
      ...["build", "cli", "core", "common", "compiler", "compiler-cli", "platform-browser"].map((name) => `@angular/${name}@22`),
      "rxjs@7", "tslib@2", "typescript@6", `${nodePackage}@24`,
    ],
    build: "ng build", page: "dist", shown: ["angular.json", "src/main.ts"],
  },
  workerd: {
    title: "workerd, by Wrangler 4", packages: ["wrangler@4"],
    serve: "wrangler dev --port $PORT", asks: "/", shown: ["worker.js", "wrangler.toml"],
  },
  deno: { title: "Deno 2", packages: ["deno@2"], run: "deno run -A main.js", shown: ["main.js"] },
  bun: {
    title: "Bun 1", packages: ["bun@1"], prepare: "node node_modules/bun/install.js", run: "bun main.js",
    shown: ["main.js"],
  },
  node: { title: "Node", run: "node main.js", shown: ["main.js"] },
  ...Object.fromEntries(["5.1", "5.4", "5.9"].map((version) => [
    `typescript-${version}`,
    {
      title: `TypeScript ${version}`, files: "typescript", packages: [`typescript@${version}`, "@types/node@22"],
      build: ["node10", "node16", "bundler"].map((resolution) => compiled(resolution)).join(" && "),
    },
  ])),
  "typescript-7": {
    title: "TypeScript 7", files: "typescript", packages: ["typescript@7", "@types/node@22"],
    build: ["node16", "bundler"].map((resolution) => compiled(resolution)).join(" && "),
  },
  ...Object.fromEntries(["20.0.0", "20.11.1", "22", "24", "26"].map((version) => [
    `node-${version}`,
    {
      title: `Node ${version}`, files: "node", packages: [`${nodePackage}@${version}`], run: "node main.js",
    },
  ])),
};
