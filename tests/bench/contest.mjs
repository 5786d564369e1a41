// One model and its peers, timed in turn, by the same code in Node and in a browser.
import { cosine, largestDifference, median } from "./figures.mjs";
import { heapOf } from "./heap.mjs";
import { limit } from "./limit.mjs";
import { drawings, flops, isSmall, quantized, weightBytes } from "./models.mjs";
import { writeSafetensors } from "../../web/base/safetensors.mjs";
import { ortSides, oursSide, tfjsSides } from "./sides.mjs";
import { missing } from "./tfjs.mjs";

// How far two sides' logits may differ. In float32: the largest difference, as a share of the
// largest logit. In int8: the cosine of each side with its own library's float32.
const TOLERANCE = 1e-4;
const COSINE = { ours: 0.999, peer: 0.99 };

/** The rows that can be timed of a model in each precision. */
export const contestRows = { f32: ["f32", "maps", "threads"], int8: ["int8", "maps"] };

const LARGE = 1e10; // operations an image: from here on a single call takes long
const BATCH = 64;
const THREADS = 2;

/**
 * Times our calls and those of the peers in `engines`, { Vit, ort, tf, limits }.
 * @param {{ config, tensors }} model in float32
 * @param {object} plan { precision, rows, rounds, slice, variant }: in each round every side runs
 *   at least once, until `slice` milliseconds are over; a round before the first only warms up
 * @returns {Promise<{ rows: object[], notes: string[], limit: number }>} medians and bests in
 *   milliseconds, memory in megabytes; notes: why a row is missing; limit: in GFLOP/s
 * @throws if two sides' answers differ, because then there is nothing to compare
 */
export async function contest(engines, model, plan) {
  const before = await limit(engines.limits);
  const arena = new Arena(engines, model, plan);
  await arena.open();
  const rows = [];
  for (const batch of isSmall(model.config) ? [1, BATCH] : [1]) rows.push(...(await arena.match(batch)));
  arena.close();
  const after = await limit(engines.limits);
  return { rows, notes: [...arena.notes], limit: Math.max(before, after) };
}

class Arena {
  /** In megabytes: the weights, and each side's WebAssembly memory after it has run. */
  heap = {};
  /** Why a row is missing. */
  notes = new Set();

  constructor(engines, model, plan) {
    Object.assign(this, engines, { model, plan });
    this.own = plan.precision === "int8" ? quantized(model) : model;
    this.file = writeSafetensors(this.own);
    this.large = flops(model.config) > LARGE;
    this.rounds = plan.rounds ?? (this.large ? 5 : 10);
  }

  async open() {
    const [vit, bytes] = await heapOf(() => this.load(this.file));
    await vit.classify(drawings(1, this.model.config)[0]);
    this.vit = vit;
    this.heap.weights_mb = weightBytes(this.own) / 1e6;
    this.heap.ours_heap_mb = bytes() / 1e6;
  }

  close() {
    this.vit.dispose();
  }

  load(file, options) {
    return this.Vit.load(file, { variant: this.plan.variant, ...options });
  }

  /** The rows of one batch size. All their sides run in turn. */
  async match(batch) {
    const { rows: selection, precision, slice } = this.plan;
    const images = drawings(batch, this.model.config);
    const ours = await withAnswer(oursSide(this.vit, images));
    const pairs = [];
    const peers = { f32: this.f32Peers, int8: this.int8Peers }[precision];
    if (selection.includes(precision)) pairs.push(...(await peers.call(this, ours, images)));
    if (selection.includes("maps")) pairs.push(await this.maps(ours, images));
    const threaded = precision === "f32" && (this.large || batch > 1);
    if (selection.includes("threads") && threaded) pairs.push(...(await this.threads(ours, images)));

    const sides = [...new Set(pairs.flatMap(({ side, peer }) => [side, peer]))];
    for (let round = 0; round <= this.rounds; round++) {
      for (const side of sides) {
        if (round <= 1) side.times = [];
        await time(side, slice);
      }
    }
    for (const side of sides) await side.close();
    const { variant } = this.vit, operations = batch * flops(this.model.config);
    return pairs.map((pair) => pairRow(pair, { precision, batch, variant, operations }));
  }

  async f32Peers(ours, images) {
    const peers = { "onnxruntime-web": ortSides(this.ort, this.model, images) };
    const why = missing(this.model.config);
    if (why) this.notes.add(why);
    else peers["tfjs-backend-wasm"] = tfjsSides(this.tf, this.model, images);
    const pairs = [];
    for (const [against, makers] of Object.entries(peers)) {
      const peer = await this.fastest(makers);
      for (const { form, answer } of peer.forms) same(ours.answer, answer, `${against} (${form})`);
      pairs.push({ row: "f32", side: ours, peer, against });
    }
    if (images.length === 1) Object.assign(pairs[0], this.heap);
    return pairs;
  }

