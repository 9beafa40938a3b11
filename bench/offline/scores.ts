/** The quality of a ranking over a set of questions. */
export interface Scores {
  readonly questions: number;
  readonly hit1: number;
  readonly hit3: number;
  /** The mean reciprocal rank. */
  readonly mrr: number;
}

/** Computes the scores from the rank of the first right answer to each question. */
export function computeScores(ranks: readonly number[]): Scores {
  const share = (within: number) => ranks.filter((rank) => rank <= within).length / ranks.length;
  const mrr = ranks.reduce((sum, rank) => sum + 1 / rank, 0) / ranks.length;
  return { questions: ranks.length, hit1: share(1), hit3: share(3), mrr };
}

/** The rank of the first right answer, from 1, or Infinity when there is none. */
export function rankOf(ranked: readonly string[], answers: readonly string[]): number {
  const index = ranked.findIndex((path) => answers.includes(path));
  return index === -1 ? Infinity : index + 1;
}

export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 4000;

/**
 * Computes the mean of the differences between two rankings on the same questions, with its 95 % interval by
 * a paired bootstrap. The same numbers always give the same interval.
 */
export function pairedBootstrap(differences: readonly number[]): Interval {
  const random = generator(20_240_229);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let count = 0; count < differences.length; count += 1) {
      sum += differences[Math.floor(random() * differences.length)] ?? 0;
    }
    return sum / differences.length;
  }).toSorted((a, b) => a - b);
  const mean = differences.reduce((sum, each) => sum + each, 0) / differences.length;
  return {
    mean,
    low: means[Math.floor(0.025 * RESAMPLES)] ?? Number.NaN,
    high: means[Math.floor(0.975 * RESAMPLES)] ?? Number.NaN,
  };
}

/** A random number generator (mulberry32) for numbers from 0 to below 1. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
