import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareAttempts,
  findBestAttempts,
  type ComparedAttempt,
} from '../../../src/engine/fan-out/best-attempts.ts';

type Score = NonNullable<ComparedAttempt['score']>;

function scoreOf(change: Partial<Score>): Score {
  const base = { command: 'score', value: null, exitCode: 0, ms: 1, output: '', problem: null };
  return { ...base, ...change };
}

function attemptOf(change: Partial<ComparedAttempt>): ComparedAttempt {
  const changes = { fileCount: 1, addedLines: 5, deletedLines: 5 };
  const base = { index: 1, attempt: 1, status: 'completed', score: scoreOf({}) } as const;
  return { ...base, changes, costUsd: 1, ...change };
}

function winner(isScored: boolean, ...changes: readonly Partial<ComparedAttempt>[]) {
  const attempts = changes.map((change, at) => attemptOf({ attempt: at + 1, ...change }));
  return findBestAttempts(attempts, isScored).map(({ index, attempt }) => [index, attempt]);
}

describe('the best attempt', () => {
  it.each<[what: string, ...attempts: Partial<ComparedAttempt>[]]>([
    ['a larger number', { score: scoreOf({ value: 1 }) }, { score: scoreOf({ value: 2 }) }],
    [
      'the less negative number',
      { score: scoreOf({ value: -3 }) },
      { score: scoreOf({ value: -2 }) },
    ],
    ['a number', { score: scoreOf({}) }, { score: scoreOf({ value: -5 }) }],
    [
      'exit code 0',
      { score: scoreOf({ exitCode: 1, value: 12 }) },
      { score: scoreOf({ exitCode: 0, value: 3 }) },
    ],
    ['exit code 0, without numbers', { score: scoreOf({ exitCode: 1 }) }, { score: scoreOf({}) }],
    ['any change', { changes: { fileCount: 0, addedLines: 0, deletedLines: 0 } }, {}],
    ['fewer changed lines', {}, { changes: { fileCount: 2, addedLines: 1, deletedLines: 8 } }],
    ['a lower cost', { costUsd: 2 }, { costUsd: 1 }],
    ['a known cost', { costUsd: null }, { costUsd: 9 }],
  ])('has %s', (_, worse, better) => {
    expect(winner(true, worse ?? {}, better ?? {})).toEqual([[1, 2]]);
    expect(winner(true, better ?? {}, worse ?? {})).toEqual([[1, 1]]);
  });

  it('is the earlier one of two equal ones', () => {
    expect(winner(true, {}, {})).toEqual([[1, 1]]);
  });

  it.each<[what: string, attempt: Partial<ComparedAttempt>]>([
    ['failed', { status: 'failed' }],
    ['ended at a limit', { status: 'partial' }],
    ['was never scored', { score: null }],
    ['had no end of its score', { score: scoreOf({ problem: 'it was ended' }) }],
    ['failed its score without a number', { score: scoreOf({ exitCode: 1 }) }],
  ])('is never one that %s', (_, attempt) => {
    expect(winner(true, attempt)).toEqual([]);
  });

  it('needs no score if nothing is scored', () => {
    expect(winner(false, { status: 'failed', score: null }, { score: null })).toEqual([[1, 2]]);
  });

  it('is chosen for each item on its own', () => {
    const attempts = [
      { index: 1, attempt: 1, score: scoreOf({ value: 1 }) },
      { index: 1, attempt: 2, score: scoreOf({ value: 5 }) },
      { index: 2, attempt: 1, score: scoreOf({ value: 3 }) },
      { index: 2, attempt: 2, status: 'failed' as const },
    ];
    expect(winner(true, ...attempts)).toEqual([
      [1, 2],
      [2, 1],
    ]);
  });

  it('does not depend on the order in which attempts are given', () => {
    const attempt = fc.record({
      index: fc.integer({ min: 1, max: 3 }),
      attempt: fc.integer({ min: 1, max: 1_000 }),
      score: fc.record({
        exitCode: fc.constantFrom(0, 1),
        value: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      }),
      costUsd: fc.option(fc.double({ min: 0, max: 9, noNaN: true })),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(attempt, { selector: (each) => each.attempt, maxLength: 8 }),
        fc.func(fc.integer()),
        (drawn, order) => {
          const attempts = drawn.map((each) => attemptOf({ ...each, score: scoreOf(each.score) }));
          const shuffled = attempts.toSorted((a, b) => order(a.attempt) - order(b.attempt));
          const best = findBestAttempts(attempts, true);
          expect(new Set(findBestAttempts(shuffled, true))).toEqual(new Set(best));
          for (const each of best) {
            const rivals = attempts.filter(
              ({ index, score }) =>
                index === each.index && (score?.exitCode === 0 || score?.value !== null),
            );
            expect(rivals.every((rival) => compareAttempts(each, rival) <= 0)).toBe(true);
          }
        },
      ),
    );
  });
});
