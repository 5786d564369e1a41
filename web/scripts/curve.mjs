// node web/scripts/curve.mjs LOG.tsv CURVE.svg: draws a training log's errors and learning
// rate. `npm run train` does it for the model card.
import { readFileSync, writeFileSync } from "node:fs";
import { isMain, main, say, Trouble } from "./lib.mjs";

const width = 720, height = 340;
const plot = { left: 60, right: width - 20, top: 30, bottom: height - 40 };
const ticks = [50, 20, 10, 5, 2, 1, 0.5, 0.2]; // errors in %, on a logarithmic scale
const lines = [
  { column: "train_accuracy", label: "training images, augmented", colour: "#b5651d" },
  { column: "validation_accuracy", label: "validation images, averaged weights", colour: "#2a6f97" },
];

function readLog(path) {
  const [names, ...rows] = readFileSync(path, "utf8").trim().split("\n").map((line) => line.split("\t"));
  if (names[0] !== "epoch" || rows.length === 0) {
    throw new Trouble(`${path}: expected the log of vit train: a line of names, then one an epoch`);
  }
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, Number(row[i])])));
}

const text = (x, y, content, extra = "") => `<text x="${x}" y="${y}" ${extra}>${content}</text>`;

export function curve(rows) {
  const first = rows[0].epoch, last = rows.at(-1).epoch;
  const x = (epoch) => plot.left + ((epoch - first) / Math.max(1, last - first)) * (plot.right - plot.left);
  const span = Math.log(ticks[0] / ticks.at(-1));
  const y = (error) => plot.bottom - (Math.log(Math.max(error, ticks.at(-1)) / ticks.at(-1)) / span) * (plot.bottom - plot.top);
  const grid = ticks.map((tick) =>
    `<path d="M${plot.left} ${y(tick).toFixed(1)}H${plot.right}" stroke="#8884"/>` +
    text(plot.left - 8, (y(tick) + 4).toFixed(1), `${tick} %`, 'text-anchor="end"'));
  const epochs = rows.filter((row) => row.epoch === first || row.epoch % 10 === 0).map((row) =>
    text(x(row.epoch).toFixed(1), plot.bottom + 20, row.epoch, 'text-anchor="middle"'));
  const curves = lines.map(({ column, label, colour }, i) => {
    const points = rows.filter((row) => Number.isFinite(row[column]))
      .map((row) => `${x(row.epoch).toFixed(1)},${y(100 - 100 * row[column]).toFixed(1)}`);
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>` +
      text(plot.right, plot.top + 16 * i, `error on ${label}`, `text-anchor="end" fill="${colour}"`);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#777">
<title>Error by epoch</title>
${[...grid, ...epochs, text((plot.left + plot.right) / 2, height - 6, "epoch", 'text-anchor="middle"'), ...curves].join("\n")}
</svg>
`;
}

if (isMain(import.meta)) {
  await main(() => {
    const [log, svg] = process.argv.slice(2);
    if (!svg) throw new Trouble("usage: node web/scripts/curve.mjs LOG.tsv CURVE.svg");
    writeFileSync(svg, curve(readLog(log)));
    say(`drew ${svg}`);
  });
}
