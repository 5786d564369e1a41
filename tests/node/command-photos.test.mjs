// The command's photos (turned, with few or many channels, in other colour spaces) and heat maps.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkpoint, folder, picture, printed, raw, readNpy, refused, rgb, run, sharp, skip, variant } from "./command.mjs";
import { farthest, modelPath } from "./golden.mjs";
import { load, stroke } from "./support.mjs";

const DIGITS = new URL("../../weights/digits.safetensors", import.meta.url);

/** The vectors that the command gives for image files, by one run: { name: bytes } → { name: values }. */
async function embedded(here, model, files) {
  const names = Object.keys(files);
  const paths = names.map((name) => here.write(name, files[name]));
  const args = ["embed", "--json", "--what", "patches", "--variant", variant, "--model", model];
  const stdout = await printed([...args, ...paths]);
  return Object.fromEntries(JSON.parse(stdout).map(({ values }, i) => [names[i], Float32Array.from(values)]));
}

/** For each EXIF orientation: the place in the file of a pixel of the upright photo. */
const STORED = {
  1: (x, y) => [x, y],
  2: (x, y, width) => [width - 1 - x, y],
  3: (x, y, width, height) => [width - 1 - x, height - 1 - y],
  4: (x, y, width, height) => [x, height - 1 - y],
  5: (x, y) => [y, x],
  6: (x, y, width, height) => [y, height - 1 - x],
  7: (x, y, width, height) => [width - 1 - y, height - 1 - x],
  8: (x, y, width) => [width - 1 - y, x],
};

function upright({ data, width, height, channels }, orientation) {
  const [wide, high] = orientation > 4 ? [height, width] : [width, height];
  const turned = { data: new Uint8Array(data.length), width: wide, height: high, channels };
  for (let y = 0, i = 0; y < high; y++) {
    for (let x = 0; x < wide; x++, i += channels) {
      const [column, row] = STORED[orientation](x, y, width, height);
      const from = (row * width + column) * channels;
      turned.data.set(data.subarray(from, from + channels), i);
    }
  }
  return turned;
}

test("the command turns photos of all eight EXIF orientations upright, as JPEG and PNG, but WebP not, as browsers", { skip }, async (t) => {
  const here = folder(t);
  const model = checkpoint(here);
  const photo = picture(26, 18, 3);
  const [files, want] = [{}, {}];
  const vit = await load(model, { variant });
  for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
    for (const format of ["jpeg", "png"]) {
      const name = `${orientation}.${format}`;
      files[name] = await raw(photo).withMetadata({ orientation }).toFormat(format).toBuffer();
      const data = await sharp(files[name], { autoOrient: false }).raw().toBuffer();
      want[name] = (await vit.embed(upright({ ...photo, data }, orientation))).patches;
    }
  }
  files["6.webp"] = await raw(photo).withMetadata({ orientation: 6 }).webp({ lossless: true }).toBuffer();
  want["6.webp"] = (await vit.embed(photo)).patches;
  assert.deepEqual(await embedded(here, model, files), want);
  for (const orientation of [2, 3, 4, 5, 6, 7, 8]) assert.notDeepEqual(want[`${orientation}.png`], want["1.png"]);
});

/** One pixel as in src/image/pixels.c: alpha over white in whole numbers. */
const overWhite = (value, alpha) => Math.floor((value * alpha + 255 * (255 - alpha) + 127) / 255);

