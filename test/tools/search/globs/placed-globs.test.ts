import { measureCpuMs } from '../../../cpu-time.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  splitGlob,
  createGlobFilter,
  placeGlobs,
} from '../../../../src/tools/search/globs/placed-globs.ts';

test.each([
  // Brackets of directories, read as text.
  ['app/(auth)/**/*.tsx', 'app/(auth)/login/page.tsx', true],
  ['**/(auth)/**', 'app/(auth)/a', true],
  ['app/(auth)/[id]/**', 'app/(auth)/[id]/x.ts', true],
  ['app/[[...slug]]/*', 'app/[[...slug]]/page.tsx', true],
  ['app/@modal/(.)photo/*', 'app/@modal/(.)photo/a', true],
  ['{(auth),b}/x', '(auth)/x', true],
  ['(a|b).ts', '(a|b).ts', true],
  ['{a,b}.ts', '{a,b}.ts', true],
  ['@(a)/x', '@(a)/x', true],
  ['**/*(auth)/*', 'app/x(auth)/a', true],
  // The same brackets, read as patterns.
  ['app/(auth)/[id]/**', 'app/(auth)/i/x.ts', true],
  ['app/(auth)/[id]/**', 'app/(auth)/x/x.ts', false],
  ['(a|b).ts', 'b.ts', true],
  ['@(a|b)/x', 'a/x', true],
  ['@(a|+(b|c)).ts', 'bcb.ts', true],
  ['+(a).ts', 'aa.ts', true],
  ['+(a).ts', '.ts', false],
  ['*(a|b).ts', '.ts', true],
  ['?(a)b.ts', 'b.ts', true],
  ['?(a)b.ts', 'aab.ts', false],
  ['!(*.test).ts', 'file.ts', true],
  ['!(*.test).ts', 'file.test.ts', false],
  ['**/!(*.test).ts', 'a/b/file.ts', true],
  ['a/!(b)/c', 'a/d/c', true],
  ['a/!(b)/c', 'a/b/c', false],
  ['[!a].ts', 'b.ts', true],
  ['[^a].ts', 'a.ts', false],
  ['[[:digit:]a-c].ts', '7.ts', true],
  ['[]a].ts', '].ts', true],
  ['{1..3}.ts', '2.ts', true],
  ['{1..3}.ts', '4.ts', false],
  ['{a,{b,c}}.ts', 'c.ts', true],
  ['a{,b}.ts', 'a.ts', true],
  ['{src/a,lib}/*.ts', 'src/a/x.ts', true],
  ['{src/a,lib}/*.ts', 'lib/x.ts', true],
  ['@(src/a|lib)/*.ts', 'lib/x.ts', true],
  ['a?c', 'a😀c', true],
  // Brackets that nothing closes are text.
  ['a{b', 'a{b', true],
  ['a[b', 'a[b', true],
  ['a(b', 'a(b', true],
  ['!(a', 'x', true],
  // Directories.
  ['a/**', 'a/b', true],
  ['a/**', 'a', false],
  ['a/**/b', 'a/b', true],
  ['a/**/b/**/c', 'a/x/b/y/z/c', true],
  ['a/**/b/**/c', 'a/x/d/y/z/c', false],
  ['src/', 'src/a/b', true],
  ['src', 'x/src/a/b', true],
  ['./src', 'x/src/a/b', false],
  ['.', 'a/b', true],
  // Lists.
  ['a.ts,b.ts', 'x/b.ts', true],
  ['a.ts, b.ts', 'x/b.ts', true],
  ['*.ts *.tsx', 'x/b.tsx', true],
  ['*.h;*.c', 'b.c', true],
  ['*.ts,!*.test.ts', 'x/b.ts', true],
  ['*.ts,!*.test.ts', 'x/b.test.ts', false],
  ['["*.ts", "!gen"]', 'a.ts', true],
  ['["*.ts", "!gen"]', 'gen/b.ts', false],
  ['!node_modules', 'a/node_modules/b/c', false],
  ['!src/**', 'lib/a', true],
  ['a,b.ts', 'a,b.ts', true],
  ['My Notes/*.md', 'My Notes/a.md', true],
  ['My Notes/*.md', 'Notes/a.md', false],
  // Backslashes.
  ['src\\ui\\*.ts', 'src/ui/a.ts', true],
  ['src\\**\\*.ts', 'src/ui/a.ts', true],
  ['app/\\(auth\\)/*', 'app/(auth)/x', true],
  ['app/\\[id\\]/*', 'app/i/x', false],
])('the glob %s on %s', (glob, path, expected) => {
  expect(createGlobFilter(glob)(path)).toBe(expected);
});

test.each([
  ['+(a/b)', /^glob: \+\(a\/b\) has a \/ inside, which only/],
  ['!(!(!(!(!(a)))))', /^glob: groups are nested more than 4 deep$/],
  ['{a/,b/}'.repeat(9), /^glob: has more than 256 alternatives with a \/ in them/],
])('the glob %s is refused', (glob, message) => {
  expect(() => createGlobFilter(glob)).toThrow(message);
});

test.each([
  ['src/', '/w/src', '/**'],
  ['./', '/w', '/**'],
  ['..', '/', '/**'],
  ['app/(auth)/[id]/x', '/w/app/(auth)', '/[id]/x'],
  ['(a/b|c)/d', '/w', '/(a/b|c)/d'],
  ['src\\a.ts', '/w/src', '/a.ts'],
  ['a/../b/*', '/w/b', '/*'],
])('%s begins in %s', (glob, base, rest) => {
  expect(splitGlob(glob, '/w')).toEqual({ base, glob: rest });
});

test('each glob of a list begins in its own directory, and the list itself adds no other', () => {
  const bases = (list: string) => placeGlobs(list, '/w').map(({ base }) => base);
  expect(bases('src/a.ts lib/b.ts')).toEqual(['/w/src', '/w/lib']);
  expect(bases('/x/*.ts,!gen')).toEqual(['/x', '/w']);
});

describe('any name', () => {
  const character = fc.constantFrom(...'ab.-_ ()[]{}@+!$^#é', '😀');
  const name = fc
    .array(character, { minLength: 1, maxLength: 12 })
    .map((parts) => parts.join(''))
    // A blank before an exclamation mark makes the text a list.
    .filter((text) => text.trim() === text && !/^\.+$| !/.test(text));

  test('matches the glob that is written like it', () => {
    fc.assert(
      fc.property(name, (text) => {
        expect(createGlobFilter(`./dir/${text}`)(`dir/${text}`)).toBe(true);
      }),
    );
  });

  test('is matched against any glob in little time', () => {
    const part = fc.constantFrom(
      '*',
      '**',
      '?',
      'a',
      '+(a|aa)',
      '!(a*)',
      '*(a|*a)',
      '[ab]',
      '{a,aa}',
      '/',
    );
    const glob = fc.array(part, { minLength: 20, maxLength: 60 }).map((parts) => parts.join(''));
    const path = `${'a'.repeat(60)}b/${'a/'.repeat(60)}${'a'.repeat(60)}`;
    fc.assert(
      fc.property(glob, (text) => {
        const cpuMs = measureCpuMs(() => {
          createGlobFilter(text)(path);
        });
        expect(cpuMs).toBeLessThan(2000);
      }),
      { numRuns: 50 },
    );
  });
});
