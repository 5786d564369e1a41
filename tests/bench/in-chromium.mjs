// The bench in headless Chromium, with pages from our own server. Each contest and each start has a
// new browser context.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { text } from "node:stream/consumers";
import { chromium } from "playwright-core";
import { modelOf } from "./models.mjs";
import { writeSafetensors } from "../../web/base/safetensors.mjs";
import { typeOf } from "../../web/scripts/serve.mjs";
import { openServer } from "../node/server.mjs";
import { onnxFiles, scripts, startUp } from "./start-up.mjs";
import { bundleGradients } from "./tfjs-gradients.mjs";

const root = new URL("../../", import.meta.url);
const packages = "onnxruntime-web|protobufjs|@tensorflow/tfjs-core|@tensorflow/tfjs-backend-wasm|@jax-js/jax";
/** The files that pages may ask for. */
export const served = new RegExp(`^/(dist|tests/bench|web/base|node_modules/(${packages})/dist)/[\\w.-]+$`);
const args = [
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
];

/** A place to bench in, like inNode's, in the Chromium at `executablePath`. */
export async function inChromium(executablePath, limits) {
  const pages = new Map(); // path → [type, bytes], for paths that are no files
  for (const file of limits) pages.set(`/${basename(file)}`, ["application/wasm", readFileSync(file)]);
  const limitUrls = [...pages.keys()];
  pages.set("/", ["text/html", "<!doctype html><title>bench</title>"]);
  const post = {}; // take: the function that gets what a page posts
  const { address: origin, close } = await serve(pages, post);
  const browser = await chromium.launch({ executablePath, args });

  const inPage = async (path, work) => {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(`${origin}/`);
      if (path !== "/") await page.goto(origin + path);
      return await work(page);
    } finally {
      await context.close();
    }
  };
  return {
    where: `Chromium ${browser.version()}`,
    contest: async (name, plan) => {
      if (!name.startsWith("random:")) pages.set("/model", ["application/octet-stream", await readFile(name)]);
      return inPage("/", (page) => page.evaluate(async (options) => {
        const { contestHere } = await import("/tests/bench/in-page.mjs");
        return contestHere(...options);
      }, [name, plan, limitUrls]));
    },
    training: async (recipe, plan) => {
      const { model } = JSON.parse(await readFile(recipe, "utf8"));
      pages.set("/tfjs-gradients.mjs", ["text/javascript", await readFile(await bundleGradients())]);
      return inPage("/", (page) => page.evaluate(async (options) => {
        const { trainingHere } = await import("/tests/bench/in-page-training.mjs");
        return trainingHere(...options);
      }, [model, plan, limitUrls]));
    },
    startUp: async (name, plan) => {
      const model = await modelOf(name, () => readFile(name));
      const files = { "model.safetensors": writeSafetensors(model), ...onnxFiles(model) };
      for (const [file, bytes] of Object.entries(files)) {
        pages.set(`/files/${file}`, ["application/octet-stream", bytes]);
      }
      const urls = {
        vitrine: "/dist/vit.js",
        onnx: "/node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs",
        model: "/files/model.safetensors",
        folder: "/files/",
      };
      const run = async (script, options) => {
        pages.set("/start", ["text/html", startPage(script, options)]);
        // Ask the page nothing while it starts, because that would take its time.
        const posted = new Promise((resolve) => { post.take = resolve; });
        const { error, ...answer } = await inPage("/start", () => posted);
        if (error) throw new Error(`start-up: ${error}`);
        return answer;
      };
      return startUp(model, urls, run, plan);
    },
    close: async () => {
      await browser.close();
      await close();
    },
  };
}

/** A page that runs a script. The script is a method, and its text needs an object around it. */
function startPage(script, options) {
  return `<!doctype html><title>bench</title><script type="module">
const { ${JSON.stringify(script)}: start } = { ${scripts[script]} };
const answer = await start(${JSON.stringify(options)}).catch((error) => ({ error: String(error) }));
await fetch("/answer", { method: "POST", body: JSON.stringify(answer) });
</script>`;
}

/** Serves an isolated origin, because a browser gives others no shared memory and no fine clock. */
async function serve(pages, post) {
  const isolation = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
  const answer = async (path) => {
    if (pages.has(path)) return pages.get(path);
    const body = served.test(path) && (await readFile(new URL(`.${path}`, root)).catch(() => undefined));
    return body && [typeOf(path), body];
  };
  return openServer(async (request, response) => {
    if (request.method === "POST") {
      response.end();
      return post.take(JSON.parse(await text(request)));
    }
    const found = await answer(new URL(request.url, "http://page").pathname);
    if (!found) return void response.writeHead(404).end();
    const [type, body] = found;
    const about = { "Content-Type": type, "Content-Length": Buffer.byteLength(body) };
    response.writeHead(200, { ...about, ...isolation }).end(body);
  });
}
