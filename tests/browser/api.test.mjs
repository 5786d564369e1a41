// The package in a browser, without a bundler, under the strictest policy that it allows.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { picture, raw, skip as noSharp } from "../node/command.mjs";
import { Vit } from "../../dist/vit.js";
import { openServer, sendFile } from "../node/server.mjs";
import { launch, name, skip } from "./browsers.mjs";

const root = new URL("../../", import.meta.url);
const MODEL = "/tests/golden/per_head.safetensors";
const policy = (scripts) =>
  `default-src 'none'; script-src ${scripts}; worker-src 'self'; connect-src 'self'; img-src blob:`;
const withWasm = { "content-security-policy": policy("'self' 'wasm-unsafe-eval'") };
const isolation = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};
/** Headers that also allow files from data: addresses. */
const withData = {
  "content-security-policy": policy("'self' 'wasm-unsafe-eval'").replace("connect-src", "connect-src data:"),
};
const PAGES = {
  "/data": withData,
  "/": withWasm,
  "/without-wasm": { "content-security-policy": policy("'self'") },
  "/isolated": { ...withWasm, ...isolation },
};

let server;
let browser;

async function answer({ url }, response) {
  if (PAGES[url]) {
    const headers = { "content-type": "text/html", ...PAGES[url] };
    return response.writeHead(200, headers).end("<!doctype html>");
  }
  await sendFile(response, new URL(`.${url}`, root), isolation);
}

before(async () => {
  if (skip) return;
  server = await openServer(answer);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
});

/** Runs `work` in a new page. Its arguments are the model's address and `argument`. */
async function inPage(work, { path = "/", prepare, argument, inBrowser = browser } = {}) {
  const page = await inBrowser.newPage();
  try {
    await page.goto(server.address + path);
    await prepare?.(page);
    return await page.evaluate(work, { model: MODEL, argument });
  } finally {
    await page.close();
  }
}

test("every image source gives the same digit", { skip }, async () => {
  const results = await inPage(async ({ model }) => {
    const { Vit } = await import("/dist/vit.js");
    const vit = await Vit.load({ weights: model, prepare: { kind: "digit" } });
    const canvas = Object.assign(document.createElement("canvas"), { width: 96, height: 80 });
    const context = canvas.getContext("2d");
    context.fillStyle = "white";
    context.fillRect(0, 0, 96, 80);
    context.lineWidth = 8;
    context.stroke(new Path2D("M30 10 H70 L45 70"));
    const blob = await new Promise((done) => canvas.toBlob(done));
    const image = new Image();
    image.src = URL.createObjectURL(blob);
    const offscreen = new OffscreenCanvas(96, 80);
    offscreen.getContext("2d").drawImage(canvas, 0, 0);
    const untouched = document.createElement("canvas").transferControlToOffscreen();
    const video = Object.assign(document.createElement("video"), { muted: true });
    const early = await vit.classify(video).catch(({ code, message }) => `${code}: ${message}`);
    video.srcObject = canvas.captureStream();
    const redraw = setInterval(() => context.fillRect(0, 0, 1, 1), 20); // a stream needs new frames
    await video.play();
    clearInterval(redraw);
    const sources = {
      canvas,
      offscreen,
      image,
      video,
      blob,
      data: context.getImageData(0, 0, 96, 80),
      bitmap: await createImageBitmap(canvas),
      frame: new VideoFrame(canvas, { timestamp: 0 }),
      file: new File([blob], "seven.png"),
    };
    const logits = {};
    for (const [name, source] of Object.entries(sources)) {
      logits[name] = [...(await vit.classify(source)).logits];
    }
    sources.bitmap.close();
    const fails = [];
    for (const source of [sources.bitmap, untouched, new Blob(["no image"])]) {
      fails.push(
        await vit.classify(source).then(
          () => "",
          ({ code }) => code,
        ),
      );
    }
    return { variant: vit.variant, early, logits, fails };
  });
  assert.ok(["relaxed", "simd128"].includes(results.variant));
  assert.match(results.early, /^bad_image: .*wait until it has loaded/);
  assert.deepEqual(results.fails, ["bad_image", "blank_image", "bad_image"]);
  const { data, ...others } = results.logits;
  for (const [name, logits] of Object.entries(others)) assert.deepEqual(logits, data, name);
});

