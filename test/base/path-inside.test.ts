import { isAbsolute, relative } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isInside } from '../../src/base/path-inside.ts';

it.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/ab', false],
  ['/a', '/', false],
  ['/', '/a', true],
  ['/', '/', true],
  ['/a/', '/a/b', true],
  ['/a', '/a/', true],
  ['/a', '/a/../b', false],
  ['/a', '/b/../a/c', true],
  ['/a', '/a/..b', true],
  ['/a', '/a/.', true],
  ['/a', '//a//b', true],
])('%s contains %s: %s', (directory, path, holds) => {
  expect(isInside(directory, path)).toBe(holds);
});

it('agrees with the relative path', () => {
  const name = fc.constantFrom('', '.', '..', 'a', 'ab', '.a', '..a', 'b', 'a.b');
  const path = fc.array(name, { maxLength: 6 }).map((names) => `/${names.join('/')}`);
  fc.assert(
    fc.property(path, path, (directory, below) => {
      const rest = relative(directory, below);
      const isBelow = rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest);
      expect(isInside(directory, below)).toBe(rest === '' || isBelow);
    }),
  );
});
