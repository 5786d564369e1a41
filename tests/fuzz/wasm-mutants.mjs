// node tests/fuzz/wasm-mutants.mjs SECONDS [SEED]: hostile models through each wasm build.
//
// Each mutant of fuzz_mutants is opened in a new instance, and run if it opens. Canaries lie before,
// between and behind the loader's memory, and at the addresses from 0 up, where a write through NULL
// would land. Findings are a trap, a changed canary, and a status or logits other than the native
// build's. The small edition may refuse what only the full one runs.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { importTypescript } from "../../web/scripts/typescript.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const builds = ["scalar", "full.simd128", "full.relaxed", "full.simd128-threads", "full.relaxed-threads", "simd128", "relaxed-threads"];
const flags = parseInt(process.versions.node) < 22 ? ["--experimental-wasm-relaxed-simd", "--no-liftoff"] : [];
const NO_MEMORY = 2, LOW = 1024, CANARY = 4096, PIECE = 3001, NONE = 0xffffffff;
const ALIVE = Buffer.alloc(CANARY, 0xa5);
const { SESSION_WORDS } = await importTypescript("web/generated/words.ts");

class Instance {
  constructor(module, threads) {
    const memory = threads && new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
    const env = { emscripten_notify_memory_growth() {}, ...(threads && { memory }) };
    const { exports } = new WebAssembly.Instance(module, { env });
    Object.assign(this, { exports, memory: memory || exports.memory, threads, canaries: [] });
    exports._initialize?.();
    this.low = this.bytes(0, LOW).slice();
    this.session = exports.vitw_session() >>> 0;
  }

  bytes(at, size) {
    return new Uint8Array(this.memory.buffer, at, size);
  }

  word(name) {
    return new DataView(this.memory.buffer).getUint32(this.session + 4 * SESSION_WORDS.indexOf(name), true);
  }

  why() {
    const at = this.word("why"), text = this.bytes(at, 240);
    return new TextDecoder().decode(text.slice(0, text.indexOf(0)));
  }

  alloc(size) {
    const at = this.exports.vitw_alloc(size) >>> 0;
    if (at === 0) throw new Error(`no memory for ${size} bytes`);
    return at;
  }

  canary() {
    const at = this.alloc(CANARY);
    this.bytes(at, CANARY).set(ALIVE);
    this.canaries.push(at);
  }

  check() {
    if (Buffer.compare(this.low, this.bytes(0, LOW))) return "the low addresses changed";
    const dead = this.canaries.findIndex((at) => Buffer.compare(ALIVE, this.bytes(at, CANARY)));
    return dead < 0 ? undefined : `canary ${dead} has changed`;
  }

  /** The address and the size of a copy; zeros for none. */
  copy(text) {
    if (!text) return [0, 0];
    const at = this.alloc(text.length);
    this.bytes(at, text.length).set(text);
    return [at, text.length];
  }

  open(file, json, map) {
    const { exports } = this;
    this.canary();
    const piece = this.alloc(PIECE);
    const texts = [...this.copy(json), ...this.copy(map)];
    this.canary();
    let status = exports.vitw_begin(file.length, ...texts, 0);
    if (status) return status;
    for (let at = 0; at < file.length && !status; at += PIECE) {
      const part = file.subarray(at, at + PIECE);
      this.bytes(piece, part.length).set(part);
      status = exports.vitw_feed(piece, part.length);
      if (this.canaries.length < 20) this.canary();
    }
    return exports.vitw_end();
  }

  run() {
    const { exports } = this;
    if (this.threads && exports.vitw_team(3, 0)) throw new Error("no team");
    this.canary();
    if (exports.vitw_reserve(1, 1, 1)) return undefined;
    this.canary();
    const view = new DataView(this.memory.buffer);
    const size = ["channels", "rows", "columns"].reduce((n, name) => n * this.word(name), 1), images = this.word("images");
    for (let i = 0; i < size; i++) view.setFloat32(images + 4 * i, (i * 37 % 101 - 50) / 50, true);
    this.bytes(this.word("layers"), 1)[0] = 1;
    if (exports.vitw_run(1, 1, 1)) throw new Error(`a run was refused: ${this.why()}`);
    return Array.from({ length: this.word("logit_count") }, (_, i) => view.getFloat32(this.word("logits") + 4 * i, true));
  }
}

