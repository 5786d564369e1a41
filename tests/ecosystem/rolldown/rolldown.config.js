export default {
  input: "main.js",
  output: { dir: "dist" },
  experimental: { resolveNewUrlToAsset: true },
};
