/** What a ranking gives for a set of questions: the place of the first right answer of each, from 1. */
export interface Scores {
  readonly questions: number;
  readonly hit1: number;
  readonly hit3: number;
  /** Mean of 1 / place. */
  readonly mrr: number;
}

export function scoresOf(places: readonly number[]): Scores {
  const share = (within: number) =>
    places.filter((place) => place <= within).length / places.length;
  const mrr = places.reduce((sum, place) => sum + 1 / place, 0) / places.length;
  return { questions: places.length, hit1: share(1), hit3: share(3), mrr };
}

/** From 1; Infinity where none is right. */
export function placeOf(ranked: readonly string[], answers: readonly string[]): number {
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
 * The mean of what one ranking has over another on the same questions, with its 95 % interval by
 * paired bootstrap. The same numbers give the same interval.
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

/** Mulberry32. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
