import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { sandboxNotes } from '../../../src/tools/bash/sandbox-notes.ts';

const PLACE = { cwd: '/w/pkg', roots: ['/w'] };
const HELD = { access: 'workspace', network: false, monitored: true } as const;
const NOTHING = { removed: [], fromCommits: [] };

const notes = (output: string, run: Partial<Parameters<typeof sandboxNotes>[0]> = {}) =>
  sandboxNotes(
    { held: HELD, exitCode: 1, endedBy: 'itself', settled: NOTHING, ...run },
    output,
    PLACE,
  );

test.each([
  ['/bin/bash: line 1: /opt/x: Read-only file system', '/opt/x is outside: --add-dir /opt '],
  ["cp: cannot create regular file '/srv/a/b': Read-only file system", '--add-dir /srv/a '],
  [
    `npm error EROFS: read-only file system, mkdir '${homedir()}/.npm/x'`,
    `--add-dir ${homedir()}/.npm `,
  ],
  [
    "mkdir: cannot create directory '../../x': Read-only file system",
    '/x is outside: --add-dir / ',
  ],
  [
    "error: unable to unlink old '../.vscode/a': Device or resource busy",
    'keeps /w/.vscode/a from',
  ],
  ['fatal: something: Read-only file system', 'keeps a protected file from commands'],
  ["touch: cannot touch '/root/x': Permission denied", '/root/x is outside'],
  ['/bin/bash: line 1: .npmrc: Operation not permitted', 'keeps a protected file from commands'],
  ["cp: cannot create regular file '/w/.git/hooks/x': Permission denied", 'keeps '],
])('explains what the sandbox prevented: %s', (output, expected) => {
  expect(notes(output)).toEqual([expect.stringContaining(expected)]);
});

test('names the counterpart of a path of the main checkout', () => {
  const workspace = { source: '/repo', tree: '/data/workspaces/abcd1234/tree' };
  const held = { ...HELD, workspace };
  expect(notes('/bin/bash: line 1: /repo/src/a: Read-only file system', { held })).toEqual([
    '[/repo/src/a is read-only: this task works in its own worktree, where that path is /data/workspaces/abcd1234/tree/src/a]',
  ]);
  expect(notes('/bin/bash: line 1: /opt/x: Read-only file system', { held })).toEqual([
    expect.stringContaining('/opt/x is outside: --add-dir /opt '),
  ]);
});

test('ignores the exit code, unless a program may print the same error without a sandbox', () => {
  expect(notes('x: Read-only file system', { exitCode: 0 })).toHaveLength(1);
  expect(notes('x: Permission denied', { exitCode: 0 })).toEqual([]);
  expect(notes('curl: (6) Could not resolve host: x', { exitCode: 0 })).toEqual([
    expect.stringContaining('sandbox.network'),
  ]);
  expect(notes('Connection refused', { exitCode: 0 })).toEqual([]);
  expect(notes('Connection refused')).toHaveLength(1);
});

test.each([
  ['a program that is not executable', '/bin/bash: line 1: ./run.sh: Permission denied', 126],
  ['a file of the workspace that is closed', 'cat: closed.txt: Permission denied', 1],
  ['no path at all', 'su: cannot set groups: Operation not permitted', 1],
  ['only the shell itself', '/bin/bash: line 3: Permission denied', 1],
])('does not blame the sandbox for %s', (_, output, exitCode) => {
  expect(notes(output, { exitCode })).toEqual([]);
});

test('says nothing without a sandbox, or if the network is allowed', () => {
  expect(notes('x: Read-only file system', { held: null })).toEqual([]);
  expect(notes('Could not resolve host', { held: { ...HELD, network: true } })).toEqual([]);
});

test('names the files that were moved away, and those that git wrote', () => {
  const settled = {
    removed: [
      { path: '/w/.npmrc', keptAt: '/data/removed/x/.npmrc' },
      { path: '/w/.envrc', keptAt: null, problem: 'EBUSY: busy' },
    ],
    fromCommits: ['/w/pkg/.vscode/settings.json'],
  };
  expect(notes('', { exitCode: 0, settled })).toEqual([
    '[git wrote protected files from commits: .vscode/settings.json]',
    '[the sandbox took /w/.npmrc out of the workspace, since commands may not make protected files. It is kept as /data/removed/x/.npmrc for the user. Write can make such a file after asking the user]',
    '[commands may not make protected files, and the sandbox could not take /w/.envrc out of the workspace: EBUSY: busy. Tell the user]',
  ]);
});

test('names the files that were restored, and says that the user can make a repository', () => {
  const settled = {
    removed: [{ path: '/w/pkg/.git', keptAt: '/data/removed/x/.git' }],
    fromCommits: [],
    putBack: ['/w/pkg/.envrc'],
  };
  expect(notes('', { exitCode: 0, settled })).toEqual([
    '[the sandbox restored .envrc. git may change protected files only to the content of a commit of the user or of a remote, and add harmless settings. The user can run anything else]',
    '[the sandbox took .git out of the workspace, since commands may not make protected files. It is kept as /data/removed/x/.git for the user. The user can make a repository here]',
  ]);
});
