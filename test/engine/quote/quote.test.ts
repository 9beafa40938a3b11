import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { findFileMentions, findMissingFile } from '../../../src/engine/quote/quote.ts';
import { taskSpec } from '../../store/fixture-data.ts';

const { agent } = taskSpec('aaaaaaaa');
const AGENTS = [{ ...agent, name: 'Explore' }];

it.each<readonly [string, readonly (readonly string[])[]]>([
  ['read @src/a.ts', [['src/a.ts']]],
  ['@README.md.', [['README.md.', 'README.md']]],
  ['(see @docs/a.md)', [['docs/a.md)', 'docs/a.md']]],
  ['@"my notes.md", please', [['my notes.md']]],
  ['@src\\win\\a.ts', [['src\\win\\a.ts']]],
  ['@C:\\work\\a.ts', [['C:\\work\\a.ts']]],
  ['@/etc/hosts and @~/x', [['/etc/hosts'], ['~/x']]],
  ['@a.ts @a.ts', [['a.ts']]],
  ['@ä/ö.ts', [['ä/ö.ts']]],
  ['@Explore looks at @a.ts', [['a.ts']]],
  ['mail me@example.org', []],
  ['`@a.ts` is code', []],
  ['```\n@a.ts\n```', []],
  ['<stdin>@a.ts</stdin>', []],
  ['@', []],
  ['@ a', []],
])('%j names %j', (words, mentions) => {
  expect(findFileMentions(words, AGENTS)).toEqual(mentions);
});

it.each([
  ['@nosuch.js', 'nosuch.js'],
  ['@nosuch.js.', 'nosuch.js'],
  ['@src/nosuch', 'src/nosuch'],
  ['@./nosuch', './nosuch'],
  ['@/nowhere/at/all', '/nowhere/at/all'],
  ['@"no notes.md"', 'no notes.md'],
  ['@package.json', null],
  ['@src', null],
  ['@src/', null],
  ['@someone', null],
  ['@types/node', null],
  ['@v1.2', null],
  ['@~/nosuch.js', null],
])('%j names the missing file %j', (words, missing) => {
  const root = resolve(import.meta.dirname, '../../..');
  const [mention = []] = findFileMentions(words, AGENTS);
  expect(findMissingFile(mention, root)).toBe(missing);
});