test("a photo is turned as EXIF says, and grey and CMYK photos give the pixels that they show", { skip: skip || noSharp }, async () => {
  const upright = picture(64, 48, 3);
  const inverse = { ...upright, data: upright.data.map((value) => 255 - value) };
  const jpeg = (image) => image.jpeg({ quality: 100, chromaSubsampling: "4:4:4" });
  const base64 = async (image) => (await image.toBuffer()).toString("base64");
  /** The picture as a file of each orientation stores it. */
  const stored = {
    2: (image) => image.flop(),
    3: (image) => image.rotate(180),
    4: (image) => image.flip(),
    6: (image) => image.rotate(270),
    8: (image) => image.rotate(90),
  };
  const files = {};
  for (const [orientation, turn] of Object.entries(stored)) {
    const image = jpeg(turn(raw(upright))).withMetadata({ orientation: Number(orientation) });
    files[`orientation ${orientation}`] = await base64(image);
  }
  files.grey = await base64(jpeg(raw(upright).greyscale()));
  files.cmyk = await base64(jpeg(raw(upright).toColourspace("cmyk")));
  files.webp = await base64(raw(upright).webp({ lossless: true }).withMetadata({ orientation: 6 })); // is not turned
  const pixels = (image) => ({ ...image, data: [...image.data] });
  const result = await inPage(
    async ({ argument: { files, upright, inverse } }) => {
      const { Vit } = await import("/dist/vit.js");
      const prepare = { kind: "photo", resize: 12, crop: 12, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] };
      const vit = await Vit.load({
        weights: "/tests/golden/families/vit.safetensors", config: { heads: 2 }, prepare,
      });
      const look = async (image) => [...(await vit.classify(image)).input];
      const inputs = {};
      for (const [name, base64] of Object.entries(files)) {
        inputs[name] = await look(await (await fetch(`data:image/jpeg;base64,${base64}`)).blob());
      }
      const inputOf = (image) => look({ ...image, data: Uint8Array.from(image.data) });
      return { inputs, upright: await inputOf(upright), inverse: await inputOf(inverse) };
    },
    { path: "/data", argument: { files, upright: pixels(upright), inverse: pixels(inverse) } },
  );
  const { grey, cmyk, ...oriented } = result.inputs;
  const gap = (a, b) => Math.max(...a.map((value, i) => Math.abs(value - b[i])));
  const mean = (a, b) => a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length;
  for (const [name, input] of Object.entries(oriented)) {
    assert.ok(gap(input, result.upright) < 4 / 127.5, `${name}: ${gap(input, result.upright)}`); // 4 levels of JPEG
  }
  assert.ok(mean(cmyk, result.upright) < mean(cmyk, result.inverse) / 3);
  const plane = 144;
  for (let i = 0; i < plane; i++) assert.ok(grey[i] === grey[i + plane] && grey[i] === grey[i + 2 * plane]);
});

/** A photo model of 12 × 12 pixels, whose input is the photo's bytes / 255. */
const PHOTOS = {
  weights: "/tests/golden/families/vit.safetensors",
  config: { heads: 2 },
  prepare: { kind: "photo", resize: [12, 12], crop: [12, 12], mean: [0, 0, 0], std: [1, 1, 1] },
};

