import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/model/offline/evidence.ts';
import type { FileKind } from '../../src/base/code/file-kind.ts';
import { bestPlace } from '../../src/model/offline/place.ts';
import { rankFiles, termRarities } from '../../src/model/offline/rank.ts';
import { readQuery } from '../../src/model/offline/terms.ts';

interface Found {
  /** Matching lines by file, by the term's label. */
  readonly counts?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly lines?: Readonly<Record<string, readonly string[]>>;
  readonly lengths?: Readonly<Record<string, number>>;
}

const QUESTION = 'alias table';
const OTHERS = Array.from({ length: 20 }, (_, i) => `src/other${i}.ts`);

function evidenceOf(question: string, files: readonly string[], found: Found): Evidence {
  const { terms } = readQuery(question);
  return {
    files: new Set([...files, ...OTHERS]),
    counts: new Map(
      terms.map((term) => [
        term.pattern,
        new Map(Object.entries(found.counts?.[term.label] ?? {})),
      ]),
    ),
    hiddenCounts: new Map(),
    fileTotal: files.length + OTHERS.length,
    lineTotals: new Map(Object.entries(found.lengths ?? {})),
    lines: new Map(
      Object.entries(found.lines ?? {}).map(([path, lines]) => [
        path,
        new Map(lines.map((line, i) => [i + 1, line])),
      ]),
    ),
    opened: new Set(),
    failures: [],
    callCount: 0,
  };
}

function order(files: readonly string[], found: Found, wanted: readonly FileKind[] = []) {
  const evidence = evidenceOf(QUESTION, files, found);
  return rankFiles(readQuery(QUESTION), evidence, { wanted: new Set(wanted) }).map(
    ({ path }) => path,
  );
}

describe('rankFiles', () => {
  test('both terms before one often', () => {
    const counts = { alias: { 'a.ts': 2, 'b.ts': 9 }, table: { 'a.ts': 2 } };
    expect(order(['a.ts', 'b.ts'], { counts })).toEqual(['a.ts', 'b.ts']);
  });

  test('the rare term counts more', () => {
    const common = Object.fromEntries(OTHERS.map((path) => [path, 2]));
    const counts = { alias: { 'a.ts': 2 }, table: { ...common, 'b.ts': 2 } };
    expect(order(['a.ts', 'b.ts'], { counts })[0]).toBe('a.ts');
  });

  test('a name before a mention', () => {
    const counts = { alias: { 'src/alias.ts': 1, 'src/b.ts': 2 } };
    expect(order(['src/alias.ts', 'src/b.ts'], { counts })).toEqual(['src/alias.ts', 'src/b.ts']);
  });

  test('a definition before uses', () => {
    const counts = { alias: { 'a.ts': 1, 'b.ts': 1 } };
    const lines = { 'a.ts': ['use(alias)'], 'b.ts': ['const aliasTable = {'] };
    expect(order(['a.ts', 'b.ts'], { counts, lines })).toEqual(['b.ts', 'a.ts']);
  });

  test('the shorter file, where all else is equal', () => {
    const counts = { alias: { 'a.ts': 2, 'b.ts': 2 } };
    expect(order(['a.ts', 'b.ts'], { counts, lengths: { 'a.ts': 900, 'b.ts': 90 } })[0]).toBe(
      'b.ts',
    );
  });

  test('tests, docs and generated files come last, unless asked for', () => {
    const paths = ['dist/a.js', 'test/a.ts', 'src/a.ts'];
    const counts = { alias: Object.fromEntries(paths.map((path) => [path, 3])) };
    expect(order(paths, { counts })).toEqual(['src/a.ts', 'test/a.ts', 'dist/a.js']);
    expect(order(paths, { counts }, ['test'])).toEqual(['test/a.ts', 'src/a.ts', 'dist/a.js']);
  });

  test('a file that holds nothing is not there', () => {
    expect(order(['a.ts'], {})).toEqual([]);
  });

  test('a path that the question names comes first', () => {
    const question = 'alias in src/z.ts';
    const evidence = evidenceOf(question, ['src/z.ts', 'a.ts'], {
      counts: { alias: { 'a.ts': 9 } },
    });
    const [first] = rankFiles(readQuery(question), evidence, { wanted: new Set() });
    expect(first?.path).toBe('src/z.ts');
  });
});

describe('bestPlace', () => {
  function lineOf(lines: readonly string[], question = QUESTION) {
    const evidence = evidenceOf(question, ['a.ts'], {
      lines: { 'a.ts': lines },
      counts: { alias: { 'a.ts': 1 }, table: { 'a.ts': 1 } },
    });
    const query = readQuery(question);
    return bestPlace('a.ts', query, evidence, termRarities(query, evidence))?.line ?? null;
  }

  test.each<[string, readonly string[], number | null]>([
    [
      'the definition, not the import',
      ['import { aliasTable } from "b"', 'const aliasTable = {}'],
      2,
    ],
    ['the definition, not its comment', ['// the alias table', 'const names = {}'], 2],
    ['the line with both', ['x(alias)', '', '', '', '', '', 'y(alias, table)'], 7],
    ['the definition around them', ['function f() {', '  g(alias, table)', '}', '', 'x'], 2],
    ['the first definition where nothing matches', ['// a', 'const b = 1'], 2],
    ['none of no lines', [], null],
  ])('%s', (_, lines, expected) => {
    expect(lineOf(lines)).toBe(expected);
  });
});
