import { describe, expect, test } from 'vitest';
import { readQuery } from '../../../src/base/code-search/query.ts';
import { rankLocations, type Ranking } from '../../../src/base/code-search/rank.ts';
import { TermFinder } from '../../../src/base/code-search/term-finder.ts';

/** Files that hold none of the words, so that the words are rare. */
const OTHERS = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`src/other${index}.ts`, 'export const nothing = 1;\n']),
);

function rank(question: string, files: Readonly<Record<string, string>>): Ranking {
  const query = readQuery(question);
  const finder = new TermFinder(query.terms);
  const all = new Map(Object.entries({ ...OTHERS, ...files }));
  return rankLocations(query, finder, {
    files: [...all].map(([path, text]) => ({
      path,
      size: text.length,
      counts: finder.count(text),
    })),
    readText: (path) => all.get(path) ?? null,
  });
}

function order(files: Readonly<Record<string, string>>, question = 'alias table') {
  return rank(question, files).locations.map(({ path }) => path);
}

const code = (...words: readonly string[]) => words.map((word) => `call(${word});\n`).join('');

describe('the order of files', () => {
  test('both terms come before one of them often', () => {
    const files = { 'a.ts': code('alias', 'table'), 'b.ts': code(...Array(9).fill('alias')) };
    expect(order(files)).toEqual(['a.ts', 'b.ts']);
  });

  test('a rare term counts more', () => {
    const common = Object.fromEntries(Object.keys(OTHERS).map((path) => [path, code('table')]));
    const files = { ...common, 'a.ts': code('alias'), 'b.ts': code('table', 'table') };
    expect(order(files)[0]).toBe('a.ts');
  });

  test('the name of a file counts more than a mention', () => {
    const files = { 'src/alias.ts': code('alias'), 'src/b.ts': code('alias', 'alias') };
    expect(order(files, 'Where is the alias?')).toEqual(['src/alias.ts', 'src/b.ts']);
  });

  test('a definition comes before uses', () => {
    const files = { 'a.ts': 'use(aliasTable);\n', 'b.ts': 'const aliasTable = {};\n' };
    expect(order(files)).toEqual(['b.ts', 'a.ts']);
  });

  test('of two files with the same words the shorter one comes first', () => {
    const files = { 'a.txt': `alias\n${'filler\n'.repeat(900)}`, 'b.txt': 'alias\nfiller\n' };
    expect(order(files)).toEqual(['b.txt', 'a.txt']);
  });

  test('tests and generated files come last, unless the question asks for them', () => {
    const files = Object.fromEntries(
      ['dist/a.js', 'test/a.ts', 'src/a.ts'].map((path) => [path, code('alias')]),
    );
    expect(order(files)[0]).toBe('src/a.ts');
    expect(order(files, 'the tests of alias table')[0]).toBe('test/a.ts');
  });

  test('a path that the question names comes first', () => {
    const files = { 'src/z.ts': code('nothing'), 'a.ts': code(...Array(9).fill('alias')) };
    expect(order(files, 'alias in src/z.ts')[0]).toBe('src/z.ts');
  });

  test('a file without any of the words is left out', () => {
    expect(order({ 'a.ts': code('unrelated') })).toEqual([]);
  });
});

test.each<[string, string, number]>([
  ['the definition, not the import', 'import { aliasTable } from "b"\nconst aliasTable = {}', 2],
  ['the definition below its comment', '// the alias table\nconst names = {}', 2],
  ['the line with both words', 'x(alias)\n\n\n\n\n\ny(alias, table)', 7],
  ['the definition around both words', 'function f() {\n  g(alias, table)\n}\n\nx', 1],
])('the location is %s', (_, text, line) => {
  expect(rank('alias table', { 'a.ts': text }).locations[0]?.line).toBe(line);
});

test('words that occur in no file and no path are reported as absent', () => {
  expect(rank('alias quantum', { 'quantum.ts': code('alias') }).absent).toEqual([]);
  expect(rank('alias quantum', { 'a.ts': code('alias') }).absent).toEqual(['quantum']);
});
