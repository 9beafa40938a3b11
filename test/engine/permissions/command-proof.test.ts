import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { proveCommands, type ProofContext } from '../../../src/engine/permissions/command-proof.ts';
import type { CommandProof } from '../../../src/policy/call.ts';
import { parseShellLine } from '../../../src/policy/shell/parse-line.ts';
import { NO_ACCESS } from '../../../src/protocol/permission.ts';
import { rights, type RuleTexts } from '../../policy/support.ts';
import { tempDirectory } from '../../sys/temp.ts';

interface Workspace {
  readonly root: string;
  readonly outside: string;
  prove(line: string, more?: Partial<ProofContext>, rules?: RuleTexts): Promise<CommandProof>;
  /** Returns the paths that a command reads, or the reason why it is not proved. */
  told(line: string, more?: Partial<ProofContext>, rules?: RuleTexts): Promise<unknown>;
}

function workspace(files: readonly string[] = []): Workspace {
  const top = tempDirectory();
  const root = join(top, 'work');
  const outside = join(top, 'outside');
  for (const directory of [root, outside]) mkdirSync(directory);
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), 'text\n');
  }
  const prove: Workspace['prove'] = (line, more = {}, rules = {}) =>
    proveCommands({ ...NO_ACCESS, commands: [line] }, parseShellLine, {
      cwd: root,
      home: join(top, 'home'),
      rights: { ...rights('plan', rules), roots: [root] },
      searchPath: '/usr/bin:/bin',
      variables: [],
      clock: systemClock,
      sandboxed: true,
      ...more,
    });
  const told: Workspace['told'] = async (line, more, rules) => {
    const proof = await prove(line, more, rules);
    return proof.proven
      ? proof.reads.map(({ real, insideRoots }) => [real.replace(top, ''), insideRoots])
      : proof.reason.replaceAll(top, '');
  };
  return { root, outside, prove, told };
}

function git(cwd: string, ...args: readonly string[]): void {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
  execFileSync('git', [...identity, ...args], { cwd, stdio: 'ignore' });
}

function repository(files: readonly string[]): Workspace {
  const made = workspace(files);
  git(made.root, 'init', '-q');
  git(made.root, 'add', '-f', '.');
  git(made.root, 'commit', '-qm', 'first');
  return made;
}

test('paths are read at their real location, as the kernel resolves them', async () => {
  const { root, outside, told } = workspace(['a', 'deep/b']);
  symlinkSync(join(outside, 'x'), join(root, 'out'));
  symlinkSync('deep', join(root, 'in'));
  mkdirSync(join(outside, 'dir'));
  symlinkSync(join(outside, 'dir'), join(root, 'dir'));
  expect(await told('cat a deep/b in/b ./in/../a')).toEqual([
    ['/work/a', true],
    ['/work/deep/b', true],
    ['/work/deep/b', true],
    ['/work/a', true],
  ]);
  expect(await told('cat out')).toEqual([['/outside/x', false]]);
  expect(await told('cat ../outside/x ~/x')).toEqual([
    ['/outside/x', false],
    ['/home/x', false],
  ]);
  // Without links, this path would be the file `a` of the workspace.
  expect(await told('cat dir/../a')).toEqual([['/outside/a', false]]);
  expect(await told('cd deep && cat b ../a')).toEqual([
    ['/work/deep', true],
    ['/work/deep/b', true],
    ['/work/a', true],
  ]);
});

test.each(['cat /proc/self/environ', 'ls /dev', 'head -c 4 /dev/zero', 'cat link'])(
  'special files of the system are not read: %s',
  async (line) => {
    const { root, told } = workspace();
    symlinkSync('/proc/self/environ', join(root, 'link'));
    const everywhere = { rights: { ...rights('plan'), roots: ['/'] } };
    expect(await told(line, everywhere)).toMatch(
      /^"\/(?:proc|dev)\b.*" is not a file of a workspace$/,
    );
  },
);

