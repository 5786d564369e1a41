// The commands index and find: what is found, runs that are stopped, parts of the work on other machines.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { Index, Vit } from "vitrine";
import { checkpoint, cli, folder, picture, printed, raw, readNpy, refused, run, sharp, skip, variant } from "./command.mjs";
import { modelPath } from "./golden.mjs";
import { during, load } from "./support.mjs";

/** Seven photos in a folder, and a model. */
async function album(t) {
  const here = folder(t), model = checkpoint(here);
  const files = Array.from({ length: 7 }, (_, at) => here.at(`${at}.png`));
  const pictures = files.map((_, at) => picture(13 + 3 * at, 12 + at, 3));
  for (const [at, file] of files.entries()) writeFileSync(file, await raw(pictures[at]).png().toBuffer());
  const args = ["index", "--model", model, "--variant", variant];
  return { here, model, files, pictures, args, out: here.at("photos.safetensors") };
}

test("a folder's photos are found by a photo, with the cosines of the API's vectors; bad ones are named", { skip }, async (t) => {
  const { here, model, files, pictures, args, out } = await album(t);
  here.write("bad.jpg", "no photo");
  const result = await run([...args, "--out", out, here.path]);
  assert.deepEqual([result.code, result.stdout], [1, `${out}: 7 photos, 7 of them new\n`]);
  assert.match(result.stderr, /^vitrine: [^\n]*bad\.jpg: expected a whole PNG or JPEG[^\n]*\n$/);
  const vit = await load(model, { variant });
  const vectors = await Promise.all(pictures.map(async (photo) => (await vit.embed(photo)).pooled));
  const index = new Index(vectors[0].length);
  files.forEach((file, at) => index.add(file, vectors[at]));
  const want = index.search(vectors[2], 3);
  const search = ["find", "--index", out, "--model", model, "--variant", variant, "--top", "3"];
  assert.equal(await printed([...search, files[2]]), want.map(({ id, score }) => `${id}\t${score.toFixed(4)}\n`).join(""));
  const found = want.map(({ id: file, score }) => ({ file, score }));
  assert.deepEqual(JSON.parse(await printed([...search, "--json", files[2]])), { query: files[2], found });
  assert.deepEqual((await printed([...search, "--ndjson", files[2]])).trim().split("\n").map((line) => JSON.parse(line)), found);
});

test("words are found by the model's own text tower, if it has one", { skip }, async (t) => {
  const { model, files, pictures, args, out } = await album(t);
  await printed([...args, "--out", out, ...files]);
  const search = ["find", "--index", out, "--model", model, "--variant", variant, "--top", "1", "two dogs"];
  await refused(search, 1, /expected a model [^\n]*such as CLIP/);
  const vit = await load(model, { variant });
  const { pooled } = await vit.embed(pictures[4]);
  const texts = [];
  const embedText = async (inputs) => {
    texts.push(inputs);
    return { embeds: pooled, width: pooled.length };
  };
  assert.equal(await during(Vit.prototype, "embedText", embedText, () => printed(search)), `${files[4]}\t1.0000\n`);
  assert.deepEqual(texts, [["two dogs"]]);
});

test("a map of the nearest photo is hottest at the patch that matches the words most, by a CLIP alone", { skip }, async (t) => {
  const { here, model, files, pictures } = await album(t);
  const clip = { weights: modelPath("families/clip"), config: { heads: 2 }, prepare: { kind: "photo", resize: 12, crop: 12, interpolation: "bilinear", mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] } };
  const config = JSON.stringify({ ...clip.config, prepare: clip.prepare });
  const options = ["--model", clip.weights, "--config", config, "--variant", variant];
  const index = here.at("clip.safetensors"), map = here.at("map.png");
  await run(["index", ...options, "--out", index, ...files]);
  const vit = await load(clip, { variant });
  const { projected, projectedPatches, grid } = await vit.embed(pictures[5]);
  const embedText = async () => ({ embeds: projected, width: projected.length });
  const result = await during(Vit.prototype, "embedText", embedText, () => run(["find", "--index", index, ...options, "--top", "1", "--map", map, "a wave"]));
  assert.deepEqual([result.code, result.stdout], [0, `${files[5]}\t1.0000\n`], result.stderr);
  const E = projected.length, cosines = Array.from({ length: grid[0] * grid[1] }, (_, at) => {
    const patch = projectedPatches.subarray(at * E, (at + 1) * E);
    return patch.reduce((sum, value, i) => sum + value * projected[i], 0) / Math.hypot(...patch);
  });
  const { data, info } = await sharp(map).raw().toBuffer({ resolveWithObject: true });
  assert.equal(info.width, info.height);
  const hot = cosines.indexOf(Math.max(...cosines)), cold = cosines.indexOf(Math.min(...cosines)), side = info.width / 3;
  const middle = (at) => [0, 1, 2].map((c) => data[((Math.floor(at / 3) + 0.5) * side * info.width + (at % 3 + 0.5) * side) * 3 + c]);
  assert.ok(middle(hot)[0] - middle(hot)[2] > 50 + middle(cold)[0] - middle(cold)[2], `${middle(hot)}, ${middle(cold)}`);
  const other = here.at("other.safetensors");
  await printed(["index", "--model", model, "--out", other, files[0]]);
  const words = await during(Vit.prototype, "embedText", async () => ({ embeds: new Float32Array(20).fill(1) }), () =>
    run(["find", "--index", other, "--model", model, "--map", map, "a wave"]));
  assert.match(words.stderr, /--map: expected a model that projects its patches, such as CLIP/);
});

