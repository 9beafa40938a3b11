import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readEnvironment } from '../../../src/sys/env.ts';
import { parseGitStatus } from '../../../src/sys/git/status.ts';
import { takeGitSnapshot } from '../../../src/sys/git/snapshot.ts';
import { formatGitStatus } from '../../../src/api/context/git-status.ts';

const made: string[] = [];

afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** A machine that is busy takes its time. */
const PATIENT = 30_000;

function makeRepo() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'muster-git-')));
  made.push(home);
  const repo = join(home, 'repo');
  mkdirSync(repo);
  const environment = { HOME: home, PATH: readEnvironment()['PATH'] ?? '' };
  const git = (...args: readonly string[]): string =>
    execFileSync(
      'git',
      ['-c', 'user.name=A', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always', ...args],
      { cwd: repo, env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
  git('init', '-q', '-b', 'main');
  const write = (name: string, text: string): void => writeFileSync(join(repo, name), text);
  const commit = (subject: string): void =>
    void git('commit', '-q', '--allow-empty', '-m', subject);
  const look = (directory = repo, withinMs = PATIENT) =>
    takeGitSnapshot(directory, { environment, withinMs });
  return { home, repo, git, write, commit, look };
}

/** Without what differs at each run. */
const subjects = (commits: readonly string[] = []) =>
  commits.map((line) => line.replace(/^\w+ /, ''));

describe('the snapshot of a repository', () => {
  test('shows a branch with its upstream, changes of every kind and three commits', async () => {
    const { home, repo, git, write, commit, look } = makeRepo();
    for (const name of ['kept', 'changed', 'deleted', 'moved']) write(name, `${name}\n`.repeat(9));
    git('add', '.');
    for (const subject of ['one', 'two', 'three']) commit(subject);
    git('clone', '-q', '--bare', '.', join(home, 'origin'));
    git('remote', 'add', 'origin', join(home, 'origin'));
    git('fetch', '-q', 'origin');
    git('branch', '-q', '--set-upstream-to=origin/main');
    commit('four');
    write('changed', 'now');
    rmSync(join(repo, 'deleted'));
    git('mv', 'moved', 'new place');
    write('added\nname', '');
    mkdirSync(join(repo, 'sub'));
    writeFileSync(join(repo, 'sub', 'new'), '');
    const snapshot = await look(join(repo, 'sub'));
    expect({ ...snapshot, commits: subjects(snapshot?.commits) }).toEqual({
      top: repo,
      branch: 'main...origin/main [ahead 1]',
      changes: [
        { code: ' M', path: 'changed' },
        { code: ' D', path: 'deleted' },
        { code: 'R ', path: 'new place', from: 'moved' },
        { code: '??', path: 'added\nname' },
        { code: '??', path: 'sub/' },
      ],
      commits: ['four', 'three', 'two'],
    });
    expect(
      snapshot === null ? [] : formatGitStatus(snapshot, join(repo, 'sub')).split('\n').slice(0, 7),
    ).toEqual([
      'Branch: main...origin/main [ahead 1]',
      'Changes:',
      ' M ../changed',
      ' D ../deleted',
      'R  ../moved -> ../new place',
      '?? ../added name',
      '?? ./',
    ]);
  });

  test('shows a repository without commits', async () => {
    const { repo, look } = makeRepo();
    expect(await look()).toEqual({
      top: repo,
      branch: 'No commits yet on main',
      changes: [],
      commits: [],
    });
  });

  test('shows a repository without a branch', async () => {
    const { git, commit, look } = makeRepo();
    commit('one');
    git('checkout', '-q', '--detach');
    expect(await look()).toMatchObject({ branch: 'HEAD (no branch)' });
  });

  test('shows a linked working tree', async () => {
    const { home, git, commit, look } = makeRepo();
    commit('one');
    git('worktree', 'add', '-q', '-b', 'side', join(home, 'side'));
    expect(await look(join(home, 'side'))).toMatchObject({
      top: join(home, 'side'),
      branch: 'side',
    });
  });

  test('shows a submodule, and the repository that contains it', async () => {
    const { home, repo, git, commit, look } = makeRepo();
    commit('one');
    git('clone', '-q', '.', join(home, 'part'));
    git('submodule', '--quiet', 'add', join(home, 'part'), 'part');
    writeFileSync(join(repo, 'part', 'new'), '');
    expect(await look()).toMatchObject({
      changes: [{ path: '.gitmodules' }, { code: 'A ', path: 'part' }],
    });
    expect(await look(join(repo, 'part'))).toMatchObject({
      changes: [{ code: '??', path: 'new' }],
    });
  });

  test('shows its own working tree if its configuration names another', async () => {
    const { git, write, look } = makeRepo();
    write('own', '');
    git('config', 'core.worktree', '/etc');
    expect(await look()).toMatchObject({ changes: [{ code: '??', path: 'own' }] });
  });

  test('limits the number of changes', async () => {
    const { repo, write, look } = makeRepo();
    for (let n = 10; n < 40; n += 1) write(`f${n}`, '');
    const snapshot = await look();
    const lines = snapshot === null ? [] : formatGitStatus(snapshot, repo).split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([23, 'and 10 more paths']);
  });
});

describe('the snapshot of a repository is left out', () => {
  test.each<readonly [string, (repo: ReturnType<typeof makeRepo>) => string | void]>([
    ['if there is no repository', ({ home }) => home],
    [
      'for an empty .git',
      ({ repo }) => {
        rmSync(join(repo, '.git'), { recursive: true });
        mkdirSync(join(repo, '.git'));
      },
    ],
    [
      'for a bare repository',
      ({ home, git }) => {
        git('init', '-q', '--bare', join(home, 'bare'));
        return join(home, 'bare');
      },
    ],
    ['for a broken index', ({ repo }) => writeFileSync(join(repo, '.git', 'index'), 'DIRC broken')],
    ['for a broken HEAD', ({ repo }) => writeFileSync(join(repo, '.git', 'HEAD'), 'nothing')],
    [
      'if .git points nowhere',
      ({ repo }) => {
        rmSync(join(repo, '.git'), { recursive: true });
        writeFileSync(join(repo, '.git'), 'gitdir: /nowhere\n');
      },
    ],
    [
      'if it takes too long because the ignore file is a pipe',
      ({ repo }) => void execFileSync('mkfifo', [join(repo, '.gitignore')]),
    ],
  ])('%s', async (_, change) => {
    const repo = makeRepo();
    repo.write('a', '');
    const directory = change(repo);
    expect(await repo.look(directory ?? repo.repo, 2_000)).toBe(null);
  });

  test.each([
    ['filter.x.clean', 'filter'],
    ['include.path', 'include'],
    ['core.fsmonitor', 'fsmonitor'],
    ['core.hooksPath', 'hooks'],
    ['gpg.program', 'gpg'],
    ['filter.x.clean', 'long'],
  ])('or is harmless, with a program in %s (%s)', async (key, name) => {
    const { repo, git, write, commit, look } = makeRepo();
    const trap = join(repo, '.git', 'trap');
    const ran = join(repo, '.git', 'ran');
    writeFileSync(trap, `#!/bin/sh\ntouch '${ran}'\ncat\n`, { mode: 0o755 });
    mkdirSync(join(repo, '.git', 'hooks'), { recursive: true });
    write('.gitattributes', '* filter=x\n');
    write('a', 'one');
    git('add', '.');
    commit('one');
    write('a', 'two');
    writeFileSync(join(repo, '.git', 'included'), `[core]\n\tfsmonitor = "${trap}"\n`);
    git('config', key, name === 'include' ? 'included' : trap);
    // What is behind so much is not read.
    if (name === 'long') {
      const config = readFileSync(join(repo, '.git', 'config'), 'utf8');
      writeFileSync(join(repo, '.git', 'config'), `${'# long\n'.repeat(60_000)}${config}`);
    }
    const snapshot = await look();
    expect(snapshot === null || snapshot.changes.length === 1).toBe(true);
    expect(() => execFileSync('test', ['-e', ran])).toThrow(/test -e/);
  });
});

test.each([
  ['', null],
  ['## main', null],
  ['## main\0', { branch: 'main', changes: [] }],
  ['## main\0 M a', null],
  ['fatal: no\0', null],
])('the output of git is parsed: %j', (output, status) => {
  expect(parseGitStatus(output)).toEqual(status);
});
