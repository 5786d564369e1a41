/** timm's ViTs with relative positions. In most, a small MLP makes the biases of an offset's logarithms: it becomes a table. */
import { type Added, copyOf, type Family } from "./family.js";
import { TIMM } from "./timm.js";

const OWN = "blocks.*.attn.rel_pos";
const SHARED = "shared_rel_pos";
const TABLE = "relative_position_bias_table";

/** The most products that a block's table takes. The largest of timm's models takes 18 million. */
const MOST_PRODUCTS = 2 ** 25;

const logarithm = (offset: number) => Math.sign(offset) * Math.log(1 + Math.abs(offset));

/** The MLP's results for all offsets, and zeros for the prefix. */
const foldMlp: Added["plan"] = (parts, grid, prefix) => {
  if (!grid) return undefined;
  const [rows, columns] = grid;
  const [hidden, heads] = [parts[1]!.count, parts[3]!.count];
  const offsets = (2 * rows - 1) * (2 * columns - 1);
  const fits = parts[0]!.count === 2 * hidden && parts[2]!.count === heads * hidden && parts.every(({ dtype }) => dtype === "F32");
  if (!fits || offsets * heads * hidden > MOST_PRODUCTS) return undefined;
  return {
    shape: [offsets + (prefix ? 3 : 0), heads],
    make(bytes) {
      const [w1, b1, w2, b2] = bytes.map((each) => new Float32Array(each.slice().buffer));
      const out = new Float32Array((offsets + (prefix ? 3 : 0)) * heads);
      const between = new Float64Array(hidden);
      for (let at = 0, y = 1 - rows; y < rows; y++) {
        for (let x = 1 - columns; x < columns; x++) {
          for (let k = 0; k < hidden; k++) between[k] = Math.max(0, w1![2 * k]! * logarithm(y) + w1![2 * k + 1]! * logarithm(x) + b1![k]!);
          for (let head = 0; head < heads; head++, at++) {
            let sum = b2![head]!;
            for (let k = 0; k < hidden; k++) sum += w2![head * hidden + k]! * between[k]!;
            out[at] = sum;
          }
        }
      }
      return new Uint8Array(out.buffer);
    },
  };
};

const mlp = (place: string) => ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"].map((name) => `${place}.mlp.${name}`);

/** An MLP makes other tables for other sizes, so this one is not resized: only the first three ways are for tables. */
const byMlp = { resize: "align_corners" } as const;

const relpos: Family = {
  ...TIMM,
  name: "timm's ViT with relative positions",
  variant: true,
  added: [
    ...[OWN, SHARED].map((place) => ({ name: `${OWN}.${TABLE}`, from: mlp(place), plan: foldMlp, replaces: true })),
    { name: `${OWN}.${TABLE}`, from: [`${SHARED}.${TABLE}`], plan: copyOf, replaces: true },
  ],
  openWithoutPrefix: {},
};

export const TIMM_RELPOS: readonly Family[] = [
  ...[OWN.replace("*", "0"), SHARED].map((place) => ({ ...relpos, ...byMlp, needs: [mlp(place)[0]!] })),
  { ...relpos, needs: [`${SHARED}.${TABLE}`] },
];