test("Ctrl-C loses nothing: the same command goes on and ends with the same bytes", { skip }, async (t) => {
  const { here, files, args, out } = await album(t);
  const whole = here.at("whole.safetensors");
  await printed([...args, "--out", whole, ...files]);
  const firstRun = await run([...args, "--out", out, ...files], {
    terminal: true,
    watch: (host) => host.stderr.on("data", (text) => text.includes("3/7 photos") && host.emit("SIGINT")),
  });
  assert.deepEqual([firstRun.code, firstRun.stdout], [130, ""]);
  assert.match(firstRun.stderr, /interrupted after 3 of 7 photos; they are saved in .*; run the same command again/);
  assert.deepEqual(Index.load(readFileSync(out)).ids(), files.slice(0, 3));
  const { added, count, failed } = JSON.parse(await printed([...args, "--json", "--out", out, ...files]));
  assert.deepEqual([added, count, failed], [4, 7, []]);
  assert.deepEqual(readFileSync(out), readFileSync(whole));
  assert.equal(await printed([...args, "--out", out, ...files]), `${out}: 7 photos, 0 of them new\n`);
  const lines = await printed([...args, "--fresh", "--ndjson", "--out", out, files[1]]);
  assert.deepEqual([lines, Index.load(readFileSync(out)).ids()], [`{"file":${JSON.stringify(files[1])}}\n`, [files[1]]]);
});

test("a run that is killed loses what came after the last save, which comes by the clock", { skip }, async (t) => {
  const { files, args, out } = await album(t);
  let now = 0;
  const ids = [];
  const watch = (host) => host.stderr.on("data", (text) => {
    now += 60_000; // for each photo
    if (text.includes("4/7 photos")) ids.push(...Index.load(readFileSync(out)).ids());
  });
  await during(performance, "now", () => now, () => run([...args, "--out", out, ...files], { terminal: true, watch }));
  assert.deepEqual(ids, files.slice(0, 4));
});

test("an error that ends the command loses nothing", { skip }, async (t) => {
  const { files, args, out } = await album(t);
  const { embed } = Vit.prototype;
  let calls = 0;
  const failing = async function (...inputs) {
    if (calls++ === 2) throw new Error("a fault");
    return embed.apply(this, inputs);
  };
  const { code, stderr } = await during(Vit.prototype, "embed", failing, () => run([...args, "--out", out, ...files]));
  assert.deepEqual([code, stderr], [1, "vitrine: a fault\n"]);
  assert.deepEqual(Index.load(readFileSync(out)).ids(), files.slice(0, 2));
});

test("the parts of a work that machines share are together the whole", { skip }, async (t) => {
  const { here, model, files, args, out } = await album(t);
  const parts = [1, 2, 3].map((part) => here.at(`part-${part}.safetensors`));
  const shard = (at) => ["--shard", `${at + 1}/3`];
  for (const [at, part] of parts.entries()) await printed([...args, ...shard(at), "--out", part, here.path]);
  const whole = here.at("whole.safetensors");
  await printed([...args, "--out", whole, here.path]);
  assert.equal(await printed(["index", "--merge", ...parts, "--out", out]), `${out}: 7 photos\n`);
  assert.deepEqual(readFileSync(out), readFileSync(whole));
  assert.deepEqual(JSON.parse(await printed(["index", "--merge", "--json", out, parts[1], "--out", out])), { out, count: 7, indexes: [out, parts[1]] });
  const classify = ["classify", "--model", model, "--variant", variant];
  const lines = await Promise.all(parts.map((_, at) => printed([...classify, ...shard(at), ...files])));
  assert.equal(lines.join(""), await printed([...classify, ...files]));
  const vectors = [];
  for (const at of [undefined, 0, 1, 2]) {
    await printed(["embed", "--model", model, "--variant", variant, ...(at === undefined ? [] : shard(at)), "--out", here.at("v.npy"), ...files]);
    vectors.push([...readNpy(readFileSync(here.at("v.npy"))).values]);
  }
  assert.deepEqual(vectors.slice(1).flat(), vectors[0]);
});

