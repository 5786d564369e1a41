// The command `vitrine`, run like a person runs it: its output, files and errors.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { checkpoint, cli, folder, picture, posix, printed, raw, readNpy, refused, rgb, run, skip, start, variant } from "./command.mjs";
import { readSafetensors, writeSafetensors } from "../../web/base/safetensors.mjs";
import { modelBytes } from "./golden.mjs";
import { stranger } from "./stranger.mjs";
import { load, stroke } from "./support.mjs";

const DIGITS = new URL("../../weights/digits.safetensors", import.meta.url);
const png = (pixels) => raw(pixels).png().toBuffer();
const one = () => png({ ...stroke, channels: 4 });
const json = ({ stdout }) => JSON.parse(stdout);

test("the command prints help and version, and refuses wrong command lines", async () => {
  const overview = await run(["--help"]);
  assert.equal(overview.code, 0);
  for (const name of ["classify", "detect", "read", "embed", "attention", "index", "find", "info", "identify", "train", "eval", "calibrate", "quantize"]) {
    assert.match(overview.stdout, new RegExp(`^  ${name} `, "m"));
    const stdout = await printed([name, "--help"]);
    for (const option of ["model", "config", "threads", "variant", "json"]) assert.match(stdout, new RegExp(`--${option} `));
  }
  const version = await run(["--version"]);
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url)));
  assert.equal(version.stdout, `${manifest.version}\n`);
  for (const [args, message] of [
    [[], /command: expected one of classify, detect, read, embed, attention, index, find, info, identify, train, eval, calibrate, quantize, got none/],
    [["paint"], /command: expected one of .*, got "paint"/],
    [["classify"], /photos: expected at least one file, got none/],
    [["classify", "--tpo", "3", "a.png"], /'--tpo'.*vitrine classify --help/],
    [["classify", "--top", "0", "a.png"], /--top: expected a whole number from 1, got "0"/],
    [["classify", "--threads", "two", "a.png"], /--threads: expected a whole number from 1, got "two"/],
    [["classify", "--variant", "fast", "a.png"], /--variant: expected one of auto, .*, got "fast"/],
    [["classify", "--size", "24x", "a.png"], /--size: expected a whole number from 1, got ""/],
    [["embed", "--json", "--size", "24x16x8", "a.png"], /--size: expected one side or ROWSxCOLUMNS, got "24x16x8"/],
    [["info", "a", "b"], /model: expected one, got 2; see vitrine info --help/],
    [["embed", "a.png"], /--out: expected a file such as vectors.npy, got none/],
    [["embed", "--out", "a.png", "a.png"], /--out: expected a name that ends in .npy, got "a.png"/],
    [["embed", "--json", "--what", "all", "a.png"], /--what: expected one of pooled, cls, patches, got "all"/],
    [["attention", "a.png"], /--out: expected a file such as overlay.png, got none/],
    [["attention", "--out", "b.png", "a.png", "c.png"], /--out: expected a folder .* for 2 photos, got "b.png"/],
    [["attention", "--out", "b/", "x/a.png", "y/a.jpg"], /--out: expected photos of different names/],
    [["attention", "--out", "./a.png", "a.png"], /--out: expected another file than the photos/],
    [["attention", "--out", "b.gif", "a.png"], /--out: expected a name that ends in .png or .npy/],
    [["attention", "--json", "--map", "patch", "a.png"], /--patch: expected ROW,COLUMN/],
    [["attention", "--json", "--patch", "1,1", "a.png"], /--patch: expected ROW,COLUMN with --map patch/],
    [["attention", "--json", "--map", "patch", "--patch", "1", "a.png"], /ROW,COLUMN such as 3,5, got "1"/],
    [["attention", "--json", "--map", "rollout", "--head", "1", "a.png"], /--map rollout: expected neither/],
    [["attention", "--json", "--layer", "-1", "a.png"], /--layer/],
  ]) {
    await refused(args, 2, message);
  }
});