test("the command reads the colours of PNGs in grey, with alpha, with a palette and with 16 bits", { skip }, async (t) => {
  const here = folder(t);
  const model = checkpoint(here);
  const vit = await load(model, { variant });
  const [grey, greyAlpha, rgba, colours] = [1, 2, 4, 3].map((channels) => picture(22, 17, channels));
  const deep = Uint16Array.from(colours.data, (value, i) => value * 256 + ((i * 37) % 256));
  const few = rgb(picture(22, 17, 1), ([v]) => [v & 0xc0, v & 0x80, 255 - (v & 0xc0)]);
  const deepRaw = { width: 22, height: 17, channels: 3 };
  const files = {
    "grey.png": await raw(grey).toColourspace("b-w").png().toBuffer(),
    "grey-alpha.png": await raw(greyAlpha).toColourspace("b-w").png().toBuffer(),
    "rgba.png": await raw(rgba).png().toBuffer(),
    "palette.png": await raw(few).png({ palette: true, dither: 0 }).toBuffer(),
    "deep.png": await sharp(deep, { raw: deepRaw }).toColourspace("rgb16").png().toBuffer(),
  };
  const colourTypes = Object.values(files).map((bytes) => bytes[25]); // numbered as in the PNG specification
  assert.deepEqual(colourTypes, [0, 4, 6, 3, 2]);
  assert.equal(files["deep.png"][24], 16);
  const got = await embedded(here, model, files);
  const expected = {
    "grey.png": rgb(grey, ([v]) => [v, v, v]),
    "grey-alpha.png": rgb(greyAlpha, ([v, a]) => Array(3).fill(overWhite(v, a))),
    "rgba.png": rgb(rgba, ([r, g, b, a]) => [r, g, b].map((v) => overWhite(v, a))),
    "palette.png": few,
    "deep.png": colours,
  };
  for (const [name, pixels] of Object.entries(expected)) {
    assert.deepEqual(got[name], (await vit.embed(pixels)).patches, name);
  }
});

test("the command reads a grey JPEG exactly and a CMYK JPEG nearly, without inverting it", { skip }, async (t) => {
  const here = folder(t);
  const model = checkpoint(here);
  const vit = await load(model, { variant });
  const soft = rgb(picture(24, 24, 3), (colours) => [...colours].map((v) => 64 + v / 2)); // printable
  const files = {
    "grey.jpg": await raw(picture(24, 24, 1)).toColourspace("b-w").jpeg().toBuffer(),
    "cmyk.jpg": await raw(soft).toColourspace("cmyk").jpeg({ quality: 100 }).toBuffer(),
  };
  const { space, channels } = await sharp(files["cmyk.jpg"]).metadata();
  assert.deepEqual([space, channels], ["cmyk", 4]);
  const got = await embedded(here, model, files);
  const plain = sharp(files["grey.jpg"]).toColourspace("b-w").raw();
  const { data, info } = await plain.toBuffer({ resolveWithObject: true });
  assert.equal(info.channels, 1);
  const pixels = rgb({ data, width: 24, height: 24, channels: 1 }, ([v]) => [v, v, v]);
  assert.deepEqual(got["grey.jpg"], (await vit.embed(pixels)).patches);
  const right = farthest(got["cmyk.jpg"], (await vit.embed(soft)).patches);
  const inverted = rgb(soft, (colours) => [...colours].map((v) => 255 - v));
  const wrong = farthest(got["cmyk.jpg"], (await vit.embed(inverted)).patches);
  assert.ok(right * 4 < wrong, `${right} from the colours, ${wrong} from their inverse`);
});

/** The middle and the top of web/base/heat.ts's colours, on dark and on light. */
const HEAT = { dark: [[138, 59, 22], [255, 138, 76]], light: [[255, 185, 138], [197, 51, 26]] };

/** The colour and the opacity of a value on the scale from 0 to the map's greatest. */
function heatOf(value, values, [middle, top]) {
  const part = value / Math.max(...values), above = Math.max(0, 2 * part - 1);
  return { colour: middle.map((v, c) => v * (1 - above) + top[c] * above), alpha: Math.min(1, 2 * part) };
}

/** A photo's light under a value's colour, through which it shows. */
function overPhoto(light, value, values) {
  const { colour, alpha } = heatOf(value, values, HEAT.dark);
  return light.map((v, c) => v + (colour[c] - v) * 0.75 * alpha);
}

