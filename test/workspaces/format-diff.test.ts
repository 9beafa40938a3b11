import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PathState } from '../../src/workspaces/difference.ts';
import { countChangedLines, formatDiff } from '../../src/workspaces/format-diff.ts';
import { tempDirectory } from '../sys/temp.ts';
import { git, write } from './repository.ts';

const file = (text: string, executable = false): PathState => ({
  kind: 'file',
  executable,
  bytes: Buffer.from(text),
});

test('each kind of difference', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `${index}\n`);
  const changed = lines.with(3, 'three\n').with(25, 'end\n').toSpliced(10, 1);
  const text = formatDiff(
    [
      { path: 'new', before: null, after: file('1\n2') },
      { path: 'run', before: file('1\n'), after: file('1\n', true) },
      { path: 'b"q', from: 'a', before: file('1\n'), after: file('2\n') },
      { path: 'link', before: file('1\n'), after: { kind: 'link', target: 'x' } },
      { path: 'image', before: null, after: file('a\0b') },
      { path: 'long', before: file(lines.join('')), after: file(changed.join('')) },
      { path: 'gone', before: file('1\n'), after: null },
    ],
    100_000,
  );
  expect(text).toMatchInlineSnapshot(`
    "diff --git a/new b/new
    new file mode 100644
    --- /dev/null
    +++ b/new
    @@ -0,0 +1,2 @@
    +1
    +2
    \\ No newline at end of file
    diff --git a/run b/run
    old mode 100644
    new mode 100755
    diff --git a/a "b/b\\"q"
    rename from a
    rename to "b\\"q"
    --- a/a
    +++ "b/b\\"q"
    @@ -1 +1 @@
    -1
    +2
    diff --git a/link b/link
    old mode 100644
    new mode 120000
    --- a/link
    +++ b/link
    @@ -1 +1 @@
    -1
    +x
    \\ No newline at end of file
    diff --git a/image b/image
    new file mode 100644
    Binary files a/image and b/image differ
    diff --git a/long b/long
    --- a/long
    +++ b/long
    @@ -1,14 +1,13 @@
     0
     1
     2
    -3
    +three
     4
     5
     6
     7
     8
     9
    -10
     11
     12
     13
    @@ -23,7 +22,7 @@
     22
     23
     24
    -25
    +end
     26
     27
     28
    diff --git a/gone b/gone
    deleted file mode 100644
    --- a/gone
    +++ /dev/null
    @@ -1 +0,0 @@
    -1
    "
  `);
});

test('a diff that is too long says so', () => {
  const differences = ['a', 'b', 'c'].map((path) => ({ path, before: null, after: file('x\n') }));
  const one = formatDiff(differences.slice(0, 1), 1000);
  expect(formatDiff(differences, one.length)).toBe(
    `${one}(2 of 3 files not shown: the limit is ${one.length} characters)\n`,
  );
});

test('the lines of a difference are counted', () => {
  expect(
    countChangedLines({ path: 'a', before: file('1\n2\n'), after: file('1\n3\n4\n') }),
  ).toEqual({
    added: 2,
    deleted: 1,
  });
  expect(countChangedLines({ path: 'a', before: null, after: file('\0') })).toBe(null);
});

test('git applies a diff and gets the new state', () => {
  const directory = tempDirectory();
  git(directory, 'init', '--quiet');
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 20 });
  const content = fc.tuple(text, fc.boolean()).map(([lines, hasEnd]) => {
    return lines.join('\n') + (hasEnd && lines.length > 0 ? '\n' : '');
  });
  fc.assert(
    fc.property(content, content, (before, after) => {
      fc.pre(before !== after);
      write(directory, { f: before });
      const diff = formatDiff([{ path: 'f', before: file(before), after: file(after) }], 10_000);
      execFileSync('git', ['apply', '--unidiff-zero', '-'], {
        cwd: directory,
        input: diff,
        stdio: 'pipe',
      });
      expect(git(directory, 'hash-object', 'f')).toBe(
        execFileSync('git', ['hash-object', '--stdin'], { input: after, encoding: 'utf8' }).trim(),
      );
    }),
    { numRuns: 15 },
  );
});