test("the program prints what the command prints, with its exit codes, also by a link as npm makes", { skip: posix }, async (t) => {
  const here = folder(t);
  symlinkSync(cli, here.at("vitrine"));
  for (const [args, code] of [[["--version"], 0], [["info", here.at("none.pt")], 1], [["paint"], 2]]) {
    const result = await run(args);
    assert.equal(result.code, code);
    assert.deepEqual(await start(args).done, result);
    const linked = await promisify(execFile)(here.at("vitrine"), args).catch((failed) => failed);
    assert.deepEqual([linked.code ?? 0, linked.stdout, linked.stderr], [code, result.stdout, result.stderr]);
  }
});

test("the command info prints a model's family, config, assumed keys and skipped tensors", async (t) => {
  const here = folder(t);
  const clip = here.write("clip.safetensors", modelBytes("families/openai_clip"));
  const stdout = await printed(["info", "--config", '{"heads": 2}', clip]);
  const lines = stdout.split("\n");
  assert.deepEqual(lines.slice(0, 2), ["family: OpenAI's CLIP and open_clip", "assumed: image_size, pool, norm_eps, activation"]);
  assert.match(lines[2], /^skipped: .*, .*, .*, .* and \d+ more$/);
  assert.ok(lines.includes('activation: "quick_gelu"') && lines.includes("heads: 2"));
  const { family, assumed, skipped, config } = json(await run(["info", "--json", "--model", checkpoint(here)]));
  assert.deepEqual([family.startsWith("transformers' ViT"), assumed, skipped, config.labels.join("")], [true, [], [], "abcdefg"]);
  const open = await run(["info", here.write("open.safetensors", modelBytes("families/encoder_post"))]);
  assert.deepEqual([open.code, open.stdout.split("\n").slice(0, 3)], [1, ["heads: 1 or 2 or 3 or 4 or 6", "norm: pre or post", "activation: relu or gelu"]]);
  assert.match(open.stdout, /^blocks\.0\.attn\.qkv\.weight ← .*in_proj_weight$/m);
  const options = { heads: "1, 2, 3, 4 or 6", norm: "pre or post", activation: "relu or gelu" };
  const message = Object.entries(options).map(([key, values]) => `config: ${key}: set ${key} to ${values}: the file does not say`).join("; ");
  assert.equal(open.stderr, `vitrine: ${message}\n`);
});

test("the command info prints what a stranger's file leaves open, and what its tensors are taken for", async (t) => {
  const file = folder(t).write("mine.safetensors", stranger());
  const { code, stdout, stderr } = await run(["info", file]);
  assert.equal(code, 1);
  assert.match(stdout, /^heads: 1 or 2 or 4 or 8$/m);
  assert.match(stdout, /^blocks\.0\.norm2\.weight ← b\.0\.post\.weight$/m);
  assert.match(stderr, /set heads to/);
  const { questions, map } = JSON.parse((await run(["info", "--json", file])).stdout);
  assert.deepEqual(questions.map(({ key }) => key), ["heads", "norm", "activation", "pool"]);
  const config = { heads: 2, norm: "pre", activation: "relu", pool: "class", map };
  const report = JSON.parse(await printed(["info", "--json", "--config", JSON.stringify(config), file]));
  assert.deepEqual(report.map, map);
});

test("the command identify ranks what a stranger's file leaves open by photos of known classes", { skip }, async (t) => {
  const files = folder(t);
  const file = files.write("mine.safetensors", stranger());
  for (const [label, level] of [["cat", 40], ["dog", 200]]) {
    mkdirSync(files.at(`photos/${label}`), { recursive: true });
    files.write(`photos/${label}/1.png`, await png({ data: Buffer.alloc(28 * 28, level), width: 28, height: 28, channels: 1 }));
  }
  const { code, stdout, stderr } = await run(["identify", "--model", file, "--examples", files.at("photos"), "--config", '{"heads": 2, "norm": "pre", "activation": "relu", "pool": "class"}', "--json", "--variant", variant]);
  assert.deepEqual([code, stderr], [0, "vitrine: labels only rank, and a wrong answer can come first: images with their logits settle it (examples of Vit.load)\n"]);
  const { count, ranking } = JSON.parse(stdout);
  assert.equal(count, 2);
  assert.ok(ranking.length > 1);
  assert.ok(ranking.every(({ right, config }) => right === 1 && config.prepare.mean.length === 1)); // zeros: always the first class
  assert.equal((await run(["identify", "--examples", files.at("photos")])).code, 2);
});