/** What a build does wrong with a mutant; undefined: nothing. */
function judge(module, threads, { file, json, map, status, logits }) {
  const instance = new Instance(module, threads);
  const got = instance.open(file, json, map);
  const dead = instance.check();
  if (dead) return dead;
  if (got && instance.why().includes("full edition")) return undefined;
  if (got !== status && got !== NO_MEMORY) return `status ${status} natively, here ${got}: ${instance.why()}`;
  if (got || !logits) return undefined;
  const here = instance.run();
  if (here) {
    const most = Math.max(1, ...logits.map(Math.abs));
    const other = logits.findIndex((x, i) => Number.isFinite(most) && !(Math.abs(x - here[i]) <= 0.1 * most));
    if (other >= 0) return `logit ${other} is ${logits[other]} natively, here ${here[other]}`;
  }
  return instance.check();
}

/** The frames that fuzz_mutants writes. */
async function* mutants(program, seed, count) {
  const child = spawn(program, [String(seed), String(count)], { stdio: ["ignore", "pipe", "inherit"] });
  const chunks = child.stdout[Symbol.asyncIterator]();
  let pending = Buffer.alloc(0);
  const take = async (size) => {
    const parts = [pending];
    for (let n = pending.length; n < size;) {
      const { value, done } = await chunks.next();
      if (done) throw new Error("fuzz_mutants ended within a mutant");
      parts.push(value);
      n += value.length;
    }
    pending = Buffer.concat(parts);
    const out = pending.subarray(0, size);
    pending = pending.subarray(size);
    return out;
  };
  const size = async () => (await take(4)).readUInt32LE();
  const text = async () => {
    const bytes = await size();
    return bytes === NONE ? undefined : take(bytes);
  };
  try {
    for (let i = 0; i < count; i++) {
      const file = await take(await size()), json = await text(), map = await text();
      const status = (await take(1))[0], n = await size();
      const numbers = n === NONE ? undefined : await take(4 * n);
      const logits = numbers && Array.from({ length: n }, (_, k) => numbers.readFloatLE(4 * k));
      yield { file, json, map, status, logits };
    }
  } finally {
    child.kill();
  }
}

function keep({ file, json, map }, build, index) {
  const folder = join(root, "build", "fuzz", "findings");
  const path = join(folder, `wasm-${build}-${index}.safetensors`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, file);
  if (json) writeFileSync(`${path}.config.json`, json);
  if (map) writeFileSync(`${path}.map.json`, map);
  return path;
}

async function search(seconds, seed) {
  const modules = builds.map((name) => ({
    name,
    threads: name.endsWith("threads"),
    module: new WebAssembly.Module(readFileSync(join(root, "build", "wasm", `vit.${name}.wasm`))),
  }));
  const program = join(root, "build", "native", "fuzz_mutants"), start = Date.now();
  let count = 0, opened = 0, findings = 0;
  for await (const mutant of mutants(program, seed, 1e9)) {
    if (Date.now() - start > seconds * 1000 || findings >= 20) break;
    for (const { name, module, threads } of modules) {
      let wrong;
      try {
        wrong = judge(module, threads, mutant);
      } catch (error) {
        wrong = error instanceof WebAssembly.RuntimeError ? `a trap: ${error.message}` : error.stack;
      }
      if (wrong === undefined) continue;
      findings++;
      console.log(`✗ ${name}, mutant ${count} of seed ${seed}: ${wrong}\n  ${keep(mutant, name, `${seed}-${count}`)}`);
    }
    count++;
    opened += mutant.status === 0;
  }
  const rate = (count * builds.length / ((Date.now() - start) / 1000)).toFixed(0);
  console.log(`wasm: ${count} mutants through ${builds.length} builds, ${rate}/s, ${opened} of them opened, ` +
    `${findings} findings`);
  return findings;
}

const [seconds = "20", seed = "1"] = process.argv.slice(2);
if (flags.every((flag) => process.execArgv.includes(flag))) {
  process.exitCode = (await search(Number(seconds), Number(seed))) ? 1 : 0;
} else {
  spawn(process.execPath, [...flags, fileURLToPath(import.meta.url), seconds, seed], { stdio: "inherit" })
    .on("close", (code) => { process.exitCode = code ?? 1; });
}
