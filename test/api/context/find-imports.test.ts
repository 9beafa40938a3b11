import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findImports, MAX_IMPORTS } from '../../../src/api/context/find-imports.ts';

test.each<readonly [string, readonly string[]]>([
  ['@a.md', ['a.md']],
  ['See @README.md for all, and @./docs/x.md.', ['README.md', './docs/x.md']],
  ['- @~/mine.md\n- @/abs/x.md', ['~/mine.md', '/abs/x.md']],
  ['(@a.md), **@b.md**', ['a.md']],
  ['@a.b,c.md?!).', ['a.b,c.md']],
  ['@with\\ blank.md', ['with blank.md']],
  ['@a.md @a.md', ['a.md']],
  ['me@example.com, x@b.md', []],
  ['@', []],
  ['`@a.md` and ``x ` @b.md`` but @c.md', ['c.md']],
  ['an open ` and @a.md', ['a.md']],
  ['```\n@a.md\n```\n@b.md', ['b.md']],
  ['~~~md\n@a.md\n```\n@b.md\n~~~\n@c.md', ['c.md']],
  ['````\n```\n@a.md\n````\n@b.md', ['b.md']],
  ['- ```\n  @a.md\n  ```\n@b.md', ['b.md']],
  ['```\n@a.md', []],
  ['``` x ``` @a.md', ['a.md']],
])('%j', (text, paths) => {
  expect(findImports(text).paths).toEqual(paths);
});

test.each([
  ['@a.md', true],
  ['\n@a.md\n  @b.md\n', true],
  ['@a.md.', true],
  ['- @a.md', false],
  ['', false],
  ['`@a.md`', false],
])('whether %j contains nothing but imports: %s', (text, isAll) => {
  expect(findImports(text).isAll).toBe(isAll);
});

test('a file has at most the maximum number of imports', () => {
  const text = Array.from({ length: 200 }, (_, n) => `@${n}.md`).join(' ');
  expect(findImports(text).paths).toHaveLength(MAX_IMPORTS);
});

test('any text is searched in a time proportional to its length', () => {
  const piece = fc.constantFrom('`', '``', '```', '~~~', '\n', ' ', '@', 'a', '\\', '- ', '> ');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const { paths } = findImports(pieces.join(''));
      expect(paths.every((path) => path !== '' && !path.includes('\n'))).toBe(true);
    }),
  );
  findImports(`@${'.'.repeat(250_000)}x`);
  for (const piece of ['`', '- ', '@', '` `` ', '@\\ ', ' \t']) findImports(piece.repeat(100_000));
});