test("the command walks folders, reads standard input as -, and prints JSON line by line on request", { skip }, async (t) => {
  const here = folder(t);
  mkdirSync(here.at("in/more"), { recursive: true });
  const photo = await one();
  for (const name of ["in/b.png", "in/a.PNG", "in/more/c.png"]) here.write(name, photo);
  here.write("in/notes.txt", "no picture");
  const walked = await run(["classify", "--ndjson", "--variant", variant, here.at("in")]);
  const lines = walked.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ file }) => file), ["a.PNG", "b.png", "more/c.png"].map((name) => here.at(`in/${name}`)));
  assert.deepEqual([walked.code, walked.stderr, ...new Set(lines.map(({ classes }) => classes[0].label))], [0, "", "1"]);
  const embedded = await run(["embed", "--ndjson", "--variant", variant, here.at("in/b.png")]);
  assert.equal(JSON.parse(embedded.stdout).values.length, 80);
  assert.match((await run(["classify", "-", "-"])).stderr, /expected - only once/);
  const { child, done } = start(["classify", "--variant", variant, "-"], { stdin: "pipe" });
  child.stdin.end(photo);
  assert.match((await done).stdout, /^-\t1\t0\.\d+\n$/);
});

test("the command's help and -v print the same as --help and --version", async () => {
  for (const [short, long] of [[["help"], ["--help"]], [["help", "embed"], ["embed", "--help"]], [["-v"], ["--version"]]]) {
    assert.deepEqual(await run(short), await run(long));
  }
});

test("the command prints the assumed config keys on stderr", { skip }, async (t) => {
  const here = folder(t);
  const args = ["--variant", variant, "--model", here.write("a.safetensors", modelBytes("families/torchvision"))];
  const photo = here.write("a.png", await png(picture(8, 8, 3)));
  const prepare = { kind: "photo", resize: null, mean: [0, 0, 0], std: [1, 1, 1] };
  const embed = (config) => run(["embed", "--json", "--config", JSON.stringify(config), ...args, photo]);
  assert.equal((await embed({ prepare })).stderr, "vitrine: assumed heads: 1, because the files do not say; set it with --config\n");
  assert.equal((await embed({ prepare, heads: 1 })).stderr, "");
  assert.match((await embed({ heads: 1 })).stderr, /a\.png: .*no `prepare` that says how pixels become its image/);
});

test("the command prints each label's own probability, or a regression's value", { skip }, async (t) => {
  const here = folder(t);
  const photo = here.write("a.png", await png(picture(20, 16, 3)));
  for (const problem_type of ["single_label_classification", "multi_label_classification", "regression"]) {
    const model = checkpoint(here, { config: { problem_type } });
    const args = ["classify", "--top", "7", "--variant", variant, "--model", model];
    const [{ classes, problemType }] = json(await run([...args, "--json", photo]));
    const all = classes.map(({ p }) => p);
    assert.equal(problemType, problem_type);
    assert.equal(Math.abs(all.reduce((a, b) => a + b) - 1) < 1e-9, problem_type.startsWith("single"));
    assert.equal(all.every((p) => p > 0 && p < 1), problem_type !== "regression", String(all));
    const { stdout } = await run([...args, photo]);
    assert.deepEqual(stdout.trim().split("\n").map((line) => line.split("\t")[2]), all.map((p) => p.toFixed(4)));
  }
});

