import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HAS_BUBBLEWRAP, Place, runIn } from './support.ts';

const AS_USER = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', [...AS_USER, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
}

/** Two branches whose protected files differ. */
function repository(): Place {
  const at = new Place();
  git(at.root, 'init', '-q', '-b', 'main');
  at.write('work/a', '1');
  at.write('work/.vscode/settings.json', '1');
  at.write('work/.npmrc', '1');
  git(at.root, 'add', '-A');
  git(at.root, 'commit', '-qm', 'one');
  git(at.root, 'checkout', '-qb', 'side');
  for (const name of ['a', '.vscode/settings.json', '.vscode/launch.json']) {
    at.write(`work/${name}`, '2');
  }
  git(at.root, 'rm', '-q', '.npmrc');
  git(at.root, 'add', '-A');
  git(at.root, 'commit', '-qm', 'two');
  git(at.root, 'checkout', '-q', 'main');
  return at;
}

const alone = (at: Place, command: string) =>
  runIn(at.sandbox(), command, { roots: [at.root], runsGitAlone: true });

const read = (at: Place, name: string): string => readFileSync(join(at.root, name), 'utf8');

describe.runIf(HAS_BUBBLEWRAP)('git alone', () => {
  test.each(['git checkout -q side', 'git reset -q --hard side', 'git merge -q --ff-only side'])(
    'changes protected files to the content of a commit: %s',
    async (command) => {
      const at = repository();
      const first = git(at.root, 'rev-parse', 'main').trim();
      expect(await alone(at, command)).toMatchObject({ code: 0, out: '' });
      expect(git(at.root, 'status', '--short')).toBe('');
      expect(read(at, '.vscode/settings.json')).toBe('2');
      expect(existsSync(join(at.root, '.npmrc'))).toBe(false);
      expect(await alone(at, `git checkout -q ${first}`)).toMatchObject({ code: 0 });
      expect(read(at, '.npmrc')).toBe('1');
      expect(git(at.root, 'status', '--short')).toBe('');
    },
  );

  test('configures the upstream of a branch, a remote and a name, and nothing that names a program', async () => {
    const at = repository();
    const other = at.directory('other.git');
    git(other, 'init', '-q', '--bare');
    git(at.root, 'remote', 'add', 'origin', other);
    const ran = await runIn(
      at.sandbox(),
      'git push -q -u origin main && git config user.name me && git remote add up https://x.test/y',
      { roots: [at.root, other], runsGitAlone: true },
    );
    expect(ran).toMatchObject({ code: 0 });
    const settings = git(at.root, 'config', '--local', '--list');
    expect(settings).toContain('branch.main.merge=refs/heads/main');
    expect(settings).toContain('user.name=me');
    expect(settings).toContain('remote.up.url=https://x.test/y');

    for (const command of [
      'git config core.fsmonitor evil',
      'git config alias.st "!evil"',
      'git config core.hooksPath evil',
      'git remote set-url origin https://evil.test/x',
      'git remote add evil "ext::sh -c evil"',
      'git config filter.x.clean evil',
    ]) {
      await alone(at, command);
      expect(git(at.root, 'config', '--local', '--list')).toBe(settings);
    }
  });

  test('removes a linked working tree', async () => {
    const at = repository();
    git(at.root, 'worktree', 'add', '-q', 'tree');
    expect(await alone(at, 'git worktree remove --force tree')).toMatchObject({ code: 0 });
    expect(git(at.root, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  });

  test('restores files that were changed to anything but a commit of the user', async () => {
    const at = repository();
    // What no commit has would be lost.
    at.write('work/.npmrc', 'mine');
    const command = `echo evil > .vscode/settings.json; echo evil > .vscode/tasks.json; rm .npmrc
      echo evil > .git/modules; rm -rf .vscode/x; echo evil > x; true`;
    await alone(at, command);
    expect(git(at.root, 'status', '--short')).toBe(' M .npmrc\n?? x\n');
    expect(read(at, '.npmrc')).toBe('mine');
  });

  test('restores files that a link has replaced', async () => {
    const at = repository();
    const away = at.directory('home/away');
    at.write('work/.vscode/settings.json', 'mine');
    await alone(at, `rm -rf .vscode && ln -s ${away} .vscode`);
    expect(read(at, '.vscode/settings.json')).toBe('mine');
    expect(existsSync(join(away, 'settings.json'))).toBe(false);
  });

  test.each([
    [
      'hooks',
      (at: Place) => {
        const hook = at.write('work/.git/hooks/post-checkout', '#!/bin/sh\ntrue\n');
        chmodSync(hook, 0o755);
      },
    ],
    ['a filter', (at: Place) => void git(at.root, 'config', 'filter.x.clean', 'cat')],
    [
      'hooks of the user',
      (at: Place) => void at.write('home/.gitconfig', '[core]\n\thooksPath = ~/hooks\n'),
    ],
    [
      'programs of the user that attributes name',
      (at: Place) => void at.write('home/.gitconfig', '[filter "x"]\n\tclean = ./x\n'),
    ],
    [
      'steps of a rebase that run something',
      (at: Place) => void at.write('work/.git/rebase-merge/git-rebase-todo', 'exec ./evil\n'),
    ],
    [
      'hooks of a repository that it pushes to',
      (at: Place) => {
        const other = at.directory('other.git');
        git(other, 'init', '-q', '--bare');
        chmodSync(at.write('other.git/hooks/pre-receive', '#!/bin/sh\ntrue\n'), 0o755);
        git(at.root, 'remote', 'add', 'origin', other);
      },
    ],
  ])('is treated as any command if there are %s', async (_, prepare) => {
    const at = repository();
    prepare(at);
    const ran = await alone(at, 'echo evil > .vscode/settings.json; echo evil > .git/config');
    expect(ran.out).toMatch(/settings.json: Read-only file system[^]*config: Read-only file/);
  });

  test('has no hooks that were created meanwhile', async () => {
    const at = repository();
    const hook = join(at.root, '.git/hooks');
    symlinkSync(at.directory('home/none'), join(at.root, 'link'));
    const command = `printf '#!/bin/sh\\necho ran' > h; chmod +x h; mv h ${hook}/post-checkout; git checkout -q side`;
    const ran = await alone(at, command);
    expect(ran.out).not.toContain('ran');
    writeFileSync(join(at.root, 'done'), '');
    expect(existsSync(join(hook, 'post-checkout'))).toBe(false);
  });
});