test("a photo larger than iOS draws on a canvas is read whole, and one that cannot be read is an error", { skip: skip || noSharp }, async () => {
  const [width, height] = [5000, 4000];
  const large = raw(picture(50, 40, 3)).resize(width, height, { kernel: "nearest" });
  const photo = (await large.clone().png().toBuffer()).toString("base64");
  const vit = await Vit.load({ ...PHOTOS, weights: new URL(`.${PHOTOS.weights}`, root) });
  const { input } = await vit.classify({ data: await large.raw().toBuffer(), width, height, channels: 3 });
  vit.dispose();
  const outcome = await inPage(async ({ argument: { photo, source } }) => {
    const contexts = [OffscreenCanvasRenderingContext2D, CanvasRenderingContext2D].map(({ prototype }) => prototype);
    const originals = contexts.map(({ drawImage, getImageData }) => ({ drawImage, getImageData }));
    const without = (broken) => contexts.forEach((context, i) => Object.assign(context, originals[i], broken(originals[i])));
    without(({ drawImage }) => ({ // as on iOS
      drawImage(...args) {
        if (this.canvas.width * this.canvas.height <= 2 ** 24) drawImage.apply(this, args);
      },
    }));
    const { Vit } = await import("/dist/vit.js");
    const vit = await Vit.load(source);
    const blob = await (await fetch(`data:image/png;base64,${photo}`)).blob();
    const image = await createImageBitmap(blob);
    const look = async (source) => [...(await vit.classify(source)).input];
    const results = { blob: await look(blob), image: await look(image) };
    const errors = [];
    for (const broken of [
      () => ({ drawImage() {} }),
      () => ({ getImageData: (x, y, width, height) => new ImageData(width, height) }),
    ]) {
      without(broken);
      errors.push(await vit.classify(image).catch(({ code, message }) => `${code}: ${message}`));
    }
    return { results, errors };
  }, { path: "/data", argument: { photo, source: PHOTOS } });
  for (const [name, got] of Object.entries(outcome.results)) assert.deepEqual(got, [...input], name);
  assert.match(outcome.errors[0], /^blank_image: .*5000×4000 pixels that are all transparent/);
  assert.match(outcome.errors[1], /^no_memory: .*stays empty/);
});

test("a browser that hides a canvas's pixels gives an error that says what to allow; strokes and pixels work", {
  skip: name !== "firefox" && "only Firefox can be told to hide them",
}, async () => {
  const resisting = await launch({ "privacy.resistFingerprinting": true });
  try {
    const result = await inPage(async ({ model }) => {
      const { Vit } = await import("/dist/vit.js");
      const vit = await Vit.load({ weights: model, prepare: { kind: "digit" } });
      const canvas = Object.assign(document.createElement("canvas"), { width: 96, height: 80 });
      const context = canvas.getContext("2d");
      context.lineWidth = 8;
      context.stroke(new Path2D("M30 10 H70 L45 70"));
      const blob = await new Promise((done) => canvas.toBlob(done));
      const points = [[30, 10], [70, 10], [45, 70]].map(([x, y]) => ({ x, y, width: 8 }));
      const data = new Uint8Array(96 * 80).fill(255);
      data.fill(0, 96 * 40, 96 * 40 + 60);
      const errors = [];
      for (const source of [canvas, blob]) errors.push(await vit.classify(source).catch(({ code, message }) => `${code}: ${message}`));
      const others = [{ strokes: [points], width: 96, height: 80 }, { data, width: 96, height: 80 }];
      return { errors, answers: (await vit.classifyAll(others)).length };
    }, { inBrowser: resisting });
    for (const error of result.errors) assert.match(error, /^unsupported: .*privacy\.resistFingerprinting.*address bar/);
    assert.equal(result.answers, 2);
  } finally {
    await resisting.close();
  }
});

test("files of kinds that browsers do not decode get advice", { skip }, async () => {
  const messages = await inPage(async ({ model }) => {
    const { Vit } = await import("/dist/vit.js");
    const vit = await Vit.load({ weights: model, prepare: { kind: "digit" } });
    const heic = ["\0\0\0\u0018ftypheic\0\0\0\0mif1heic"];
    const svg = ['<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0H9"/></svg>'];
    const errorOf = (blob) => vit.classify(blob).catch(({ code, message }) => `${code}: ${message}`);
    return [await errorOf(new Blob(heic)), await errorOf(new Blob(svg, { type: "image/svg+xml" }))];
  });
  assert.match(messages[0], /^bad_image: .*HEIC.*JPEG/);
  assert.match(messages[1], /^bad_image: .*an SVG.*width and a height/);
});

