// Figures computed from many numbers.

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/** The largest |got - want| divided by the largest |want|; NaN if any number is NaN. */
export function largestDifference(got, want) {
  const largest = (values) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  return largest(got.map((value, i) => value - want[i])) / largest(want);
}

export function cosine(a, b) {
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
