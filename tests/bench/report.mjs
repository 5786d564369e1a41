// The bench's rows, in the form of its JSON and of its tables.

/**
 * The named rows of one place. `done` holds { title, rows, limit } of each contest and
 * { title, rows } of each start-up, `versions` the peers' versions.
 */
export function named(place, where, done, versions) {
  const limit = Math.max(...done.map(({ limit }) => limit ?? 0));
  return done.flatMap(({ title, rows }) => rows.map((row) => {
    const { row: what, precision, batch, threads, gflops } = row;
    const peer = row.peer && withVersion(row.peer, versions);
    const both = what === precision ? what : `${what} ${precision}`;
    const f32 = limit > 0 && precision === "f32" && gflops !== null;
    return rounded({
      name: `${title}, ${both}, batch ${batch}, ${place}${peer ? `, against ${peer}` : ""}`,
      model: title,
      where,
      ...row,
      peer,
      ...(f32 && { limit_gflops: limit, share_of_limit: gflops / (limit * threads) }),
    });
  }));
}

/** The peer's name begins with its library's. */
function withVersion(peer, versions) {
  const [library] = peer.split(" ");
  return peer.replace(library, [library, versions[library]].join(" ").trim());
}

function rounded(row) {
  return Object.fromEntries(Object.entries(row).map(([key, value]) =>
    [key, typeof value === "number" ? Number(value.toPrecision(4)) : value]));
}

// Title, value, digits of a measured number. Columns that begin with a digit are aligned right.
const speed = [
  ["model", ({ model }) => model],
  ["what", ({ row, precision }) => (row === precision ? row : `${row} ${precision}`)],
  ["batch", ({ batch }) => batch],
  ["threads", ({ threads }) => threads],
  ["variant", ({ variant }) => variant],
  ["ours ms", ({ ours_ms }) => ours_ms, 4],
  ["GFLOP/s", ({ gflops }) => gflops, 3],
  ["of limit", ({ share_of_limit: share }) => share && `${Math.round(100 * share)} %`],
  ["peer", ({ peer }) => peer],
  ["peer ms", ({ peer_ms }) => peer_ms, 4],
  ["ratio", ({ ratio }) => ratio, 3],
];

const memory = [
  ["model", ({ model }) => model],
  ["weights", ({ precision }) => precision],
  ["MB", ({ weights_mb }) => weights_mb, 4],
  ["our heap MB", ({ ours_heap_mb }) => ours_heap_mb, 4],
  ["peer", ({ peer }) => peer],
  ["its heap MB", ({ peer_heap_mb }) => peer_heap_mb, 4],
];

/** The rows of one place as text. */
export function tables(rows) {
  const [{ where }] = rows;
  const limit = rows.find(({ limit_gflops }) => limit_gflops)?.limit_gflops;
  const title = limit ? `${where}; limit: ${significant(limit, 3)} GFLOP/s a core` : where;
  const heaps = rows.filter(({ ours_heap_mb }) => ours_heap_mb);
  return [title, "", table(speed, rows), ...(heaps.length ? ["", table(memory, heaps)] : [])].join("\n");
}

function table(columns, rows) {
  const lines = rows.map((row) => columns.map(([, value, digits]) => text(value(row), digits)));
  const numeric = columns.map((_, i) => lines.every((cells) => /^(\d|$)/.test(cells[i])));
  const all = [columns.map(([title]) => title), ...lines];
  const widths = columns.map((_, i) => Math.max(...all.map((cells) => cells[i].length)));
  const align = (cell, i) => (numeric[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i]));
  return all.map((cells) => cells.map(align).join("  ").trimEnd()).join("\n");
}

function text(value, digits) {
  if (value === undefined || value === null) return "";
  return digits ? significant(value, digits) : String(value);
}

function significant(value, digits) {
  const exactly = { minimumSignificantDigits: digits, maximumSignificantDigits: digits };
  return value.toLocaleString("en", { ...exactly, useGrouping: false });
}