test("drawOverlay draws a map where the placement says, on a canvas of any size", { skip }, async () => {
  const boxes = await inPage(async () => {
    const { drawOverlay } = await import("/dist/vit.js");
    const map = Float32Array.of(0, 1, 2, 4); // 2 × 2 patches; the first is not painted
    const overlayOn = (canvas, more) => {
      drawOverlay(canvas, map, { grid: [2, 2], colour: [9, 99, 199], opacity: 1, ...more });
      const { width, height } = canvas;
      const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
      const at = (x, y) => [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)];
      const painted = [...Array(width * height).keys()].filter((i) => data[4 * i + 3] > 127);
      const xs = painted.map((i) => i % width), ys = painted.map((i) => Math.floor(i / width));
      return [[xs, ys].map((all) => [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b)) + 1]), at];
    };
    const stretched = { left: 0, top: 0, width: 600, height: 300 };
    const cropped = { left: 150, top: 30, width: 300, height: 240 };
    const bordered = { left: 0, top: -150, width: 600, height: 600 };
    const canvas = Object.assign(document.createElement("canvas"), { width: 60, height: 30 });
    const source = { width: 600, height: 300 };
    const [whole, at] = overlayOn(canvas, { placement: stretched, ...source });
    return {
      whole, colours: [at(5, 5), at(45, 25)],
      cropped: overlayOn(canvas, { placement: cropped, ...source })[0],
      bordered: overlayOn(canvas, { placement: bordered, ...source })[0],
      unscaled: overlayOn(new OffscreenCanvas(600, 300), { placement: cropped })[0],
      smooth: overlayOn(canvas, { placement: stretched, ...source, smooth: true })[1](30, 29)[3],
      errors: [{ grid: [3, 2] }, { placement: {} }, { width: 0 }, { size: 1 }].map((wrong) => {
        try {
          overlayOn(canvas, { placement: stretched, ...wrong });
        } catch ({ code, message }) {
          return `${code}: ${message}`;
        }
      }),
    };
  });
  assert.deepEqual(boxes.colours, [[0, 0, 0, 0], [9, 99, 199, 255]]);
  assert.deepEqual(boxes.whole, [[0, 60], [15, 30]]); // half of the largest value and more
  assert.deepEqual(boxes.cropped, [[15, 45], [15, 27]]);
  assert.deepEqual(boxes.bordered, [[0, 60], [15, 30]]);
  assert.deepEqual(boxes.unscaled, [[150, 450], [150, 270]]);
  assert.ok(boxes.smooth > 128 && boxes.smooth < 255, `${boxes.smooth}`); // between 2 and 4
  const [grid, placement, size, option] = boxes.errors;
  assert.match(grid, /^bad_argument: .*4 for 3×2/);
  assert.match(placement, /^bad_argument: .*placement/);
  assert.match(size, /^bad_argument: .*0×30.*loaded/);
  assert.match(option, /^bad_option: /);
});

test(
  "a worker gives the same logits as the page, and a lost worker is replaced",
  { skip },
  async () => {
    const result = await inPage(async ({ model }) => {
      const workers = [];
      const { Worker } = globalThis;
      globalThis.Worker = function (...args) {
        workers.push(new Worker(...args));
        return workers.at(-1);
      };
      const { Vit } = await import("/dist/vit.js");
      const image = new Float32Array(784).map((_, index) => Math.sin(index));
      const here = await (await Vit.load(model)).classify(image, { attention: true });
      const vit = await Vit.load(model, { worker: true });
      const there = await vit.classify(image, { attention: true });
      workers[0].postMessage = () => // instead of the next run
        queueMicrotask(() =>
          workers[0].dispatchEvent(new ErrorEvent("error", { message: "out of memory" })),
        );
      const dying = vit.classify(image).then(
        () => "",
        ({ code }) => code,
      );
      const later = await vit.classify(image);
      return {
        here: [...here.logits],
        there: [...there.logits],
        later: [...later.logits],
        dying: await dying,
        rollouts: [[...here.attention.rollout()], [...there.attention.rollout()]],
        count: workers.length,
      };
    });
    assert.deepEqual(result.there, result.here);
    assert.deepEqual(result.later, result.here);
    assert.deepEqual(result.rollouts[0], result.rollouts[1]);
    assert.equal(result.dying, "worker_lost");
    assert.equal(result.count, 2);
  },
);

const noRoute = name === "webkit" && "WebDriver cannot withhold a file";

test("a worker that cannot start is an error with its reason", { skip: skip || noRoute }, async () => {
  const error = await inPage(
    async ({ model }) => {
      const { Vit } = await import("/dist/vit.js");
      return Vit.load(model, { worker: true }).catch(({ code, message }) => `${code}: ${message}`);
    },
    { prepare: (page) => page.route("**/worker.js", (route) => route.abort()) },
  );
  assert.match(error, /^worker_lost: .*\/dist\/worker\.js.*is it a script\?/);
});

