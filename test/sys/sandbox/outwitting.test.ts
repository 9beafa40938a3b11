import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { noteOwnWrite } from '../../../src/sys/own-writes.ts';
import { OpenedEntries } from '../../../src/sys/sandbox/opened-entries.ts';
import { putAside } from '../../../src/sys/sandbox/put-aside.ts';
import { asNormalUser } from '../normal-user.ts';
import { HAS_BUBBLEWRAP, Place, runIn } from './support.ts';

const AS_USER = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];
const GIT = `git ${AS_USER.join(' ')}`;

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', [...AS_USER, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
}

/** A repository whose only commit has a protected file. */
function repository(): Place {
  const at = new Place();
  git(at.root, 'init', '-q', '-b', 'main');
  at.write('work/a', '1');
  at.write('work/.vscode/settings.json', '1');
  git(at.root, 'add', '-A');
  git(at.root, 'commit', '-qm', 'one');
  return at;
}

const run = (at: Place, command: string) => runIn(at.sandbox(), command, { roots: [at.root] });
const alone = (at: Place, command: string) =>
  runIn(at.sandbox(), command, { roots: [at.root], runsGitAlone: true });

/** Lines that make a commit of evil files without touching the working tree. */
const FORGED = (names: readonly string[], ref: string): string =>
  [
    'export GIT_INDEX_FILE=$TMPDIR/i',
    'git read-tree HEAD',
    'b=$(echo evil | git hash-object -w --stdin)',
    ...names.map((name) => `git update-index --add --cacheinfo 100644,$b,${name}`),
    `c=$(echo x | ${GIT} commit-tree -p HEAD $(git write-tree))`,
    `git update-ref ${ref} $c`,
    'unset GIT_INDEX_FILE',
  ].join('\n');