  async int8Peers(ours, images) {
    const { variant } = this.plan;
    const f32 = await this.Vit.load(writeSafetensors(this.model), { variant });
    const reference = await withAnswer(oursSide(f32, images));
    f32.dispose();
    const quantised = await this.fastest(ortSides(this.ort, this.own, images));
    const float = await this.fastest(ortSides(this.ort, this.model, images));
    for (const { form, answer } of float.forms) {
      same(reference.answer, answer, `onnxruntime-web (${form})`);
    }
    const near = {
      cosine: this.alike(reference.answer, ours.answer, COSINE.ours, "our int8"),
      peer_cosine: Math.min(...quantised.forms.map(({ form, answer }) =>
        this.alike(float.answer, answer, COSINE.peer, `onnxruntime-web's int8 (${form})`))),
    };
    const pairs = [
      { row: "int8", side: ours, peer: quantised, against: "onnxruntime-web int8", ...near },
      { row: "int8", side: ours, peer: float, against: "onnxruntime-web f32", cosine: near.cosine },
    ];
    if (images.length === 1) Object.assign(pairs[0], this.heap);
    return pairs;
  }

  /** The fastest of a peer's forms, with the answers of all forms in `forms`. */
  async fastest(makers) {
    const sides = [];
    for (const make of makers) {
      const [side, bytes] = await heapOf(async () => withAnswer(await make()));
      sides.push(side);
      if (bytes() > 0) this.heap.peer_heap_mb ??= bytes() / 1e6;
    }
    for (const side of sides) await time(side, 2 * this.plan.slice);
    const best = (side) => Math.min(...side.times);
    const [winner, ...losers] = sides.toSorted((a, b) => best(a) - best(b));
    for (const side of losers) await side.close();
    return Object.assign(winner, { forms: sides.map(({ form, answer }) => ({ form, answer })) });
  }

  /** The smallest cosine of any image's logits. */
  alike(want, got, least, whose) {
    const [classes] = this.model.tensors.get("head.weight").shape;
    const image = (logits, i) => logits.slice(i * classes, (i + 1) * classes);
    const cosines = Array.from({ length: want.length / classes }, (_, i) =>
      cosine(image(want, i), image(got, i)));
    const found = Math.min(...cosines);
    if (found >= least) return found;
    throw new Error(`${whose} and its float32: expected logits of cosine ${least} or more, got ${found}`);
  }

  async maps(ours, images) {
    const side = await withAnswer(oursSide(this.vit, images, { attention: true }));
    same(ours.answer, side.answer, "vitrine with attention maps");
    return { row: "maps", side, peer: ours, against: "vitrine without maps" };
  }

  async threads(ours, images) {
    const vit = await this.load(this.file, { threads: THREADS });
    if (vit.threads < THREADS) {
      this.notes.add("no more than 1 thread here");
      vit.dispose();
      return [];
    }
    const side = await withAnswer(oursSide(vit, images));
    same(ours.answer, side.answer, `vitrine with ${THREADS} threads`);
    side.close = () => vit.dispose();
    return [{ row: "threads", side, peer: ours, against: "vitrine, one thread", threads: THREADS }];
  }
}

/** The row of a pair of timed sides. `about`: { precision, batch, variant, operations }, those of a call. */
export function pairRow({ row, side, peer, against, threads = 1, ...more }, { precision, batch, variant, operations }) {
  const ms = median(side.times);
  return {
    row,
    precision,
    batch,
    threads,
    variant,
    ours_ms: ms,
    ours_best_ms: Math.min(...side.times),
    peer: against,
    ...(peer.form && { peer_form: peer.form }),
    peer_ms: median(peer.times),
    peer_best_ms: Math.min(...peer.times),
    ratio: median(peer.times) / ms,
    gflops: operations / ms / 1e6,
    ...more,
  };
}

async function withAnswer(side) {
  side.answer = side.logits(await side.run());
  return side;
}

/** Runs a side at least once, until `slice` milliseconds are over, and keeps the times. */
export async function time(side, slice) {
  const end = performance.now() + slice;
  do {
    const start = performance.now();
    await side.run();
    side.times.push(performance.now() - start);
  } while (performance.now() < end);
}

function same(want, got, whose) {
  const difference = largestDifference(got, want);
  if (difference <= TOLERANCE) return;
  throw new Error(`the logits of ${whose} differ from ours by ${difference} of the largest; ` +
    `expected at most ${TOLERANCE}`);
}
