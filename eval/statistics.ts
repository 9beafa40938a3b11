/** Returns the median; null for an empty list. */
export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [
    sorted[Math.max(0, sorted.length % 2 === 1 ? middle : middle - 1)],
    sorted[middle],
  ];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

/** The limits between which a share lies with a probability of 95 %, by Wilson's method. From 0 to 1. */
export function wilsonInterval(hits: number, total: number): readonly [low: number, high: number] {
  if (total === 0) return [0, 1];
  const z = 1.959964;
  const share = hits / total;
  const center = share + (z * z) / (2 * total);
  const spread = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
  const scale = 1 + (z * z) / total;
  return [Math.max(0, (center - spread) / scale), Math.min(1, (center + spread) / scale)];
}

/**
 * The probability that two equally good sides differ at least this much by chance (McNemar's exact test).
 *
 * @param onlyFirst the number of pairs that only the first side solved
 * @param onlySecond the number of pairs that only the second side solved
 */
export function signTest(onlyFirst: number, onlySecond: number): number {
  const total = onlyFirst + onlySecond;
  // Logarithms, because the binomial coefficients of many pairs are larger than any number.
  let logCoefficient = 0;
  let sum = 0;
  for (let count = 0; count <= Math.min(onlyFirst, onlySecond); count += 1) {
    sum += Math.exp(logCoefficient - total * Math.LN2);
    logCoefficient += Math.log((total - count) / (count + 1));
  }
  return Math.min(1, 2 * sum);
}
