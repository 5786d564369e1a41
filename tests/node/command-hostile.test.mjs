// Hostile files and the command `vitrine`: they can forge no line, take little memory, and cannot
// change where the command writes.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmdirSync, statSync,
  symlinkSync, writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { crc32, deflateSync, gzipSync } from "node:zlib";
import { findMnist } from "../../web/scripts/data.mjs";
import { checkpoint, folder, picture, posix, raw, refused, run, sharp, skip, start, variant } from "./command.mjs";
import { idx } from "./idx.mjs";
import { during } from "./support.mjs";

const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const FORGED = "7\n3: 100 %\x1b[2J\x07\t1.0\x9b\x7f\u202e\u2028\u2066";
const PRINTABLE = "7\\u000a3: 100 %\\u001b[2J\\u0007\\u00091.0\\u009b\\u007f\\u202e\\u2028\\u2066";

test("the command prints labels and file names without characters that forge lines or control terminals", { skip: skip || posix }, async (t) => {
  const here = folder(t);
  const id2label = Object.fromEntries([..."abcdefg"].map((letter, i) => [i, FORGED + letter]));
  const model = checkpoint(here, { config: { id2label } });
  const name = "a\x1b[2J\n\u202eb\tc.png";
  const file = here.write(name, await raw(picture(16, 16, 3)).png().toBuffer());
  const printableFile = here.at("a\\u001b[2J\\u000a\\u202eb\\u0009c.png");
  const common = ["--variant", variant, "--model", model];
  const lines = await run(["classify", ...common, "--top", "2", file]);
  assert.equal(lines.code, 0, lines.stderr);
  assert.doesNotMatch(lines.stdout, CONTROLS);
  for (const line of lines.stdout.trimEnd().split("\n")) {
    const [path, label, p, ...more] = line.split("\t");
    assert.deepEqual([path, label.slice(0, -1), more], [printableFile, PRINTABLE, []]);
    assert.match(p, /^[01]\.\d{4}$/);
  }
  for (const args of [["classify"], ["embed"], ["attention"], ["attention", "--out", here.at("maps/")]]) {
    const { code, stdout, stderr } = await run([args[0], ...common, "--json", ...args.slice(1), file]);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout, CONTROLS);
    const [{ file: printedFile, classes }] = JSON.parse(stdout);
    assert.equal(printedFile, file);
    if (classes) assert.equal(classes[0].label.slice(0, -1), FORGED);
  }
  for (const args of [
    ["classify", ...common, `${file}.not`],
    ["classify", "--model", `${file}.not`, file],
    ["classify", "--variant", FORGED, file],
    [FORGED],
    ["classify", `--${FORGED}`],
    ["embed", ...common, "--out", here.at(`none${FORGED}/a.npy`), file],
  ]) {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code > 0, stdout], [true, ""]);
    assert.doesNotMatch(stderr, CONTROLS);
    assert.match(stderr, /^vitrine: [^\n]+\n$/, "one line");
  }
});

/** Runs the command in a process of its own, and adds the most kilobytes that it took. */
async function measured(args) {
  const node = ["--import", "data:text/javascript," + encodeURIComponent(
    'process.on("exit", () => process.stderr.write(`most ${process.resourceUsage().maxRSS}\\n`))')];
  const result = await start(args, { node }).done;
  return { ...result, most: Number(result.stderr.match(/most (\d+)\n$/)[1]) };
}

test("a small image file that announces a huge image costs the command little memory", { skip }, async (t) => {
  const here = folder(t);
  const white = { create: { width: 6000, height: 6000, channels: 3, background: "#fff" } };
  const huge = here.write("huge.png", await sharp(white).png({ compressionLevel: 6 }).toBuffer());
  const small = here.write("small.png", await raw(picture(16, 16, 3)).png().toBuffer());
  const model = checkpoint(here);
  const plain = await measured(["classify", "--model", model, small]);
  assert.equal(plain.code, 0, plain.stderr);
  const { code, stderr, most } = await measured(["classify", "--model", model, ...Array(16).fill(huge)]);
  assert.equal(code, 1);
  assert.match(stderr, /huge\.png: expected a whole PNG or JPEG, got \d+ bytes .*6000x6000 pixels, above the pixel limit/);
  assert.ok(most < plain.most + 50_000, `${most} kB, ${plain.most} for a small one`);
});

test("a PNG's texts and profiles are not inflated into the command's memory", { skip }, async (t) => {
  const here = folder(t);
  const small = await raw(picture(16, 16, 3)).png().toBuffer();
  const bomb = deflateSync(Buffer.alloc(100 * 2 ** 20));
  const model = checkpoint(here);
  const classify = (name, bytes) => measured(["classify", "--model", model, here.write(name, bytes)]);
  const plain = await classify("plain.png", small);
  for (const type of ["zTXt", "iTXt", "iCCP", "eXIf", "teSt"]) {
    const head = type === "iTXt" ? "bomb\0\x01\0\0\0" : "bomb\0\0";
    const { code, stderr, most } = await classify("bomb.png", withChunk(small, type, Buffer.concat([Buffer.from(head, "latin1"), bomb])));
    assert.ok(code === 0 || /bomb\.png: expected a whole PNG/.test(stderr), `${type}: ${stderr}`);
    assert.ok(most < plain.most + 50_000, `${type}: ${most} kB, ${plain.most} without it`);
  }
});