describe('a command that reads a full directory', () => {
  const grepInstead = 'name a smaller directory, or use Grep, which leaves such files out';

  test('is not proved if a secret file is below', async () => {
    const { told } = workspace(['a/b', 'a/c/.env', 'd/e', 'node_modules/x/key.pem']);
    const found = `below it is "/work/a/c/.env", which may not be read without asking; ${grepInstead}`;
    expect(await told('grep -rn x .')).toBe(found);
    expect(await told('rg x')).toBe(found);
    expect(await told('diff -r a d')).toBe(found);
    expect(await told('cat d/e | rg x a')).toBe(found);
    expect(await told('grep -rn x d')).toEqual([['/work/d', true]]);
    expect(await told('grep -n x a/b')).toEqual([['/work/a/b', true]]);
    expect(await told('ls -R && find . && rg --files')).toEqual([
      ['/work', true],
      ['/work', true],
      ['/work', true],
    ]);
  });

  test('is not proved if a rule applies to something below, and neither is a listing', async () => {
    const { told } = workspace(['a/b', 'd/e']);
    const deny = { deny: ['Read(a/**)'] };
    const ask = { ask: ['Read(a/b)'] };
    expect(await told('grep -r x .', {}, deny)).toContain('below it is "/work/a"');
    expect(await told('grep -r x .', {}, ask)).toContain('below it is "/work/a/b"');
    expect(await told('find .', {}, deny)).toBe(
      'below it is "/work/a", which may not be read without asking; name a smaller directory, or use Glob',
    );
    expect(await told('find d', {}, deny)).toEqual([['/work/d', true]]);
    expect(await told('ls', {}, deny)).toEqual([['/work', true]]);
  });

  test('is not proved if it follows links to places that are not checked', async () => {
    const { root, told } = workspace(['a/b', 'd/e', 'other/.env']);
    symlinkSync('../other', join(root, 'a', 'link'));
    expect(await told('diff -rN a d')).toContain('below it is "/work/a/link"');
    expect(await told('grep -r x a')).toEqual([['/work/a', true]]);
  });

  test('is not proved for git without a repository', async () => {
    const { told } = workspace(['a/b', 'other/.env']);
    expect(await told('git diff a other')).toContain('below it is "/work/other/.env"');
  });

  test('is not proved for another repository, but is in a working tree of that repository', async () => {
    const { root, outside, told } = workspace();
    git(outside, 'init', '-q');
    git(outside, 'commit', '-q', '--allow-empty', '-m', 'first');
    writeFileSync(join(root, '.git'), `gitdir: ${outside}/.git\n`);
    expect(await told('git log -p')).toMatch(/^its `.git` leads to a repository elsewhere/);
    git(outside, 'worktree', 'add', '-q', join(root, 'tree'));
    expect(await told('cd tree && git log -p')).toEqual([
      ['/work/tree', true],
      ['/work/tree', true],
    ]);
  });

  test('is not proved for the number of a git tree, which may be that of a secret directory', async () => {
    const { told } = repository(['a', '.aws/credentials']);
    expect(await told('git show 4b825dc6:credentials')).toContain('/work/.aws/credentials');
    expect(await told('git show HEAD:a')).toEqual([
      ['/work', true],
      ['/work/a', true],
      ['/work/HEAD:a', true],
    ]);
  });

  test('is not proved if a link leads out of the roots', async () => {
    const { root, outside, told } = workspace(['a/b', 'd/e']);
    symlinkSync(outside, join(root, 'a', 'link'));
    symlinkSync('../d', join(root, 'd', 'link'));
    expect(await told('diff -r a d')).toContain('below it is "/work/a/link"');
    expect(await told('rg x d')).toEqual([['/work/d', true]]);
  });
});