test("without sharp the command's error says how to install it", async (t) => {
  const here = folder(t);
  mkdirSync(here.at("dist"));
  for (const name of readdirSync(dirname(cli)).filter((file) => file.endsWith(".js"))) {
    copyFileSync(join(dirname(cli), name), here.at(`dist/${name}`));
  }
  here.write("package.json", '{"type": "module"}');
  const { code, stderr } = await start(["classify", "a.png"], { program: here.at("dist/cli.js") }).done;
  assert.equal(code, 1);
  assert.match(stderr, /^vitrine: sharp: expected .*, got none; run npm install sharp.*npx -p vitrine -p sharp/);
});

test("the command classify reads a drawn digit without a given model", { skip }, async (t) => {
  const here = folder(t);
  const file = here.write("one.png", await one());
  const stdout = await printed(["classify", "--variant", variant, file]);
  const { classes } = await (await load(DIGITS, { variant })).classify(stroke);
  assert.equal(stdout, `${file}\t1\t${classes[0].p.toFixed(4)}\n`);
  const three = await run(["classify", "--variant", variant, "--top", "3", file]);
  assert.deepEqual(three.stdout.trim().split("\n").map((line) => line.split("\t").slice(1)),
    classes.slice(0, 3).map(({ label, p }) => [label, p.toFixed(4)]));
});

test("the command classify divides by the temperature, says which answers are uncertain, and numbers classes without labels", { skip }, async (t) => {
  const here = folder(t);
  const { config, tensors } = readSafetensors(modelBytes("pre_gelu_learned"));
  const { labels: _, ...own } = config;
  tensors.set("head.weight", { shape: [2, config.width], data: new Float32Array(2 * config.width) });
  tensors.set("head.bias", { shape: [2], data: Float32Array.of(0.5, 0.75) });
  const photo = here.write("a.png", await png(picture(12, 12, 1)));
  const classify = async (keys) => {
    const model = here.write("model.safetensors", writeSafetensors({ config: { ...own, classes: 2, ...keys }, tensors }));
    return printed(["classify", "--variant", variant, "--model", model, photo]);
  };
  const labels = ["no", "yes"];
  for (const [keys, uncertain = false] of [
    [{}], [{ temperature: 0.25 }], [{ temperature: 0.25, uncertain_below: 0.73 }], [{ temperature: 0.25, uncertain_below: 0.74 }, true],
    [{ uncertain_below: 0.74 }, true], [{ uncertain_below: 1 }, true], [{ uncertain_below: 0 }],
  ]) {
    const p = 1 / (1 + Math.exp(-0.25 / (keys.temperature ?? 1)));
    assert.equal(await classify({ labels, ...keys }), `${photo}\tyes\t${p.toFixed(4)}${uncertain ? "\tuncertain" : ""}\n`);
  }
  assert.match(await classify({}), /\t1\t0\.5622\n$/);
  tensors.set("head.bias", { shape: [2], data: Float32Array.of(0.5, 0.5) });
  assert.match(await classify({ uncertain_below: 0.5 }), /\t0\t0\.5000\n$/, "0.5 is not below 0.5");
});

test("the command classify marks answers that the model is unsure of as uncertain", { skip }, async (t) => {
  const here = folder(t);
  const scribble = picture(60, 60, 1);
  scribble.data.forEach((_, i) => {
    const hatched = i % 7 < 3 && i % 60 > 9 && i % 60 < 50 && i > 600 && i < 3000;
    scribble.data[i] = hatched ? 0 : 255;
  });
  const file = here.write("scribble.png", await png(scribble));
  const { uncertain } = await (await load(DIGITS, { variant })).classify(scribble);
  assert.equal(uncertain, true);
  const { stdout } = await run(["classify", "--variant", variant, file]);
  assert.match(stdout, /^[^\t]+\t\d\t0\.\d{4}\tuncertain\n$/);
});