/** The programs of web/RECIPES.md's section on many machines. */
const recipes = [...readFileSync(new URL("../../web/RECIPES.md", import.meta.url), "utf8")
  .match(/^## A million photos[^]*?(?=^## )/m)[0].matchAll(/^```\w+\n([^]*?)^```/gm)].map(([, text]) => text);

/** Each machine's command, as a recipe or its scheduler writes it. */
const without = skip || (spawnSync("parallel", ["--version"]).error ? "GNU parallel is not installed: apt-get install parallel" : false);
test("the recipe for GNU parallel makes the index that one run makes", { skip: without }, async (t) => {
  const { here, model, files, args, out } = await album(t);
  cpSync(model, here.at("clip"), { recursive: true });
  mkdirSync(here.at("photos"));
  mkdirSync(here.at("node_modules/.bin"), { recursive: true });
  symlinkSync(cli, here.at("node_modules/.bin/vitrine"));
  for (const file of files) cpSync(file, file.replace(here.path, here.at("photos")));
  const { status, stderr } = spawnSync("sh", ["-ec", recipes[0]], { cwd: here.path, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const made = Index.load(readFileSync(out));
  await printed([...args, "--fresh", "--out", out, here.at("photos")]);
  const whole = Index.load(readFileSync(out));
  assert.deepEqual(made.ids(), whole.ids().map((id) => id.slice(here.path.length + 1)));
});

test("the recipes for Slurm and Kubernetes take each part once", () => {
  const [, slurm, kubernetes] = recipes;
  const partsOf = (line, parts, name) => parts.map((part) =>
    spawnSync("sh", ["-c", `npx() { echo "$@"; }; srun() { "$@"; }; ${line}`], { env: { [name]: String(part) }, encoding: "utf8" }).stdout);
  const all = Array.from({ length: 16 }, (_, at) => at + 1);
  const [, first, last] = slurm.match(/--array=(\d+)-(\d+) /);
  assert.deepEqual([Number(first), Number(last)], [1, 16]);
  const args = kubernetes.match(/^ +args:\n +- ([^]*)$/m)[1].replace("exec ", "").replace(/\n +/g, " ");
  assert.match(kubernetes, /completions: 16\n/);
  for (const lines of [partsOf(slurm, all, "SLURM_ARRAY_TASK_ID"), partsOf(args, all.map((part) => part - 1), "JOB_COMPLETION_INDEX")]) {
    lines.forEach((line, at) => assert.match(line, new RegExp(`^vitrine index .*--shard ${at + 1}/16 --out part-${at + 1}\\.safetensors photos/\n$`)));
  }
});

test("another model's index, a model's file and a wrong command line are refused", { skip }, async (t) => {
  const { here, model, files, args, out } = await album(t);
  const bytes = Buffer.from(new Index(20, { about: "another" }).save());
  here.write("photos.safetensors", bytes);
  await refused([...args, "--out", out, ...files], 1, /expected an index by a model with 2 blocks of width 20, patches of 4x4, images of 12x12; got one by another\n/);
  await refused(["find", "--index", out, "--model", model, files[0]], 1, /expected an index by a model with 2 blocks/);
  assert.deepEqual(readFileSync(out), bytes);
  const other = here.at("other.safetensors");
  await printed([...args, "--out", other, files[0]]);
  await refused(["index", "--merge", out, other, "--out", here.at("both.safetensors")], 1, /other\.safetensors: expected an index by another; got one by a model/);
  const wrong = here.write("wrong.safetensors", readFileSync(modelPath("per_head")));
  await refused([...args, "--out", wrong, ...files], 1, /expected an index of the command index, got index: expected a file that Index\.save wrote/);
  await refused(["find", "--index", here.at("none"), files[0]], 1, /none: expected an index/);
  await refused(["find", "--index", other, "--model", model, here.at("none.jpg")], 1, /none\.jpg: expected an image file/);
  for (const [options, message] of [
    [["index", ...files], /--out: expected a name that ends in \.safetensors, got none/],
    [["index", "--merge", "--out", out], /--merge: expected indexes, got none/],
    [["index", "--out", out, "--shard", "0/3", ...files], /--shard: expected I\/N, I from 1 to N, got "0\/3"/],
    [["classify", "--shard", "3", ...files], /--shard: expected I\/N/],
    [["classify", "--shard", "4/3", ...files], /--shard: expected I\/N/],
    [["embed", "--json", "--shard", "1/8", ...files], /--shard: expected at most as many parts as photos, 7, got "1\/8"/],
    [["find", "two dogs"], /--index: expected a file/],
    [["find", "--index", out, "two", "dogs"], /operands: expected one photo, or words in quotes, got 2/],
    [["find", "--index", out, "--map", "map.png", files[0]], /--map: expected words, got the photo/],
    [["find", "--index", out, "--map", "map.jpg", "two dogs"], /expected a name that ends in \.png/],
    [["find", "--index", out, "--top", "0", "dogs"], /--top: expected a whole number from 1/],
  ]) await refused(options, 2, message);
});