describe('git', () => {
  test('is proved to show stored content only if nothing secret is stored', async () => {
    const { told } = repository(['a', 'b/c', 'b/.env']);
    const found = (path: string): string =>
      `the repository contains ${JSON.stringify(path)}, which may not be read without asking; name the files or directories that you want after \`--\``;
    expect(await told('git diff')).toBe(found('/work/b/.env'));
    expect(await told('git log -p')).toBe(found('/work/b/.env'));
    expect(await told('git show HEAD')).toBe(found('/work/b/.env'));
    expect(await told('git diff -- b')).toBe(found('/work/b/.env'));
    expect(await told('git grep x')).toBe(found('/work/b/.env'));
    expect(await told('git diff -- a')).toEqual([
      ['/work', true],
      ['/work/a', true],
    ]);
    expect(await told('git log --stat')).toEqual([['/work', true]]);
    expect(await told('cd b && git show HEAD:a')).toEqual([
      ['/work/b', true],
      ['/work/b', true],
      ['/work/a', true],
      ['/work/b/HEAD:a', true],
    ]);
    const secret = (await told('git show HEAD:b/.env')) as readonly unknown[];
    expect(secret).toContainEqual(['/work/b/.env', true]);
  });

  test('is proved without a sandbox only if the repository names no program', async () => {
    const tame = repository(['a']);
    const sandboxed = false;
    expect(await tame.told('git status', { sandboxed })).toEqual([['/work', true]]);
    git(tame.root, 'config', 'filter.x.clean', './evil');
    expect(await tame.told('git status', { sandboxed })).toBe(
      'the repository sets "filter.clean", which may run a program, and there is no sandbox',
    );
    expect(await tame.told('git status')).toEqual([['/work', true]]);
    expect(await tame.told('ls', { sandboxed })).toEqual([['/work', true]]);
  });

  test.each([
    '[core] fsmonitor = ./evil',
    '[core]\n\tsshCommand = ./evil',
    '[CORE]fsmonitor=./evil',
    '[diff "x"]\n\ttextconv = ./evil',
    '[include]\n\tpath = ../evil',
    '[includeIf "gitdir:/"]\n\tpath = ../evil',
    '[gpg]\n\tprogram = ./evil',
    '[extensions]\n\tpartialClone = x',
    '[remote "x"]\n\tpromisor = true',
    '[submodule "x"]\n\tactive = true',
    'nonsense = \\\n[',
  ])('is not proved with the configuration %j', async (text) => {
    const { root, told } = repository(['a']);
    writeFileSync(join(root, '.git', 'config'), text);
    expect(await told('git status', { sandboxed: false })).toContain('there is no sandbox');
  });

  const elsewhere = 'may set `core.worktree`';

  test.each([
    '[core]\n\tworktree = /',
    '[core]\n\tworktree = ../../outside',
    '[core]\n\tworktree = "../..\\\n/outside" ; there',
    '[CORE]WorkTree=../deep',
    '[core]\n\tworktree = ~/x',
    '[core]\n\tworktree = ~root/x',
    '[core]\n\tworktree',
    '[core]\n\tworktree = ..\n\tworktree = ../..',
    '[core]\n\tworktree = ../link/..',
    '[include]\n\tpath = ../deep/more',
    '[includeIf "gitdir:/nowhere"]\n\tpath = ../deep/more',
    '[include]\n\tpath = ../deep/pipe',
    '[include]\n\tpath = ~root/x',
    '[core]\n\tworktree = "/',
  ])('is not proved if its working tree may be elsewhere: %j', async (text) => {
    const { root, outside, told } = repository(['a', 'deep/b']);
    mkdirSync(join(outside, 'directory'));
    symlinkSync(join(outside, 'directory'), join(root, 'link'));
    writeFileSync(join(root, 'deep', 'more'), '[core]\n\tworktree = /\n');
    execFileSync('mkfifo', [join(root, 'deep', 'pipe')]);
    writeFileSync(join(root, '.git', 'config'), text);
    for (const line of ['git status', 'git diff -- a', 'cd deep && git show HEAD:a']) {
      expect(await told(line)).toContain(elsewhere);
    }
  });

  test('is not proved if only the configuration of this working tree leads elsewhere', async () => {
    const { root, told } = repository(['a']);
    git(root, 'config', 'extensions.worktreeConfig', 'true');
    git(root, 'config', '--worktree', 'core.worktree', '/');
    expect(await told('git status')).toContain(elsewhere);
  });

  test.each(['', '..', '../../work', '../deep/..', '"../."', '../link'])(
    'is proved with its own directory as the working tree: %j',
    async (value) => {
      const { root, told } = repository(['a', 'deep/b']);
      symlinkSync('.', join(root, 'link'));
      const worktree = value === '' ? '' : `\tworktree = ${value} # its own\n`;
      const text = `[core]\n${worktree}\tbare = false\n[include]\n\tpath = missing\n`;
      writeFileSync(join(root, '.git', 'config'), text);
      expect(await told('git status')).toEqual([['/work', true]]);
    },
  );

  test('is proved in submodules and linked working trees as git creates them', async () => {
    const { root, outside, told } = repository(['a']);
    git(outside, 'init', '-q');
    git(outside, 'commit', '-q', '--allow-empty', '-m', 'first');
    git(root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', outside, 'sub');
    expect(await told('git -C sub status')).toEqual([['/work/sub', true]]);
    git(join(root, 'sub'), 'worktree', 'add', '-q', '../tree');
    expect(await told('git -C tree status')).toEqual([['/work/tree', true]]);
    git(root, 'config', '-f', '.git/modules/sub/config', 'core.worktree', '/');
    expect(await told('git -C sub status')).toContain(elsewhere);
    expect(await told('git -C .git/modules/sub status')).toMatch(/^inside a git directory/);
  });

  test('is not proved if git uses the repository above', async () => {
    const { root, told } = repository(['a', 'sub/.env']);
    mkdirSync(join(root, 'sub', '.git'));
    expect(await told('git -C sub diff')).toMatch(/^its `.git` is incomplete/);
    git(join(root, 'sub'), 'init', '-q');
    expect(await told('git -C sub diff')).toContainEqual(['/work/sub', true]);
    writeFileSync(join(root, 'sub', '.git', 'HEAD'), 'nonsense');
    expect(await told('git -C sub diff')).toMatch(/^its `.git` is incomplete/);
  });

  test('is not proved for another repository that a link hides', async () => {
    const { root, outside, told } = workspace(['a/.git/HEAD']);
    mkdirSync(join(outside, 'x'));
    mkdirSync(join(outside, 'a'));
    git(join(outside, 'a'), 'init', '-q');
    symlinkSync(join(outside, 'x'), join(root, 'link'));
    writeFileSync(join(root, '.git'), 'gitdir: link/../a/.git\n');
    expect(await told('git log')).toMatch(/^its `.git` leads to a repository elsewhere/);
  });

  test('is not proved without a sandbox if there are submodules', async () => {
    const { root, told } = repository(['a']);
    mkdirSync(join(root, 'sub'));
    git(join(root, 'sub'), 'init', '-q');
    git(join(root, 'sub'), 'commit', '--allow-empty', '-qm', 'x');
    git(root, 'add', 'sub');
    expect(await told('git status', { sandboxed: false })).toContain('may have submodules');
  });
});

test('a program in the workspace is not treated as the system’s', async () => {
  const { root, told } = workspace(['bin/ls']);
  chmodSync(join(root, 'bin/ls'), 0o755);
  const searchPath = `${join(root, 'bin')}:/usr/bin:/bin`;
  expect(await told('ls', { searchPath })).toBe('`ls` on PATH is a file of the workspace');
  expect(await told('cat bin/ls', { searchPath })).toEqual([['/work/bin/ls', true]]);
  expect(await told('/bin/ls', { searchPath })).toEqual([['/work', true]]);
});

test('a command in the background, or one that takes too long to judge, is not proved', async () => {
  const { prove } = workspace();
  let now = 0;
  const slow = { now: () => 0, monotonic: () => (now += 300) };
  expect(await prove('ls', { clock: { ...systemClock, ...slow } })).toEqual({
    proven: false,
    reason: 'parsing it took more than 250 ms; use a shorter command',
    isOverLimit: true,
  });
  // The first attempt takes 300 ms, as on a machine that is busy, and the second one 10 ms.
  const steps = [0, 300, 300, 310];
  const busy = { now: () => 0, monotonic: () => steps.shift() ?? 310 };
  expect(await prove('ls', { clock: { ...systemClock, ...busy } })).toMatchObject({ proven: true });
  const place = {
    rights: rights('plan'),
    home: '/',
    cwd: '/',
    searchPath: '/bin',
    variables: [],
    sandboxed: true,
  };
  const access = { ...NO_ACCESS, commands: ['ls'], background: true };
  expect(await proveCommands(access, parseShellLine, { ...place, clock: systemClock })).toEqual({
    proven: false,
    reason: 'it would keep running in the background',
  });
});