test("the command classify --json gives the API's answers for a checkpoint's folder", { skip }, async (t) => {
  const here = folder(t);
  const model = checkpoint(here);
  const photo = picture(31, 19, 3);
  const file = here.write("a b.png", await png(photo));
  const result = await run(["classify", "--json", "--variant", variant, "--model", model, file]);
  assert.equal(result.code, 0, result.stderr);
  const [{ milliseconds, ...answer }, ...more] = json(result);
  const { classes, problemType, uncertain } = await (await load(model, { variant })).classify(photo, { topK: 5 });
  assert.deepEqual(answer, { file, classes, problemType, uncertain });
  assert.match(classes[0].label, /^[a-g]$/);
  assert.ok(milliseconds > 0);
  assert.deepEqual(more, []);
});

test("a photo that cannot be read does not change the command's answers for other photos", { skip }, async (t) => {
  const here = folder(t);
  const good = await one();
  const blank = await png(rgb(picture(20, 20, 1), () => [255, 255, 255]));
  const jpeg = await raw(picture(64, 64, 3)).jpeg().toBuffer();
  mkdirSync(here.at("empty"));
  const bad = {
    2: [here.write("cut.jpg", jpeg.subarray(0, jpeg.length / 2)), /expected a whole PNG or JPEG, got \d+ bytes/],
    4: [here.write("empty.png", Buffer.alloc(0)), /expected a whole PNG or JPEG, got 0 bytes/],
    7: [here.write("blank.png", blank), /blank/],
    9: [here.at("missing.png"), /expected an image file, got ENOENT/],
    11: [here.at("empty"), /expected an image file, got EISDIR/],
    12: [here.write("cut.png", good.subarray(0, good.length - 40)), /expected a whole PNG or JPEG/],
    17: [here.write("huge.jpg", ofSize(jpeg, 50_000)), /expected a whole PNG or JPEG.*pixel limit/],
  };
  const files = Array.from({ length: 19 }, (_, i) => bad[i]?.[0] ?? here.write(`${i}.png`, good));
  const lines = await run(["classify", ...files]);
  assert.equal(lines.code, 1);
  const results = lines.stdout.trim().split("\n").map((line) => line.split("\t").slice(0, 2));
  assert.deepEqual(results, files.filter((_, i) => !bad[i]).map((file) => [file, "1"]));
  const messages = lines.stderr.trim().split("\n");
  Object.values(bad).forEach(([file, message], i) => {
    assert.ok(messages[i].startsWith(`vitrine: ${file}: `), messages[i]);
    assert.match(messages[i], message);
  });
  assert.equal(messages.length, Object.keys(bad).length);
  const answers = await run(["classify", "--json", ...files]);
  assert.equal(answers.code, 1);
  json(answers).forEach(({ file, error, classes }, i) => {
    assert.equal(file, files[i]);
    if (bad[i]) assert.match(error, bad[i][1]);
    else assert.equal(classes[0].label, "1");
  });
});

/** A JPEG whose header claims this many pixels a side. */
function ofSize(jpeg, side) {
  const copy = Buffer.from(jpeg);
  const start = copy.indexOf(Buffer.from([0xff, 0xc0]));
  copy.writeUInt16BE(side, start + 5);
  copy.writeUInt16BE(side, start + 7);
  return copy;
}

test("the command classify says once that a model has no head", { skip }, async (t) => {
  const here = folder(t);
  const model = checkpoint(here, {
    weights: "families/vit_without_head",
    config: { architectures: ["ViTModel"], hidden_size: undefined, intermediate_size: undefined },
  });
  const files = ["a.png", "b.png"].map((name) => here.at(name));
  for (const file of files) here.write(file.split("/").at(-1), await png(picture(12, 12, 3)));
  await refused(["classify", "--model", model, ...files], 1, /^vitrine: classify: this model has no head, so it cannot classify; use embed\n$/);
  await refused(["classify", "--model", here.at("no.safetensors"), ...files], 1, /^vitrine: expected a readable file, got ENOENT.*no\.safetensors.*\n$/);
});

