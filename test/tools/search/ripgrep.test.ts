import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorInfo } from '../../../src/base/errors.ts';
import { splitGlob, createGlobFilter } from '../../../src/tools/search/globs/placed-globs.ts';
import { listFilesInScope, searchFilesInScope } from '../../../src/tools/search/ripgrep.ts';
import { runRipgrep } from '../../../src/tools/search/run-ripgrep.ts';
import {
  comparePaths,
  type SearchQuery,
  type SearchScope,
} from '../../../src/tools/search/search-types.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { makeWorkspace } from '../workspace.ts';

const LIMITS = {
  maxFiles: 1000,
  maxMatches: 1000,
  maxMatchesPerFile: 1000,
  timeMs: 10_000,
  signal: new AbortController().signal,
};
const QUERY: SearchQuery = {
  pattern: 'x',
  ignoreCase: false,
  multiline: false,
  before: 0,
  after: 0,
};
function scopeOf(directory: string, glob = '**'): SearchScope {
  return { directory, roots: [directory], accepts: createGlobFilter(glob), nameGlobs: [] };
}

function plant(directory: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
}

describe('a search of a scope', () => {
  test('lists all files that are not ignored, also hidden ones, and follows no link', async () => {
    const at = tempDirectory();
    plant(at, {
      'a.ts': 'x',
      '.hidden/b.ts': 'x',
      '.gitignore': '*.log\n/build/\n!keep.log\n',
      'out.log': 'x',
      'keep.log': 'x',
      'build/c.ts': 'x',
      'src/build/d.ts': 'x',
      'src/.gitignore': 'e.ts\n',
      'src/e.ts': 'x',
      'src/.ignore': '!out.log\n',
      'src/out.log': 'x',
      '.git/config': 'x',
    });
    symlinkSync('/etc', join(at, 'etc'));
    symlinkSync('a.ts', join(at, 'link.ts'));
    const { paths } = await listFilesInScope(scopeOf(at), LIMITS);
    expect(paths.toSorted(comparePaths)).toEqual([
      '.gitignore',
      '.hidden/b.ts',
      'a.ts',
      'keep.log',
      'src/.gitignore',
      'src/.ignore',
      'src/build/d.ts',
      'src/out.log',
    ]);
  });

  test('uses ignore files in parent directories up to the top of the repository', async () => {
    const at = tempDirectory();
    plant(at, {
      '.gitignore': 'top.ts\n',
      'repo/.git/HEAD': '',
      'repo/.gitignore': 'out.ts\n/pkg/anchored.ts\nvendor/\n',
      'repo/pkg/out.ts': 'x',
      'repo/pkg/top.ts': 'x',
      'repo/pkg/anchored.ts': 'x',
      'repo/vendor/lib.ts': 'x',
    });
    const list = async (name: string) =>
      (await listFilesInScope(scopeOf(join(at, name)), LIMITS)).paths.toSorted(comparePaths);
    expect(await list('repo/pkg')).toEqual(['top.ts']);
    expect(await list('repo/vendor')).toEqual(['lib.ts']);
  });

  test('finds lines with context, leaves binary files out', async () => {
    const at = tempDirectory();
    plant(at, {
      'a.txt': 'one\r\nXYZ\r\nthree\r\nfour\r\n',
      'b.txt': 'one\nxyz',
      'c.bin': 'xyz\n\0\n',
      'd.txt': `xyz\n${'-\n'.repeat(40_000)}\0\nxyz\n`,
    });
    const query = { ...QUERY, pattern: '^xyz$', ignoreCase: true, before: 1, after: 1 };
    expect(await searchFilesInScope(query, scopeOf(at), LIMITS)).toEqual({
      files: [
        {
          path: 'a.txt',
          matches: 1,
          lines: [
            { number: 1, text: 'one', matches: false },
            { number: 2, text: 'XYZ', matches: true },
            { number: 3, text: 'three', matches: false },
          ],
        },
        {
          path: 'b.txt',
          matches: 1,
          lines: [
            { number: 1, text: 'one', matches: false },
            { number: 2, text: 'xyz', matches: true },
          ],
        },
        {
          path: 'd.txt',
          matches: 1,
          lines: [
            { number: 1, text: 'xyz', matches: true },
            { number: 2, text: '-', matches: false },
          ],
        },
      ],
    });
  });

  test('matches over line ends', async () => {
    const at = tempDirectory();
    plant(at, { 'a.ts': 'function a(\n  b,\n) {\n}\nend\n' });
    const query = { ...QUERY, pattern: 'function a\\(.*?\\)', multiline: true };
    const { files } = await searchFilesInScope(query, scopeOf(at), LIMITS);
    expect(files[0]?.lines.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test.each(['(', '(?=x)', 'a\\1', 'a\nb', 'a\\nb'])('refuses %j', async (pattern) => {
    const at = tempDirectory();
    plant(at, { 'a.txt': 'x' });
    await expect(
      searchFilesInScope({ ...QUERY, pattern }, scopeOf(at), LIMITS),
    ).rejects.toMatchObject({
      code: 'INVALID_PARAM',
    });
  });

  test('stops at its limits, in path order', async () => {
    const at = tempDirectory();
    plant(at, { 'a/b.txt': 'x\nx\nx\n', 'a.txt': 'x\n', 'z.txt': 'x\n' });
    const { files, stopped } = await searchFilesInScope(QUERY, scopeOf(at), {
      ...LIMITS,
      maxFiles: 2,
      maxMatchesPerFile: 2,
    });
    expect(files.map(({ path, matches }) => [path, matches])).toEqual([
      ['a/b.txt', 2],
      ['a.txt', 1],
    ]);
    expect(stopped).toBe('limit');
  });

  test('a pattern with catastrophic backtracking ends', async () => {
    const at = tempDirectory();
    plant(at, { 'a.txt': `${'a'.repeat(40)}!`, 'b.txt': 'aaab' });
    const query = { ...QUERY, pattern: '^(a+)+b$' };
    const { files } = await searchFilesInScope(query, scopeOf(at), LIMITS);
    expect(files.map(({ path }) => path)).toEqual(['b.txt']);
  });

  test('a cancelled search rejects', async () => {
    const at = tempDirectory();
    plant(at, { 'a.txt': 'x' });
    const limits = { ...LIMITS, signal: AbortSignal.abort() };
    await expect(searchFilesInScope(QUERY, scopeOf(at), limits)).rejects.toThrow();
  });
});

test('a binary that is missing or crashes is an error, not an empty result', async () => {
  const at = tempDirectory();
  plant(at, { 'broken-rg': '#!/bin/sh\nkill -ILL $$\n' });
  chmodSync(join(at, 'broken-rg'), 0o755);
  const run = (binary: string) =>
    runRipgrep(
      [],
      {
        cwd: at,
        separator: '\n',
        timeMs: 10_000,
        signal: LIMITS.signal,
        onRecord: () => true,
      },
      binary,
    );
  const rejection = async (name: string) => await run(join(at, name)).catch(errorInfo);
  const message = (reason: string) =>
    `Files cannot be searched or listed, because ripgrep cannot be run: ${reason}. Install Muster again with its optional dependencies (npm install -g --include=optional muster-agent); \`muster doctor\` checks the result.`;
  expect(await rejection('no-rg')).toEqual({
    code: 'INTERNAL_ERROR',
    message: message(`${join(at, 'no-rg')} cannot be run: there is no such file`),
    retryable: false,
  });
  expect(await rejection('broken-rg')).toEqual({
    code: 'INTERNAL_ERROR',
    // The shell that runs it may add its own description of the signal.
    message: expect.stringMatching(/cannot be run: it was ended by SIGILL\b/),
    retryable: false,
  });
});

test.each([
  ['*.ts', 'a/b.ts', true],
  ['*.ts', '.a/.b.ts', true],
  ['src/*.ts', 'src/a/b.ts', false],
  ['src/**/*.{ts,tsx}', 'src/a/b.tsx', true],
  ['./a.ts', 'a.ts', true],
  ['/*.ts', 'a/b.ts', false],
  ['!*.ts', 'a.js', true],
  ['a?c[0-9].ts', 'x/abc1.ts', true],
  ['+(a).ts', 'aa.ts', true],
])('glob %s on %s', (glob, path, expected) => {
  expect(createGlobFilter(glob)(path)).toBe(expected);
});

test.each([
  ['*.ts', { base: '/w', glob: '*.ts' }],
  ['src/ui/*.ts', { base: '/w/src/ui', glob: '/*.ts' }],
  ['src/a.ts', { base: '/w/src', glob: '/a.ts' }],
  ['/abs/**/x', { base: '/abs', glob: '/**/x' }],
  ['../x/*', { base: '/x', glob: '/*' }],
])('split %s', (glob, expected) => {
  expect(splitGlob(glob, '/w')).toEqual(expected);
});

describe('Glob', () => {
  test('finds files in path order, shown from the working directory', async () => {
    const at = makeWorkspace();
    plant(at.root, { 'src/b.ts': '', 'src/a/z.ts': '', 'src/a.js': '', 'c.ts': '', 'é\n.ts': '' });
    const glob = async (pattern: string, path?: string) =>
      (await at.call('Glob', { pattern, ...(path === undefined ? {} : { path }) })).text;
    expect(await glob('*.ts')).toBe('c.ts\nsrc/a/z.ts\nsrc/b.ts\n"é\\n.ts"');
    expect(await glob('*.ts', 'src')).toBe('src/a/z.ts\nsrc/b.ts');
    expect(await glob('src/*.ts')).toBe('src/b.ts');
    expect(await glob(`${at.root}/src/**/*.js`)).toBe('src/a.js');
    expect(await glob('*.rs')).toBe('[no file matches *.rs in .]');
  });

  test('stays inside the workspace and within its limits', async () => {
    const at = makeWorkspace();
    expect(await at.call('Glob', { pattern: '../**' })).toMatchObject({
      error: 'PERMISSION_DENIED',
    });
    expect(await at.call('Glob', { pattern: '**/../../*' })).toMatchObject({
      error: 'INVALID_PARAM',
    });
    expect(await at.call('Glob', { pattern: 'src/*' })).toMatchObject({ error: 'NOT_FOUND' });
    plant(at.root, Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`f${i}`, ''])));
    const { text } = await at.call('Glob', { pattern: '*' });
    expect(text.split('\n')).toHaveLength(1001);
    expect(text).toMatch(/\n\[100 more files: narrow the pattern or the path\]$/);
    const caps = { ...at.context.caps, resultBytes: 1000 };
    const short = await at.call('Glob', { pattern: '*' }, { caps });
    expect(Buffer.byteLength(short.text)).toBeLessThanOrEqual(1000);
  });
});