/** A PNG with a chunk more, after its header. */
function withChunk(png, type, data) {
  const end = 8 + 25; // the signature and IHDR
  const [length, sum, body] = [Buffer.alloc(4), Buffer.alloc(4), Buffer.concat([Buffer.from(type), data])];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([png.subarray(0, end), length, body, sum, png.subarray(end)]);
}

test("the command refuses a photo without end", { skip: skip || posix, timeout: 60_000 }, async (t) => {
  const here = folder(t);
  await refused(["classify", "/dev/zero"], 1, /^vitrine: \/dev\/zero: expected an image file, got a device\n/);
  execFileSync("mkfifo", [here.at("endless.png")]);
  const feed = spawn("sh", ["-c", 'cat /dev/zero > "$0"', here.at("endless.png")], { stdio: "ignore" });
  t.after(() => feed.kill());
  await refused(["classify", here.at("endless.png")], 1, /endless\.png: expected an image file, got more than 33554432 bytes/);
});

test("--out writes through links, keeps file modes and does not follow a link at its .part file", { skip: skip || posix }, async (t) => {
  const here = folder(t);
  const photo = here.write("a.png", await raw(picture(16, 16, 3)).png().toBuffer());
  const embed = (out) => run(["embed", "--variant", variant, "--model", checkpoint(here), "--out", out, photo]);
  const out = here.at("v.npy");
  const victim = here.write("victim", "precious");
  symlinkSync(victim, `${out}.part`);
  assert.equal((await embed(out)).code, 0);
  const want = readFileSync(out);
  assert.equal(readFileSync(victim, "utf8"), "precious");
  assert.equal(statSync(out).mode & 0o777, 0o666 & ~process.umask());
  linkSync(victim, `${out}.part`);
  writeFileSync(out, "old");
  chmodSync(out, 0o600);
  assert.equal((await embed(out)).code, 0);
  assert.equal(readFileSync(victim, "utf8"), "precious");
  assert.equal(statSync(out).mode & 0o777, 0o600);
  assert.deepEqual(readFileSync(out), want);

  mkdirSync(here.at("far"));
  symlinkSync("far/t.npy", here.at("l.npy"));
  const nothing = await embed(here.at("l.npy"));
  assert.equal(nothing.code, 1);
  assert.match(nothing.stderr, /l\.npy: expected a path that can be written, got a link to nothing/);
  here.write("far/t.npy", "old");
  assert.equal((await embed(here.at("l.npy"))).code, 0);
  assert.ok(lstatSync(here.at("l.npy")).isSymbolicLink());
  assert.deepEqual(readFileSync(here.at("far/t.npy")), want);

  execFileSync("mkfifo", [here.at("p.npy")]);
  const { done } = start(["embed", "--variant", variant, "--model", checkpoint(here), "--out", here.at("p.npy"), photo]);
  const through = readFileSync(here.at("p.npy"));
  assert.equal((await done).code, 0);
  assert.deepEqual(through, want);
  assert.ok(lstatSync(here.at("p.npy")).isFIFO());

  writeFileSync(out, "old");
  mkdirSync(`${out}.part`);
  assert.equal((await embed(out)).code, 1);
  assert.equal(readFileSync(out, "utf8"), "old");
  rmdirSync(`${out}.part`);
  assert.deepEqual(readdirSync(here.path).filter((name) => name.endsWith(".part")), []);
});

test("a half-downloaded data set is not found, and another data set with MNIST's file names is found", async (t) => {
  const here = folder(t);
  const noisy = (sizes) =>
    gzipSync(idx(sizes, Uint8Array.from({ length: sizes.reduce((a, b) => a * b) }, (_, i) => (i * i * 31) % 251)));
  const files = {
    "train-images-idx3-ubyte.gz": noisy([9, 28, 28]), "train-labels-idx1-ubyte.gz": noisy([9]),
    "t10k-images-idx3-ubyte.gz": noisy([5, 28, 28]), "t10k-labels-idx1-ubyte.gz": noisy([5]),
  };
  mkdirSync(here.at("mnist")); // the next place to look
  for (const [name, bytes] of Object.entries(files)) {
    here.write(name, bytes);
    here.write(`mnist/${name}`, bytes);
  }
  const before = process.env.VITRINE_DATA;
  process.env.VITRINE_DATA = here.path;
  t.after(() => (before === undefined ? delete process.env.VITRINE_DATA : (process.env.VITRINE_DATA = before)));
  const messages = [];
  const find = () => during(console, "log", (text) => messages.push(text), findMnist);
  assert.equal(await find(), here.path);
  for (const [name, bytes] of Object.entries(files)) {
    for (const broken of [bytes.subarray(0, bytes.length / 2), bytes.subarray(0, -1), Buffer.alloc(0),
      Buffer.alloc(bytes.length), gzipSync(Buffer.from([0, 0, 8, 1, 0, 0, 0, 9, 1, 2, 3]))]) {
      here.write(name, broken);
      assert.equal(await find(), here.at("mnist"), name);
      assert.match(messages.pop(), new RegExp(`not whole: ${name}`));
    }
    here.write(name, bytes);
  }
  assert.deepEqual(messages, []);
});
