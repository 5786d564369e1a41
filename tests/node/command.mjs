// Shared by the command's tests: pictures made by sharp, a folder for them, a run of the command.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { command } from "../../dist/commands.js";
import { folderOf } from "./folder.mjs";
import { CONFIG, modelBytes, PREPROCESSOR } from "./golden.mjs";

/** The package that decodes photos, if it is installed. */
export const sharp = await import("sharp").then((module) => module.default, () => undefined);
export const skip = sharp ? false : "sharp is not installed: npm install sharp";

export const posix = process.platform === "win32" ? "no POSIX files here" : false;

export const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** A build with equal bits on every machine. `auto` would take the faster one of the moment. */
export const variant = "simd128";

/** A folder that is deleted after the test. `write(name, bytes)` gives the file's path. */
export function folder(t) {
  const path = folderOf(t);
  const write = (name, bytes) => {
    writeFileSync(join(path, name), bytes);
    return join(path, name);
  };
  return { path, at: (name) => join(path, name), write };
}

/** A stream that keeps what is written. */
class CaptureStream extends EventEmitter {
  text = "";
  write(text) {
    this.text += text;
    this.emit("data", text);
  }
}

/**
 * Runs the command in this process; resolves to { code, stdout, stderr }. `terminal`: stderr is one.
 * `watch(host)` may listen to its streams and emit signals.
 */
export async function run(args, { terminal = false, watch = () => {} } = {}) {
  const [stdout, stderr] = [new CaptureStream(), Object.assign(new CaptureStream(), { isTTY: terminal })];
  const exit = (code) => assert.fail(`the command ended at once, with ${code}`);
  const host = Object.assign(new EventEmitter(), { stdin: Readable.from([]), stdout, stderr, exit });
  watch(host);
  return { code: await command(args, host), stdout: stdout.text, stderr: stderr.text };
}

/** What the command prints if it succeeds, without a word on stderr. */
export async function printed(args) {
  const { code, stdout, stderr } = await run(args);
  assert.deepEqual([code, stderr], [0, ""], args.join(" "));
  return stdout;
}

/** Checks that the command fails with this code, prints nothing and says why in so many lines, without a stack. */
export async function refused(args, code, message, lines = 1) {
  const result = await run(args);
  assert.deepEqual([result.code, result.stdout], [code, ""], `${args.join(" ")}: ${result.stderr}`);
  assert.match(result.stderr, message);
  assert.match(result.stderr, new RegExp(`^(vitrine: [^\\n]+\n){${lines}}$`));
}

/** Starts the command in a process of its own; `done` resolves to { code, stdout, stderr }. */
export function start(args, { program = cli, node = [], cwd, stdin = "ignore" } = {}) {
  const stdio = [stdin, "pipe", "pipe"];
  const child = spawn(process.execPath, [...node, program, ...args], { cwd, stdio });
  const [stdout, stderr] = [child.stdout, child.stderr].map(async (stream) => {
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk) => (text += chunk));
    await new Promise((resolve) => stream.on("close", resolve));
    return text;
  });
  const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
  const done = Promise.all([ended, stdout, stderr]).then(([code, ...texts]) => {
    return { code, stdout: texts[0], stderr: texts[1] };
  });
  return { child, done };
}

/** Writes a ViT of 3×3 patches in the form of transformers. Returns the folder's path. */
export function checkpoint({ path, write }, { weights = "families/vit", config = {} } = {}) {
  mkdirSync(join(path, "vit"), { recursive: true });
  write("vit/model.safetensors", modelBytes(weights));
  write("vit/config.json", JSON.stringify({ ...CONFIG, ...config }));
  write("vit/preprocessor_config.json", JSON.stringify(PREPROCESSOR));
  return join(path, "vit");
}

/** The bytes of a picture without symmetry and smooth enough for JPEG. */
export function picture(width, height, channels) {
  const data = new Uint8Array(width * height * channels);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < channels; c++, i++) {
        data[i] = 127.5 + 127.5 * Math.sin((x * (c + 1)) / width * 5 + (y / height) ** 2 * 4 + c);
      }
    }
  }
  return { data, width, height, channels };
}

/** The picture's bytes as sharp takes them. */
export const raw = ({ data, width, height, channels }) => sharp(data, { raw: { width, height, channels } });

/** A photo for the API, from `colour(pixel)`, which gives [red, green, blue]. */
export function rgb({ data, width, height, channels }, colour) {
  const pixel = (i) => data.subarray(i * channels, (i + 1) * channels);
  const pixels = Array.from({ length: width * height }, (_, i) => colour(pixel(i)));
  return { data: Uint8Array.from(pixels.flat()), width, height, channels: 3 };
}

/** The { shape, values } of a .npy file, read by its specification. */
export function readNpy(bytes) {
  if (bytes.toString("latin1", 0, 8) !== "\x93NUMPY\x01\x00") throw new Error("no .npy of version 1.0");
  const size = bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, 10 + size);
  const found = header.match(/^\{'descr': '<f4', 'fortran_order': False, 'shape': \(([\d, ]+)\), \} *\n$/);
  if (!found || (10 + size) % 64 !== 0) throw new Error(`header: ${header}`);
  const shape = found[1].split(",").filter((side) => side.trim()).map(Number);
  const values = new Float32Array((bytes.length - 10 - size) / 4);
  values.forEach((_, i) => (values[i] = bytes.readFloatLE(10 + size + 4 * i)));
  return { shape, values };
}
