import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { quarantineEntry } from '../../../src/sys/sandbox/cleanup/quarantine.ts';
import { asNormalUser } from '../normal-user.ts';
import { FORGED, git, repository } from './forged-commits.ts';
import { HAS_BUBBLEWRAP, Place, runIn } from './support.ts';

const run = (at: Place, command: string) => runIn(at.sandbox(), command, { roots: [at.root] });

describe.runIf(HAS_BUBBLEWRAP)('a command', () => {
  test('moves nothing outside through a link on the way', async () => {
    const at = repository();
    at.write('home/.config/git/config', 'mine');
    at.write('outside/hooks/x', 'mine');
    await run(at, `ln -s ${at.home}/.config .config; ln -s ${at.base}/outside .github`);
    expect(existsSync(join(at.home, '.config/git/config'))).toBe(true);
    expect(existsSync(join(at.base, 'outside/hooks/x'))).toBe(true);
    expect(readdirSync(at.root)).not.toContain('.github');
  });

  test('does not make its commit one of a remote', async () => {
    const at = repository();
    await run(at, `${FORGED(['.npmrc'], 'refs/remotes/o/x')}\ngit checkout -q o/x -- .npmrc`);
    expect(existsSync(join(at.root, '.npmrc'))).toBe(false);
  });

  test('does not make its commit one of a remote in two steps with one sandbox', async () => {
    const at = repository();
    const sandbox = at.sandbox();
    await runIn(sandbox, FORGED(['.npmrc'], 'refs/remotes/o/x'), { roots: [at.root] });
    await runIn(sandbox, 'git checkout -q o/x -- .npmrc', { roots: [at.root] });
    expect(existsSync(join(at.root, '.npmrc'))).toBe(false);
  });

  test('may bring what a remote has, whatever ran when it was fetched', async () => {
    const at = repository();
    const other = at.directory('other');
    git(other, 'clone', '-q', at.root, '.');
    at.write('other/.npmrc', 'theirs');
    git(other, 'add', '-A');
    git(other, 'commit', '-qm', 'two');
    git(at.root, 'remote', 'add', 'origin', other);
    const sandbox = at.sandbox();
    await runIn(sandbox, 'git fetch -q origin; ls', { roots: [at.root] });
    await runIn(sandbox, 'git checkout -q --detach origin/main; ls', { roots: [at.root] });
    expect(readFileSync(join(at.root, '.npmrc'), 'utf8')).toBe('theirs');
  });

  test('does not get its commit trusted in a linked working tree', async () => {
    const at = repository();
    const tree = join(at.base, 'tree');
    git(at.root, 'worktree', 'add', '-q', tree);
    const sandbox = at.sandbox();
    await runIn(sandbox, FORGED(['.npmrc'], 'refs/heads/x'), { roots: [at.root] });
    await runIn(sandbox, 'git checkout -q x -- .npmrc', { roots: [tree] });
    expect(existsSync(join(tree, '.npmrc'))).toBe(false);
  });

  test('does not get a commit trusted that contains .git files', async () => {
    const at = repository();
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: at.root,
      input: '../evil\n',
      encoding: 'utf8',
    }).trim();
    const mktree = (line: string): string =>
      execFileSync('git', ['mktree'], { cwd: at.root, input: line, encoding: 'utf8' }).trim();
    const tree = mktree(
      `040000 tree ${mktree(`040000 tree ${mktree(`100644 blob ${blob}\tattributes\n`)}\tinfo\n`)}\t.git\n`,
    );
    git(at.root, 'tag', '-f', 'hostile', git(at.root, 'commit-tree', '-m', 'x', tree).trim());
    await run(at, 'mkdir -p .git/info; echo ../evil > .git/info/attributes');
    expect(existsSync(join(at.root, '.git/info/attributes'))).toBe(false);
  });

  test.each(['config', 'hooks'])(
    'leaves no repository of a submodule with its own %s',
    async (what) => {
      const at = repository();
      const make = 'git init -q --bare .git/modules/lib';
      const evil = {
        config: 'git -C .git/modules/lib config core.fsmonitor evil',
        hooks: 'cp /bin/true .git/modules/lib/hooks/post-checkout',
      }[what];
      await run(at, make);
      expect(existsSync(join(at.root, '.git/modules/lib/config'))).toBe(true);
      await run(at, `${make.replace('lib', 'other')}; ${evil?.replaceAll('lib', 'other')}`);
      expect(existsSync(join(at.root, '.git/modules/other'))).toBe(false);
    },
  );

  test('leaves files that git had written from a commit after kill -9', async () => {
    const at = repository();
    git(at.root, 'checkout', '-qb', 'side');
    at.write('work/.npmrc', 'of the user');
    git(at.root, 'add', '-A');
    git(at.root, 'commit', '-qm', 'two');
    git(at.root, 'checkout', '-q', 'main');
    const sandbox = at.sandbox();
    await sandbox.state();
    const confined = sandbox.confine({
      argv: ['true'],
      cwd: at.root,
      env: {},
      confinement: { access: 'workspace', roots: [at.root], network: false },
      stderr: 'command',
    });
    git(at.root, 'checkout', '-q', 'side');
    expect(await confined.settle()).toMatchObject({ fromCommits: [join(at.root, '.npmrc')] });
    at.write('work/.envrc', 'evil');
    const [record = ''] = readdirSync(at.records);
    renameSync(join(at.records, record), join(at.records, '4194304-1-abcdefghijkl'));
    await at.sandbox().state();
    expect(existsSync(join(at.root, '.npmrc'))).toBe(true);
    expect(existsSync(join(at.root, '.envrc'))).toBe(false);
  });

  test('does not keep a file by closing its directory', async () => {
    const at = new Place();
    const kept = at.directory('kept');
    const file = at.write('work/.vscode/x');
    for (const path of [at.base, at.root, kept, join(at.root, '.vscode'), file]) {
      chownSync(path, 65_534, 65_534);
    }
    chmodSync(join(at.root, '.vscode'), 0o555);
    chmodSync(at.root, 0o555);
    const removed = await asNormalUser(() =>
      Promise.resolve(quarantineEntry(join(at.root, '.vscode'), kept)),
    );
    expect(removed).toMatchObject({ keptAt: expect.stringContaining(kept) });
    expect(readdirSync(at.root)).toEqual([]);
  });
});
