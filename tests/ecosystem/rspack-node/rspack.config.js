export default {
  mode: "production",
  target: "node20",
  entry: "./main.js",
  output: { module: true, filename: "main.js" },
  experiments: { outputModule: true },
  performance: { hints: false }, // a model is a large asset
};