describe('Grep', () => {
  test('has three output modes', async () => {
    const at = makeWorkspace();
    plant(at.root, {
      'src/a.ts': 'foo\nbar\nfoo\n\n\nfoo\n',
      'src/b.py': 'foo\n',
      'c.ts': 'nothing\n',
    });
    const grep = async (input: Record<string, string | number | boolean>) =>
      (await at.call('Grep', { pattern: 'foo', ...input })).text;
    expect(await grep({})).toBe('src/a.ts\nsrc/b.py');
    expect(await grep({ output_mode: 'count' })).toBe('src/a.ts:3\nsrc/b.py:1');
    expect(await grep({ output_mode: 'content', type: 'ts' })).toBe(
      'src/a.ts:1:foo\nsrc/a.ts:3:foo\nsrc/a.ts:6:foo',
    );
    expect(await grep({ output_mode: 'content', glob: '*.ts', after: 1, head_limit: 2 })).toBe(
      'src/a.ts:1:foo\nsrc/a.ts-2-bar\nsrc/a.ts:3:foo\nsrc/a.ts-4-\n[stopped at 2 results: there may be more]',
    );
    expect(await grep({ output_mode: 'content', path: 'src/b.py' })).toBe('src/b.py:1:foo');
    expect(await grep({ pattern: 'zzz' })).toBe('[no match for zzz in .]');
    expect(await grep({ type: 'ts', glob: '!src/**' })).toBe('[no match for foo in .]');
    expect(await grep({ type: 'rs' })).toBe(
      '[no match for foo in .]\n[no file there has a name that matches glob and type]',
    );
  });

  test('secret files are only searched when named', async () => {
    const at = makeWorkspace();
    plant(at.root, {
      '.env': 'KEY=abc\n',
      'a/server.pem': 'KEY\n',
      'b.txt': 'KEY\n',
      '.env.example': 'KEY=\n',
    });
    expect((await at.call('Grep', { pattern: 'KEY', output_mode: 'content' })).text).toBe(
      '.env.example:1:KEY=\nb.txt:1:KEY',
    );
    const notSearched = '[not searched: 2 secret files (.env, a/server.pem): name one as path]';
    for (const pattern of ['KEY=a', 'zzz']) {
      expect((await at.call('Grep', { pattern })).text).toBe(
        `[no match for ${pattern} in .]\n${notSearched}`,
      );
    }
    expect(
      (await at.call('Grep', { pattern: 'KEY', path: '.env', output_mode: 'content' })).text,
    ).toBe('.env:1:KEY=abc');
  });

  test('long lines and long results are cut with a note', async () => {
    const at = makeWorkspace();
    plant(at.root, {
      'a.txt': `foo${'x'.repeat(5000)}\n`,
      'b.txt': `foo${'y'.repeat(200)}\n`.repeat(300),
    });
    const { text } = await at.call('Grep', { pattern: 'foo', output_mode: 'content' });
    expect(text).toMatch(/^a\.txt:1:foox{497}… \[line cut\]\n/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(30_000);
    expect(text).toMatch(
      /\[\d+ more lines did not fit: narrow the pattern, path or glob; the full output is in \S+spill\.txt: Read it with offset, or Grep it\]$/,
    );
  });

  test('a path outside, a missing path and a bad pattern are errors', async () => {
    const at = makeWorkspace();
    symlinkSync('/etc', at.path('etc'));
    const grep = (input: Record<string, string>) => at.call('Grep', { pattern: 'root', ...input });
    expect(await grep({ path: 'etc' })).toMatchObject({ error: 'PERMISSION_DENIED' });
    expect(await grep({ path: 'nowhere' })).toMatchObject({ error: 'NOT_FOUND' });
    const bad = await grep({ pattern: 'a(' });
    expect(bad.error).toBe('INVALID_PARAM');
    expect(bad.text).toMatch(
      /^pattern: cannot be used as a regular expression\.\n.*unclosed group/s,
    );
  });
});
