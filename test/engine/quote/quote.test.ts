import { expect, it } from 'vitest';
import { findFileMentions } from '../../../src/engine/quote/quote.ts';
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
