import { describe, expect, test } from 'vitest';
import {
  compareStats,
  countsAsChanged,
  mergeChanges,
  type EntryStats,
  type PathChange,
  type PathVersion,
} from '../../../../src/sys/files/changes/path-change.ts';
import { isSummarizedDirectory } from '../../../../src/sys/files/changes/summarized-directories.ts';

const STATS: EntryStats = {
  kind: 'file',
  dev: 1,
  ino: 2,
  size: 3,
  mode: 0o644,
  nlink: 1,
  mtimeMs: 1000,
  ctimeMs: 1000,
};

describe('the stats of an entry', () => {
  test.for([
    { now: {}, isRecent: false, comparison: 'same' },
    { now: {}, isRecent: true, comparison: 'unclear' },
    { now: { size: 4 }, isRecent: false, comparison: 'changed' },
    { now: { kind: 'link' }, isRecent: false, comparison: 'changed' },
    { now: { mtimeMs: 2000 }, isRecent: false, comparison: 'unclear' },
    { now: { ctimeMs: 2000 }, isRecent: false, comparison: 'unclear' },
    { now: { mode: 0o755 }, isRecent: false, comparison: 'unclear' },
    { now: { ino: 3 }, isRecent: false, comparison: 'unclear' },
  ] as const)(
    '$now after a recent change $isRecent: $comparison',
    ({ now, isRecent, comparison }) => {
      expect(compareStats(STATS, { ...STATS, ...now }, { isRecent })).toBe(comparison);
    },
  );

  test.for([
    { now: {}, changed: false },
    { now: { mtimeMs: 2000 }, changed: true },
    { now: { ino: 3 }, changed: true },
    { now: { ctimeMs: 2000 }, changed: true },
    { now: { ctimeMs: 2000, mode: 0o755 }, changed: false },
    { now: { ctimeMs: 2000, nlink: 2 }, changed: false },
  ])('$now of an unknown content count as a change: $changed', ({ now, changed }) => {
    expect(countsAsChanged(STATS, { ...STATS, ...now })).toBe(changed);
  });
});

describe('two changes of a path', () => {
  const one: PathVersion = { hash: 'one', mode: 0o644 };
  const two: PathVersion = { hash: 'two', mode: 0o644 };
  const change = (
    before: PathVersion | null,
    after: PathVersion | null,
    at: number,
  ): PathChange => {
    return { path: '/a', before, after, shared: false, since: at, until: at };
  };

  test.for([
    { title: 'changed and deleted', first: [one, two], next: [two, null], merged: [one, null] },
    { title: 'created and changed', first: [null, one], next: [one, two], merged: [null, two] },
    { title: 'created and deleted', first: [null, one], next: [one, null], merged: null },
    { title: 'changed and changed back', first: [one, two], next: [two, one], merged: null },
    {
      title: 'changed back with other permissions',
      first: [one, two],
      next: [two, { ...one, mode: 0o755 }],
      merged: [one, { ...one, mode: 0o755 }],
    },
  ] as const)('$title', ({ first, next, merged }) => {
    const expected =
      merged === null
        ? null
        : { path: '/a', before: merged[0], after: merged[1], shared: false, since: 1, until: 2 };
    expect(mergeChanges(change(first[0], first[1], 1), change(next[0], next[1], 2))).toEqual(
      expected,
    );
  });
});

test('a shared change that was undone remains', () => {
  const one: PathVersion = { hash: 'one', mode: 0o644 };
  const made = { path: '/a', before: null, after: one, shared: false, since: 1, until: 1 };
  const deleted = { path: '/a', before: one, after: null, shared: true, since: 2, until: 2 };
  expect(mergeChanges(made, deleted)).toEqual({
    path: '/a',
    before: null,
    after: null,
    shared: true,
    since: 1,
    until: 2,
  });
});

test('directories of dependencies are recognized by their name and the files beside them', () => {
  const beside =
    (...names: string[]) =>
    (name: string) =>
      names.includes(name);
  expect(isSummarizedDirectory('node_modules', beside())).toBe(true);
  expect(isSummarizedDirectory('target', beside('Cargo.toml'))).toBe(true);
  expect(isSummarizedDirectory('target', beside('package.json'))).toBe(false);
  expect(isSummarizedDirectory('src', beside('package.json'))).toBe(false);
});