test("the command embed writes a file for NumPy with one row for each photo", { skip }, async (t) => {
  const here = folder(t);
  const model = checkpoint(here);
  const photos = [[31, 19], [12, 12], [16, 40]].map(([width, height]) => picture(width, height, 3));
  const files = [];
  for (const [i, photo] of photos.entries()) files.push(here.write(`${i}.png`, await png(photo)));
  const vit = await load(model, { variant });
  const want = [];
  for (const photo of photos) want.push(await vit.embed(photo));
  const out = here.at("vectors.npy");
  for (const [what, shape] of [["pooled", [3, 20]], ["cls", [3, 20]], ["patches", [3, 9, 20]]]) {
    const args = ["embed", "--variant", variant, "--model", model, "--what", what, ...files];
    assert.equal(await printed([...args, "--out", out]), "");
    const written = readNpy(readFileSync(out));
    assert.deepEqual(written.shape, shape);
    assert.deepEqual(written.values, Float32Array.from(want.flatMap((one) => [...one[what]])));
  }
  const args = ["embed", "--variant", variant, "--model", model, "--json", ...files];
  const patches = json(await run([...args, "--what", "patches"]));
  assert.deepEqual(patches, want.map(({ patches }, i) => ({ file: files[i], shape: [9, 20], values: [...patches] })));
  const both = json(await run([...args, "--out", out]));
  assert.deepEqual(both, { out, what: "pooled", shape: [3, 20], files });
  assert.deepEqual(readdirSync(here.path).filter((name) => name.endsWith(".part")), []);
});

test("the command embed writes all rows or no file", { skip }, async (t) => {
  const here = folder(t);
  const model = checkpoint(here);
  const good = here.write("good.png", await png(picture(12, 12, 3)));
  const bad = here.write("bad.png", Buffer.from("no picture at all"));
  const out = here.at("vectors.npy");
  for (const how of [["--out", out], ["--json"]]) {
    await refused(["embed", "--model", model, ...how, good, bad], 1, /^vitrine: .*bad\.png: expected a whole PNG or JPEG.*nothing was written\n$/);
  }
  await refused(["embed", "--model", model, "--out", here.at("no/folder.npy"), good], 1, /folder\.npy: expected a path that can be written, got ENOENT/);
  assert.deepEqual(readdirSync(here.path).sort(), ["bad.png", "good.png", "vit"]);
});

test("Ctrl-C ends the command with exit code 130 and leaves no half-written file", { skip }, async (t) => {
  const here = folder(t);
  here.write("a.png", await one());
  const files = Array.from({ length: 20_000 }, () => "a.png"); // minutes of work
  const watcher = watch(here.path);
  const partFile = new Promise((resolve) => watcher.on("change", (_, name) => name === "v.npy.part" && resolve()));
  const { child, done } = start(["embed", "--out", "v.npy", ...files], { cwd: here.path });
  await Promise.race([partFile, done]);
  watcher.close();
  child.kill("SIGINT");
  const { code, stdout, stderr } = await done;
  assert.deepEqual([code, stdout, stderr], [130, "", ""]);
  assert.deepEqual(readdirSync(here.path), ["a.png"]);
});

test("the command shows a batch's progress on a terminal, and nowhere else", { skip }, async (t) => {
  const here = folder(t);
  const file = here.write("a.png", await one());
  const { code, stdout, stderr } = await run(["classify", ...Array(10).fill(file)], { terminal: true });
  assert.equal(code, 0);
  assert.match(stderr, /model: [\d.]+ of [\d.]+ MB.*0\/10 photos.*8\/10 photos.*\r\x1b\[K$/s);
  assert.equal(stdout.trim().split("\n").length, 10);
});

test("the command ends without a stack when its output is closed", { skip }, async (t) => {
  const here = folder(t);
  const file = here.write("a.png", await one());
  const { child, done } = start(["classify", file]);
  child.stdout.destroy();
  const { code, stderr } = await done;
  assert.deepEqual([code, stderr], [1, ""]);
});
