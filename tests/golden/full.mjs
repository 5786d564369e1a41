// Runs full.py's model through the API: each build loads the model by its path and classifies the
// same photos. Prints how far the logits are from torchvision's, the times and the memory. npm run
// test:full runs it:
//
//     node tests/golden/full.mjs FOLDER
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Vit } from "../../dist/vit.js";
import { farthest, modelPath } from "../node/golden.mjs";

/** The largest error allowed, as a share of the largest logit. */
const LIMIT = 1e-4;
const TIMES = 5;

async function measure(folder, variant) {
  const { dtype, mean, std, photos } = JSON.parse(readFileSync(join(folder, "expected.json")));
  const weights = join(folder, "model.safetensors");
  const result = { variant, dtype, images: photos.length, load_ms: [], error: 0, same_top5: 0, image_ms: [] };
  for (const interpolation of ["bilinear", "bicubic"]) {
    const start = performance.now();
    const prepare = { kind: "photo", resize: 256, crop: 224, mean, std, interpolation };
    const vit = await Vit.load({ weights, prepare }, { variant });
    result.load_ms.push(performance.now() - start);
    result.loaded_mb ??= peak(); // of the first model only, without the second
    for (const { name, width, height, logits } of photos.filter((one) => one.interpolation === interpolation)) {
      const image = { data: readFileSync(join(folder, `${name}.rgb`)), width, height };
      for (let time = 0; time < TIMES; time++) {
        const got = await vit.classify(image, { topK: 5 });
        result.image_ms.push(got.milliseconds);
        if (time > 0) continue;
        const error = farthest(got.logits, logits);
        result.error = Math.max(result.error, error); // NaN stays
        result.same_top5 += Number(String(got.classes.map(({ index }) => index)) === String(top5(logits)));
      }
    }
    vit.dispose();
  }
  return result;
}

const top5 = (logits) => logits.map((logit, index) => [logit, index]).sort(([a], [b]) => b - a)
  .slice(0, 5).map(([, index]) => index);

/** The peak memory of the process in megabytes, including Node itself. */
const peak = () => process.resourceUsage().maxRSS / 1024;

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

const [folder, variant] = process.argv.slice(2);
if (!folder) throw new Error("expected node tests/golden/full.mjs FOLDER, where full.py fills FOLDER");
if (variant) {
  console.log(JSON.stringify(await measure(folder, variant)));
} else {
  for (const build of ["simd128", "relaxed"]) {
    const there = await Vit.load(modelPath("per_head"), { variant: build }).catch(({ code }) => code);
    if (there === "unsupported") { // Node has relaxed SIMD from 22 on
      console.log(`${build}: skipped, this engine lacks it`);
      continue;
    }
    // Each build runs in a process of its own, so that its memory is measured alone.
    const text = execFileSync(process.execPath, [fileURLToPath(import.meta.url), folder, build], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { dtype, images, error, same_top5, load_ms, image_ms, loaded_mb } = JSON.parse(text);
    const good = error <= LIMIT && same_top5 === images;
    if (!good) process.exitCode = 1;
    console.log(
      `${build}, ${dtype}: largest error ${error.toExponential(1)} of the largest logit, ` +
        `top 5 the same for ${same_top5} of ${images}${good ? "" : " – too far"}; ` +
        `loaded in ${(median(load_ms) / 1000).toFixed(2)} s, ${median(image_ms).toFixed(0)} ms an image, ` +
        `at most ${loaded_mb.toFixed(0)} MB of memory to load it`,
    );
  }
}