/** The pixels of a PNG, and the pixels in the middle of a patch. */
async function open(path, [rows, columns]) {
  const { data, info } = await sharp(path).raw().toBuffer({ resolveWithObject: true });
  const at = (x, y) => {
    const first = (y * info.width + x) * info.channels;
    return [...data.subarray(first, first + 3)];
  };
  const middle = (patch) => [
    Math.floor(((patch % columns) + 0.5) * (info.width / columns)),
    Math.floor((Math.floor(patch / columns) + 0.5) * (info.height / rows)),
  ];
  return { ...info, at, middle };
}

const near = (got, want) =>
  got.forEach((value, c) => assert.ok(Math.abs(value - want[c]) <= 1, `${got}, not ${want}`));

test("the command attention draws, writes and prints the API's maps", { skip }, async (t) => {
  const here = folder(t);
  const model = checkpoint(here);
  const photo = picture(30, 20, 3);
  const file = here.write("a.png", await raw(photo).png().toBuffer());
  const vit = await load(model, { variant });
  const { attention, input } = await vit.embed(photo, { attention: true });
  assert.deepEqual(input, (await vit.classify(photo)).input);
  const common = ["attention", "--variant", variant, "--model", model, file];
  const ofPatch = { map: "patch", layer: 1, head: "mean", patch: [2, 1] };
  for (const [args, report, values] of [
    [[], { map: "class", layer: 1, head: "mean" }, attention.fromClass()],
    [["--layer", "0", "--head", "1"], { map: "class", layer: 0, head: 1 }, attention.fromClass(0, 1)],
    [["--map", "rollout"], { map: "rollout" }, attention.rollout()],
    [["--map", "patch", "--patch", "2,1"], ofPatch, attention.fromPatch(2, 1)],
  ]) {
    const out = here.at("overlay.png");
    const stdout = await printed([...common, ...args, "--json", "--out", out]);
    assert.deepEqual(JSON.parse(stdout), [{ file, out, ...report, grid: [3, 3], values: [...values] }]);
    const overlay = await open(out, [3, 3]);
    assert.deepEqual([overlay.width, overlay.height], [456, 456]); // 12 pixels, 38 times
    for (const [patch, value] of values.entries()) {
      const [x, y] = overlay.middle(patch);
      const pixel = Math.floor(y / 38) * 12 + Math.floor(x / 38);
      const [mean, std] = [[0.5, 0.25, 0.125], [0.5, 0.5, 0.25]];
      const light = [0, 1, 2].map((c) => 255 * (input[c * 144 + pixel] * std[c] + mean[c]));
      near(overlay.at(x, y), overPhoto(light, value, values));
    }
    if (report.patch) assert.deepEqual(overlay.at(152, 304), [255, 255, 255]);
  }
  const npy = here.at("map.npy");
  assert.equal((await run([...common, "--out", npy])).code, 0);
  assert.deepEqual(readNpy(readFileSync(npy)), { shape: [3, 3], values: attention.fromClass() });
});

test("the command attention tints every pixel of a patch alike, also of a rectangular photo", { skip }, async (t) => {
  const here = folder(t);
  const path = modelPath("tanh_sincos2d_rectangular");
  const vit = await load(path, { variant });
  const [rows, columns] = vit.config.image_size, factor = Math.ceil(448 / rows);
  const photo = picture(columns, rows, 3); // as large as the model's image, so no pixel is resampled
  const { attention } = await vit.embed(photo, { attention: true });
  const { grid } = attention;
  assert.notEqual(grid[0], grid[1]);
  const file = here.write("a.png", await raw(photo).png().toBuffer()), out = here.at("out.png");
  for (const [args, values] of [[[], attention.fromClass()], [["--map", "rollout"], attention.rollout()]]) {
    await printed(["attention", "--variant", variant, "--model", path, "--out", out, ...args, file]);
    const overlay = await open(out, grid);
    assert.deepEqual([overlay.width, overlay.height], [columns * factor, rows * factor]);
    for (const extreme of [Math.min, Math.max]) {
      const patch = values.indexOf(extreme(...values)), [height, width] = [rows / grid[0], columns / grid[1]];
      const [top, left] = [Math.floor(patch / grid[1]) * height, (patch % grid[1]) * width];
      for (let y = top * factor; y < (top + height) * factor; y++) {
        for (let x = left * factor; x < (left + width) * factor; x++) {
          const pixel = Math.floor(y / factor) * columns + Math.floor(x / factor);
          near(overlay.at(x, y), overPhoto([0, 1, 2].map((c) => photo.data[pixel * 3 + c]), values[patch], values));
        }
      }
    }
  }
});

