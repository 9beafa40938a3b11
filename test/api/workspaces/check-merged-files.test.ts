import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkMergedFiles } from '../../../src/api/workspaces/check-merged-files.ts';
import { NO_CRITERIA } from '../../../src/protocol/acceptance.ts';
import type { PathDifference } from '../../../src/workspaces/difference.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { file } from '../../workspaces/merge/memory-tree.ts';
import { readTree } from '../../workspaces/landing/support.ts';
import { write } from '../../workspaces/repository.ts';

/** Creates a source with the link `a` to a directory outside of it. */
function createLinked() {
  const source = realpathSync(tempDirectory());
  const outside = realpathSync(tempDirectory());
  write(outside, { b: 'of the user\n' });
  write(source, { kept: 'kept\n' });
  symlinkSync(outside, join(source, 'a'));
  return { source, outside };
}

/** Checks the merged files, and returns what the command found in the copy. */
async function check(
  source: string,
  changes: readonly PathDifference[],
  hidden: readonly string[] = [],
) {
  const seen: unknown[] = [];
  await checkMergedFiles(
    { kind: 'ready', source, changes },
    {
      criteria: { ...NO_CRITERIA, commands: ['look'] },
      hidden,
      run: async (_command, directory) => {
        seen.push(readTree(directory));
        return { exitCode: 0, output: '' };
      },
    },
    { subdirectory: '', signal: new AbortController().signal },
  );
  return seen;
}

it('writes through no link that the task has moved away', async () => {
  const { source, outside } = createLinked();
  const link = { kind: 'link', target: outside } as const;
  const changes = [
    { path: 'a/b', before: null, after: file('escaped\n') },
    { path: 'z', from: 'a', before: link, after: link },
  ];
  expect(await check(source, changes)).toMatchObject([
    { a: '755 directory', 'a/b': '644 escaped\n', kept: '644 kept\n', z: `-> ${outside}` },
  ]);
  expect(readTree(outside)).toEqual({ b: '644 of the user\n' });
});

it.each<[string, PathDifference]>([
  ['written', { path: 'a/b', before: null, after: file('escaped\n') }],
  ['deleted', { path: 'a/b', before: file('of the user\n'), after: null }],
])('refuses a path behind a link that is %s', async (_name, change) => {
  const { source, outside } = createLinked();
  await expect(check(source, [change])).rejects.toThrow(
    'nothing was changed, because the merged files cannot be checked: a/b goes through something that is not a directory',
  );
  expect(readFileSync(join(outside, 'b'), 'utf8')).toBe('of the user\n');
});

it('exchanges files and directories', async () => {
  const source = realpathSync(tempDirectory());
  mkdirSync(join(source, 'd'));
  write(source, { 'd/x': 'x\n', f: 'f\n' });
  const changes = [
    { path: 'd', before: null, after: file('now a file\n') },
    { path: 'd/x', before: file('x\n'), after: null },
    { path: 'f/y', from: 'f', before: file('f\n'), after: file('f\n') },
  ];
  expect(await check(source, changes)).toEqual([
    { d: '644 now a file\n', f: '755 directory', 'f/y': '644 f\n' },
  ]);
  expect(existsSync(join(source, 'd/x'))).toBe(true);
});

it('copies no files that rules hide, nor changes of them', async () => {
  const source = realpathSync(tempDirectory());
  write(source, { 'secrets/key': 'key\n', open: 'open\n' });
  const changes = [
    { path: 'secrets/key', before: file('key\n'), after: file('other key\n') },
    { path: 'open', before: file('open\n'), after: file('changed\n') },
  ];
  expect(await check(source, changes, [join(source, 'secrets')])).toEqual([
    { open: '644 changed\n' },
  ]);
});