test("a policy that forbids WebAssembly is an error that says so, for our modules and for given ones", { skip }, async () => {
  for (const wasm of [undefined, "/dist/vit.simd128.wasm", "/dist/"]) {
    const error = await inPage(
      async ({ model, argument: wasm }) => {
        const { Vit } = await import("/dist/vit.js");
        return Vit.load(model, { wasm }).catch(({ code, message }) => `${code}: ${message}`);
      },
      { path: "/without-wasm", argument: wasm },
    );
    assert.match(error, /^no_wasm: .*'wasm-unsafe-eval'/);
  }
});

test("every build gives the same logits, within rounding", { skip }, async () => {
  const { names, logits, refusal } = await inPage(async ({ model }) => {
    const { Vit } = await import("/dist/vit.js");
    const image = new Float32Array(784).map((_, index) => Math.sin(index));
    const logits = [];
    let refusal;
    const bytes = await (await fetch("/dist/vit.relaxed.wasm")).arrayBuffer();
    const names = ["scalar", "simd128"];
    if (WebAssembly.validate(bytes)) names.push("relaxed");
    else refusal = await Vit.load(model, { variant: "relaxed" }).catch(({ code }) => code);
    for (const variant of names) {
      logits.push([...(await (await Vit.load(model, { variant })).classify(image)).logits]);
    }
    return { names, logits, refusal };
  });
  if (!names.includes("relaxed")) assert.equal(refusal, "unsupported");
  const largest = Math.max(...logits[0].map(Math.abs));
  for (const [index, got] of logits.entries()) {
    const gap = Math.max(...got.map((value, at) => Math.abs(value - logits[0][at])));
    assert.ok(gap <= 1e-5 * largest, `${names[index]}: ${gap}`);
  }
});

test("an isolated page has threads, with and without a worker", { skip }, async () => {
  const work = async ({ model }) => {
    const { Vit } = await import("/dist/vit.js");
    const images = Array.from({ length: 9 }, (_, seed) =>
      new Float32Array(784).map((_, index) => Math.sin(seed + index)),
    );
    const answers = [];
    for (const options of [{}, { threads: 2 }, { threads: 2, worker: true }]) {
      const vit = await Vit.load(model, options);
      const results = await vit.classifyAll(images, { attention: true });
      answers.push({
        threads: vit.threads,
        values: results.flatMap(({ logits, attention }) => [...logits, ...attention.rollout()]),
      });
      vit.dispose();
    }
    // Some builds of WebKitGTK isolate a page and still have no shared memory.
    const shared = typeof SharedArrayBuffer === "function";
    return { answers, most: shared ? navigator.hardwareConcurrency : 1 };
  };
  const { answers, most } = await inPage(work, { path: "/isolated" });
  const [one, ...many] = answers;
  assert.equal(one.threads, 1);
  for (const { threads, values } of many) {
    assert.equal(threads, Math.min(2, most));
    assert.deepEqual(values, one.values);
  }
});

test("in a page that is not isolated a warning says why there is one thread", { skip }, async () => {
  const { threads, warned } = await inPage(async ({ model }) => {
    const warned = [];
    console.warn = (text) => warned.push(text);
    const { Vit } = await import("/dist/vit.js");
    const vit = await Vit.load(model, { threads: 2 });
    await vit.classify(new Float32Array(784));
    return { threads: vit.threads, warned };
  });
  assert.equal(threads, 1);
  assert.match(warned.join(), /one thread in place of 2: the page is not cross-origin isolated/);
});

const otherCanvas = name === "webkit" && "strokes on WebKitGTK's canvas differ; why is not known yet";