test("the command attention fills a folder for several photos, and a bad photo does not stop it", { skip }, async (t) => {
  const here = folder(t);
  const bytes = await raw({ ...stroke, channels: 4 }).png().toBuffer();
  const files = ["a.png", "b.c.png"].map((name) => here.write(name, bytes));
  const bad = here.write("bad.jpg", Buffer.from("nothing"));
  const args = ["attention", "--variant", variant, "--out", here.at("maps/new/")];
  await refused([...args, files[0], bad, files[1]], 1, /^vitrine: [^\n]*bad\.jpg: expected a whole PNG or JPEG[^\n]*\n$/);
  const vit = await load(DIGITS, { variant });
  const { attention, input } = await vit.classify(stroke, { attention: true });
  const values = attention.fromClass();
  for (const name of ["a", "b.c"]) {
    const overlay = await open(here.at(`maps/new/${name}.attention.png`), attention.grid);
    assert.deepEqual([overlay.width, overlay.height], [448, 448]);
    for (const [patch, value] of values.entries()) {
      const [x, y] = overlay.middle(patch);
      const paper = 1 - input[Math.floor(y / 16) * 28 + Math.floor(x / 16)];
      const { colour, alpha } = heatOf(value, values, HEAT.light);
      near(overlay.at(x, y), colour.map((v) => paper * (255 * (1 - alpha) + alpha * v)));
    }
  }
});

test("a HEIC photo is refused with advice", { skip }, async (t) => {
  const path = folder(t).write("photo.heic", Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1"));
  await refused(["classify", "--variant", variant, path], 1, /photo\.heic: .*, a HEIC photo; convert it to JPEG/);
});

test("a layer, head or patch that the model does not have is a wrong command line", { skip }, async (t) => {
  const here = folder(t);
  const file = here.write("a.png", await raw(picture(12, 12, 3)).png().toBuffer());
  for (const [args, message] of [
    [["--layer", "2"], /--layer: expected 0 to 1 for this model, got 2/],
    [["--map", "patch", "--patch", "0,3"], /--patch: column: expected 0 to 2/],
  ]) {
    await refused(["attention", "--json", "--model", checkpoint(here), ...args, file], 2, message);
  }
});

test("--size gives the model larger images, in classify, embed and attention", { skip }, async (t) => {
  const here = folder(t);
  const photo = picture(60, 50, 3), file = here.write("a.png", await raw(photo).png().toBuffer());
  const model = checkpoint(here), vit = await load(model, { variant });
  const json = async (...args) => JSON.parse(await printed([...args, "--json", "--variant", variant, "--model", model, file]))[0];
  const size = [24, 16], wide = ["--size", "24x16"];
  const { patches, attention } = await vit.embed(photo, { size, attention: true });
  assert.deepEqual((await json("embed", "--what", "patches", ...wide)).values, Array.from(patches));
  const { classes } = await vit.classify(photo, { size: [24, 24], topK: 3 });
  assert.deepEqual((await json("classify", "--top", "3", "--size", "24")).classes, classes);
  const report = await json("attention", "--map", "patch", "--patch", "5,3", ...wide, "--out", here.at("map.png"));
  assert.deepEqual([report.grid, report.values], [[6, 4], Array.from(attention.fromPatch(5, 3))]);
  const { width, height } = await sharp(here.at("map.png")).metadata();
  assert.deepEqual([height, width], size.map((side) => side * 28));
  await refused(["classify", "--model", model, "--size", "25", file], 1, /size: expected multiples of the patch, 4×4: the nearest are 24×24 and 28×28/);
  await refused(["attention", "--json", "--model", model, "--map", "patch", "--patch", "6,3", ...wide, file], 2, /--patch: row: expected 0 to 5/);
});