describe.runIf(HAS_BUBBLEWRAP)('a command', () => {
  test('moves nothing that lies outside, through a link in the way', async () => {
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

  test('is not believed a commit that has files of .git', async () => {
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
      Promise.resolve(putAside(join(at.root, '.vscode'), kept)),
    );
    expect(removed).toMatchObject({ keptAt: expect.stringContaining(kept) });
    expect(readdirSync(at.root)).toEqual([]);
  });
});

describe.runIf(HAS_BUBBLEWRAP)('git alone', () => {
  test('gets back what was there where it has made too much to be compared', async () => {
    const at = repository();
    const command = `head -c 9000000 /dev/zero > .vscode/big; echo evil > .vscode/settings.json
      echo evil > .vscode/tasks.json; git config core.fsmonitor evil`;
    await alone(at, command);
    expect(readdirSync(join(at.root, '.vscode'))).toEqual(['settings.json']);
    expect(readFileSync(join(at.root, '.vscode/settings.json'), 'utf8')).toBe('1');
    expect(git(at.root, 'config', '--local', '--list')).not.toContain('evil');
  });

  test.each([
    'git config core.worktree /',
    'git config remote.origin.pushurl https://evil.test/x',
    'git remote set-url --push origin https://evil.test/x',
    'git config branch.main.remote https://evil.test/x',
    'git config branch.main.pushRemote https://evil.test/x',
    'git config remote.x.url "git::ext::sh -c evil"',
  ])('keeps no setting that leads work elsewhere: %s', async (command) => {
    const at = repository();
    git(at.root, 'remote', 'add', 'origin', 'https://good.test/x');
    git(at.root, 'config', 'branch.main.remote', 'origin');
    git(at.root, 'config', 'branch.main.merge', 'refs/heads/main');
    const settings = readFileSync(join(at.root, '.git/config'), 'utf8');
    await alone(at, command);
    expect(readFileSync(join(at.root, '.git/config'), 'utf8')).toBe(settings);
  });

  test('leaves what Muster itself wrote meanwhile', async () => {
    const at = repository();
    const file = join(at.root, '.vscode/settings.json');
    const running = alone(at, 'git log -1; sleep 1');
    await new Promise((resolve) => setTimeout(resolve, 400));
    writeFileSync(file, 'of the user');
    noteOwnWrite(file);
    await running;
    expect(readFileSync(file, 'utf8')).toBe('of the user');
  });

  test('does not take the work of another one for that of the user', async () => {
    const at = repository();
    const sandbox = at.sandbox();
    writeFileSync(join(at.root, '.vscode/settings.json'), 'of the user');
    const options = { roots: [at.root], runsGitAlone: true };
    await sandbox.state();
    const first = runIn(
      sandbox,
      'echo evil > .vscode/settings.json; echo evil > .vscode/tasks.json; sleep 1',
      options,
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    const second = runIn(sandbox, 'sleep 1.5', options);
    await Promise.all([first, second]);
    expect(readFileSync(join(at.root, '.vscode/settings.json'), 'utf8')).toBe('of the user');
    expect(readdirSync(join(at.root, '.vscode'))).toEqual(['settings.json']);
  });

  test('brings back what it has stashed of the user', async () => {
    const at = repository();
    const sandbox = at.sandbox();
    writeFileSync(join(at.root, '.vscode/settings.json'), 'of the user');
    const options = { roots: [at.root], runsGitAlone: true };
    await runIn(sandbox, `${GIT} stash -q`, options);
    expect(readFileSync(join(at.root, '.vscode/settings.json'), 'utf8')).toBe('1');
    await runIn(sandbox, `${GIT} stash pop -q`, options);
    expect(readFileSync(join(at.root, '.vscode/settings.json'), 'utf8')).toBe('of the user');
  });

  test('tells what it has removed of the user, and is there again', async () => {
    const at = repository();
    at.write('work/.envrc', 'of the user');
    const places = {
      trees: [join(at.root, '.envrc')],
      configurations: [],
      links: [],
    };
    const opened = OpenedEntries.open(places, at.records);
    git(at.root, 'clean', '-qfd');
    expect(await opened?.settle(() => Promise.resolve(new Set()))).toEqual({
      removed: [],
      fromCommits: [],
      putBack: [join(at.root, '.envrc')],
    });
    expect(readFileSync(join(at.root, '.envrc'), 'utf8')).toBe('of the user');
  });

  test('gets back at the next start what it had changed when its owner was killed', async () => {
    const at = repository();
    const file = at.write('work/.vscode/settings.json', 'of the user');
    const sandbox = at.sandbox();
    await sandbox.state();
    sandbox.confine({
      argv: ['true'],
      cwd: at.root,
      env: {},
      confinement: { access: 'workspace', roots: [at.root], network: false, runsGitAlone: true },
      stderr: 'command',
    });
    const [record = ''] = readdirSync(at.records);
    renameSync(join(at.records, record), join(at.records, '4194304-1-abcdefghijkl'));
    writeFileSync(file, 'evil');
    at.write('work/.vscode/tasks.json', 'evil');
    git(at.root, 'config', 'core.fsmonitor', 'evil');
    await at.sandbox().state();
    expect(readFileSync(file, 'utf8')).toBe('of the user');
    expect(readdirSync(join(at.root, '.vscode'))).toEqual(['settings.json']);
    expect(git(at.root, 'config', '--local', '--list')).not.toContain('evil');
  });

  test('does not trust what it fetches from a repository of a command', async () => {
    const at = repository();
    const other = at.directory('other');
    git(other, 'clone', '-q', '--bare', at.root, 'x.git');
    git(at.root, 'remote', 'add', 'origin', join(other, 'x.git'));
    const sandbox = at.sandbox();
    const roots = [at.root];
    await runIn(
      sandbox,
      `git clone -q --bare . evil; cd evil; ${FORGED(['.npmrc'], 'refs/heads/x')}`,
      {
        roots,
      },
    );
    const fetch = `git config remote.e.url ./evil; git config remote.e.fetch "+refs/heads/*:refs/remotes/origin/*"
      git fetch -q e; git checkout -q origin/x -- .npmrc && cat .npmrc`;
    const ran = await runIn(sandbox, fetch, { roots, runsGitAlone: true });
    expect(ran.out).toContain('evil');
    expect(existsSync(join(at.root, '.npmrc'))).toBe(false);
  });
});
