import { asksForPlace } from './question-terms.ts';

/** What each sign of a file counts. All but the last three are sums of what terms are worth. */
export interface Weights {
  /** BM25 of its best section. */
  readonly section: number;
  /** BM25 of the whole. */
  readonly file: number;
  /** The terms of its best line. */
  readonly line: number;
  /** What stands between quotes in one line. */
  readonly quoted: number;
  /** The name that it defines. */
  readonly symbol: number;
  /** Its own name. */
  readonly name: number;
  readonly directory: number;
  /** The logarithm of its length: what is long is changed more often. */
  readonly length: number;
  /** The logarithm of how many files it imports. */
  readonly imports: number;
  /** Share of the scores of the files that it imports and that import it. */
  readonly neighbours: number;
}

/**
 * Fitted on questions from public histories, each repository by the figures of the others, and rounded:
 * any of them may be halved or doubled, and less than one in a hundred leaves the first three.
 */
const FOR_REPORT: Weights = {
  section: 0.3,
  file: 0.4,
  line: 0.4,
  quoted: 0.2,
  symbol: 0.6,
  name: 0.2,
  directory: 0.8,
  length: 0.5,
  imports: 0.3,
  neighbours: 0.05,
};

/** What does a thing is called by it, and mostly small. */
const FOR_PLACE: Weights = {
  section: 0.1,
  file: 0.4,
  line: 0.4,
  quoted: 0.2,
  symbol: 1.2,
  name: 1.6,
  directory: 0.2,
  length: 0.2,
  imports: 0.1,
  neighbours: 0,
};

export function weightsFor(question: string): Weights {
  return asksForPlace(question) ? FOR_PLACE : FOR_REPORT;
}
