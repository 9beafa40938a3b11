import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import type { JsonObject } from '../../../src/base/json.ts';
import { makeWorkspace, type Workspace } from '../workspace.ts';

/** Makes a repository with every kind of file that a search leaves out. */
export function repositoryWithIgnored(): Workspace {
  const at = makeWorkspace();
  at.write('.git/config', 'hay\n');
  at.write('.gitignore', 'dist/*\n*.log\nnode_modules/\n.env\n');
  at.write('dist/a.js', 'needle\nneedle\n');
  at.write('dist/sub/b.js', 'needle\n');
  at.write('debug.log', 'needle\n');
  at.write('node_modules/p/i.js', 'needle\n');
  at.write('.env', 'needle=1\n');
  at.write('x.bin', Buffer.from('a\0needle\n'));
  at.write('src/a.ts', 'hay\nfoo(bar\n');
  at.write('src/a.test.ts', 'hay\n');
  at.write('app/(auth)/[id]/page.tsx', 'hay\n');
  at.write('my notes/a b.md', 'hay\n');
  fs.symlinkSync('src/a.ts', at.path('link.ts'));
  execFileSync('mkfifo', [at.path('fifo')]);
  return at;
}

export type SearchCase = readonly [
  tool: 'Glob' | 'Grep',
  input: JsonObject,
  lines: readonly string[],
];

const NEEDLE = { pattern: 'needle' } as const;
const HAY = { pattern: 'hay' } as const;

/** Calls of the tools in that repository, and their results. */
export const SEARCH_CASES: readonly SearchCase[] = [
  // Nothing was found: the files left out are counted, and the advice works.
  [
    'Grep',
    NEEDLE,
    [
      '[no match for needle in .]',
      '[5 matches in 4 files left out as ignored by .gitignore or the like (debug.log, dist/a.js, dist/sub/b.js and 1 more): set include_ignored to search them, or name one as path]',
      '[1 match in 1 file left out as binary (x.bin): name one as path to search it as text]',
      '[not searched: 1 secret file (.env): name one as path]',
    ],
  ],
  [
    'Grep',
    { ...NEEDLE, include_ignored: true, output_mode: 'count' },
    ['debug.log:1', 'dist/a.js:2', 'dist/sub/b.js:1', 'node_modules/p/i.js:1'],
  ],
  ['Grep', { ...NEEDLE, path: 'debug.log' }, ['debug.log']],
  ['Grep', { ...NEEDLE, path: 'dist' }, ['dist/a.js', 'dist/sub/b.js']],
  ['Grep', { ...NEEDLE, path: 'dist/sub' }, ['dist/sub/b.js']],
  ['Grep', { ...NEEDLE, path: 'node_modules/p' }, ['node_modules/p/i.js']],
  ['Grep', { ...NEEDLE, path: '.env' }, ['.env']],
  [
    'Grep',
    { ...NEEDLE, glob: 'dist/**' },
    [
      '[no match for needle in .]',
      '[3 matches in 2 files left out as ignored by .gitignore or the like (dist/a.js, dist/sub/b.js): set include_ignored to search them, or name one as path]',
    ],
  ],
  [
    'Grep',
    { ...NEEDLE, glob: '*.rs' },
    ['[no match for needle in .]', '[no file there has a name that matches glob and type]'],
  ],
  ['Grep', { pattern: 'nowhere', path: 'src' }, ['[no match for nowhere in src]']],
  // Something was found, and named files were not searched.
  [
    'Grep',
    { ...HAY, glob: 'src/a.ts,debug.log,x.bin,.env,link.ts,fifo,src/b.ts,.git/config' },
    [
      'src/a.ts',
      '[left out: debug.log is ignored by .gitignore or the like: set include_ignored, or name it as path]',
      '[left out: x.bin is binary: name it as path to search it as text]',
      '[left out: .env is a secret file: name it as path]',
      '[left out: link.ts is a link, and links are not followed: name where it leads]',
      '[left out: fifo is a FIFO (named pipe)]',
      '[left out: src/b.ts does not exist]',
      '[left out: .git/config lies in .git, which is only searched when it is named as path]',
    ],
  ],
  ['Grep', { ...HAY, glob: ['*.ts', '!*.test.ts'] }, ['src/a.ts']],
  ['Grep', { ...HAY, glob: 'app/(auth)/[id]/**' }, ['app/(auth)/[id]/page.tsx']],
  [
    'Grep',
    { ...HAY, type: 'ts,md' },
    ['app/(auth)/[id]/page.tsx', 'my notes/a b.md', 'src/a.test.ts', 'src/a.ts'],
  ],
  [
    'Grep',
    { pattern: 'foo(' },
    [
      'pattern: cannot be used as a regular expression.',
      'To search for this text as it stands: foo\\(',
    ],
  ],
  ['Grep', { pattern: 'foo\\(', output_mode: 'content' }, ['src/a.ts:2:foo(bar']],
  // Calls of Glob.
  ['Glob', { pattern: 'app/(auth)/[id]/**' }, ['app/(auth)/[id]/page.tsx']],
  ['Glob', { pattern: 'src/' }, ['src/a.test.ts', 'src/a.ts']],
  ['Glob', { pattern: 'src' }, ['src/a.test.ts', 'src/a.ts']],
  ['Glob', { pattern: '!(*.test).ts' }, ['src/a.ts']],
  ['Glob', { pattern: ['*.ts', '!*.test.ts'] }, ['src/a.ts']],
  ['Glob', { pattern: '*.ts', path: 'src/a.ts' }, ['src/a.ts']],
  ['Glob', { pattern: '*.js', path: 'src/a.ts' }, ['[no file matches *.js in src]']],
  ['Glob', { pattern: 'my notes/*.md' }, ['my notes/a b.md']],
  ['Glob', { pattern: 'dist/*.js' }, ['dist/a.js']],
  ['Glob', { pattern: '*.js', path: 'dist' }, ['dist/a.js', 'dist/sub/b.js']],
  [
    'Glob',
    { pattern: '*.log' },
    [
      '[no file matches *.log in .]',
      '[1 file ignored by .gitignore or the like matches (debug.log): set include_ignored to list them]',
    ],
  ],
  ['Glob', { pattern: '*.log', include_ignored: true }, ['debug.log']],
  [
    'Glob',
    { pattern: 'src/a.ts, link.ts, debug.log, nope.ts, lib/b.ts' },
    [
      'src/a.ts',
      '[no file matches link.ts, debug.log, nope.ts, lib/b.ts]',
      '[ROOT/lib does not exist.]',
      '[left out: link.ts is a link, and links are not followed: name where it leads]',
      '[left out: debug.log is ignored by .gitignore or the like: set include_ignored, or name it as path]',
    ],
  ],
];

/** Runs a case and returns its lines; of an error only the first and the last, because ripgrep words the rest. */
export async function searchLines(
  at: Workspace,
  [tool, input]: SearchCase,
): Promise<readonly string[]> {
  const { text, error } = await at.call(tool, input);
  const lines = text.replaceAll(at.root, 'ROOT').split('\n');
  return error === undefined ? lines : [lines[0] ?? '', lines.at(-1) ?? ''];
}
