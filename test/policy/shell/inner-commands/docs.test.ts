import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allows, denies } from './support.ts';

const PAGE = readFileSync(new URL('../../../../docs/permissions.md', import.meta.url), 'utf8');
const ROW = /^\| (allow|deny) (.+?) \| `(.+)` \| (yes|no) \|$/gm;
const SPECIFIER = /`Bash\((.+?)\)`/g;

/** A `|` in a cell of a table is written as `\\|`. */
const unescaped = PAGE.replaceAll('\\|', '|');

const rows = [...unescaped.matchAll(ROW)].map(
  ([, list = '', rules = '', line = '', applies = '']) => ({
    list,
    specifiers: [...rules.matchAll(SPECIFIER)].map(([, specifier = '']) => specifier),
    line,
    applies: applies === 'yes',
  }),
);

test('the page has examples', () => expect(rows.length).toBeGreaterThan(30));

test.each(rows)('docs/permissions.md: $list $specifiers, $line', (row) => {
  const { list, specifiers, line, applies } = row;
  const [first = ''] = specifiers;
  expect(list === 'allow' ? allows(line, ...specifiers) : denies(line, first)).toBe(applies);
});