test("the brush draws what a canvas draws", { skip: skip || otherCanvas }, async () => {
  const differences = await inPage(async ({ model }) => {
    const { Vit } = await import("/dist/vit.js");
    const vit = await Vit.load({ weights: model, prepare: { kind: "digit" } });
    const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
    const differences = [];
    for (let trial = 0; trial < 24; trial++) {
      const width = [2, 5, 11, 23, 30][trial % 5];
      const points = Array.from({ length: 3 + trial }, (_, i) => ({
        x: 140 + 90 * Math.sin(0.9 * i + trial) * Math.cos(0.3 * i * trial),
        y: 140 + 90 * Math.cos(0.7 * i + 2 * trial),
        width,
      }));
      const canvas = Object.assign(document.createElement("canvas"), { width: 280, height: 280 });
      const context = canvas.getContext("2d");
      context.fillStyle = "white";
      context.fillRect(0, 0, 280, 280);
      Object.assign(context, { lineWidth: width, lineCap: "round", lineJoin: "round" });
      context.moveTo(points[0].x, points[0].y);
      for (let i = 1; i + 1 < points.length; i++) {
        const to = middle(points[i], points[i + 1]);
        context.quadraticCurveTo(points[i].x, points[i].y, to.x, to.y);
      }
      context.lineTo(points.at(-1).x, points.at(-1).y);
      context.stroke();
      const fromStrokes = await vit.classify({ strokes: [points], width: 280, height: 280 });
      const fromCanvas = await vit.classify(canvas);
      const off = fromStrokes.input.map((value, i) => Math.abs(value - fromCanvas.input[i]));
      const mean = off.reduce((sum, value) => sum + value) / off.length;
      differences.push({ width, worst: Math.max(...off), mean });
    }
    return differences;
  });
  // The two brushes smooth edges differently. If this moves the ink's box by one of 280 pixels, a
  // cell of 10 pixels at an edge changes by a tenth, or by two tenths for a hairline. Otherwise it
  // changes by a few levels of 255.
  for (const { width, worst, mean } of differences) {
    assert.ok(worst < 0.25 && mean < 0.01, `width ${width}: ${worst} at worst, ${mean} on average`);
  }
  const alike = differences.filter(({ worst }) => worst < 0.07);
  assert.ok(alike.length > differences.length / 2, `${alike.length} of ${differences.length}`);
});

/** In a page: trains a small model on bars, each time from the same start. */
async function trains({ argument }) {
  const { Trainer } = await import("/dist/train.js");
  const SIDE = 8;
  const model = { image_size: [SIDE, SIDE], patch_size: [4, 4], channels: 1, width: 16, depth: 2, heads: 2, mlp_width: 32, classes: 2, labels: ["across", "down"] };
  const bar = (index) => Float32Array.from({ length: SIDE * SIDE }, (_, at) => {
    const [row, column] = [Math.floor(at / SIDE), at % SIDE];
    return (index % 2 ? column : row) === index % SIDE ? 1 : 0;
  });
  const trainer = await Trainer.create({ recipe: { model, training: { batch: 8, learning_rate: 4e-3 } } }, argument);
  const bars = Array.from({ length: 32 }, (_, index) => bar(index));
  await trainer.add(bars, bars.map((_, index) => index % 2));
  let last;
  for await (const epoch of trainer.run({ epochs: 30 })) last = epoch;
  const vit = await trainer.vit();
  const answers = await vit.classifyAll(bars);
  const right = answers.filter(({ classes }, index) => classes[0].index === index % 2).length;
  const { threads } = trainer;
  const other = await Trainer.resume(await trainer.checkpoint(), argument);
  const [before, after] = [await trainer.vit(), await other.vit()];
  const logits = async (one) => String((await one.classify(bars[0])).logits);
  const same = (await logits(before)) === (await logits(after));
  for (const one of [trainer, other, vit, before, after]) one.dispose();
  // as in the test of threads above
  const most = typeof SharedArrayBuffer === "function" ? navigator.hardwareConcurrency : 1;
  return { right, loss: last.loss, threads, most, same };
}

for (const [what, path, options, threads] of [
  ["in its own thread", "/", {}, 1],
  ["in a worker", "/", { worker: true }, 1],
  ["by two threads in an isolated page", "/isolated", { worker: true, threads: 2 }, 2],
]) {
  test(`a page trains ${what}, under the same policy`, { skip }, async () => {
    const result = await inPage(trains, { path, argument: options });
    assert.equal(result.right, 32, JSON.stringify(result));
    assert.ok(result.loss < 0.1, JSON.stringify(result));
    assert.equal(result.threads, Math.min(threads, result.most));
    assert.ok(result.same, "the weights of a resumed trainer");
  });
}
