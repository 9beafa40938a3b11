import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { changeAsMuster } from '../../../../src/sys/files/own-writes.ts';
import type { ConfinedCommand, Sandbox } from '../../../../src/sys/sandbox/sandbox.ts';
import { CommandRecords } from '../../../../src/sys/sandbox/cleanup/command-records.ts';
import { HAS_BUBBLEWRAP, Place, runIn } from '../support.ts';

const AS_USER = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
const GIT = `git ${AS_USER.join(' ')}`;

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', [...AS_USER, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
}

/** A repository with a branch `side` that has two protected files more than `main`. */
function repository(): Place {
  const at = new Place();
  git(at.root, 'init', '-q', '-b', 'main');
  at.write('work/a');
  git(at.root, 'add', '-A');
  git(at.root, 'commit', '-qm', 'one');
  git(at.root, 'checkout', '-qb', 'side');
  at.write('work/.npmrc', 'save-exact=true\n');
  at.write('work/.vscode/settings.json', '{}\n');
  symlinkSync('a', join(at.root, '.envrc'));
  git(at.root, 'add', '-A');
  git(at.root, 'commit', '-qm', 'two');
  git(at.root, 'checkout', '-q', 'main');
  return at;
}

const run = (at: Place, command: string, sandbox: Sandbox = at.sandbox()) =>
  runIn(sandbox, command, { roots: [at.root] });

function namesAt(at: Place): readonly string[] {
  return readdirSync(at.root).filter((name) => name !== '.git');
}

describe.runIf(HAS_BUBBLEWRAP)('a file that git writes with the content of a commit', () => {
  test.each([
    ['a checkout', 'git checkout -q side'],
    ['a merge', `${GIT} merge -q side`],
    ['a rebase', `${GIT} commit -q --allow-empty -m three; ${GIT} rebase -q side`],
    ['a cherry-pick', `${GIT} cherry-pick side`],
    ['an older commit', 'git checkout -q side && git checkout -q HEAD~1 && git checkout -q side'],
  ])('stays after %s', async (_, command) => {
    const at = repository();
    await run(at, command);
    expect(namesAt(at)).toEqual(['.envrc', '.npmrc', '.vscode', 'a']);
    expect(git(at.root, 'status', '--short')).toBe('');
  });

  test('stays if it came with fetched commits', async () => {
    const at = repository();
    const other = join(at.base, 'other');
    git(at.base, 'clone', '-q', at.root, other);
    git(other, 'checkout', '-q', 'side');
    git(other, 'commit', '-q', '--allow-empty', '-m', 'three');
    at.write('other/.npmrc', 'other=1\n');
    git(other, 'commit', '-qam', 'four');
    git(at.root, 'remote', 'add', 'origin', other);
    await run(at, 'git fetch -q origin && git checkout -q --detach origin/side');
    expect(readFileSync(join(at.root, '.npmrc'), 'utf8')).toBe('other=1\n');
  });

  test('is removed if it was changed, or if there are more files next to it', async () => {
    const at = repository();
    await run(at, 'git checkout -q side && echo evil >> .npmrc && echo x > .vscode/tasks.json');
    expect(namesAt(at)).toEqual(['.envrc', '.vscode', 'a']);
    expect(readdirSync(join(at.root, '.vscode'))).toEqual(['settings.json']);
  });

  test.each([
    ['in the same command', false],
    ['in a command before', true],
  ])('is removed if a command has created the commit %s', async (_, isBefore) => {
    const at = repository();
    const sandbox = at.sandbox();
    const make = `echo evil > x && blob=$(git hash-object -w x) && rm x &&
      tree=$(printf '100644 blob %s\\t.npmrc\\n' $blob | git mktree) &&
      commit=$(${GIT} commit-tree -m evil $tree) && git update-ref refs/heads/evil $commit`;
    const use = 'git checkout -q evil -- .npmrc && cat .npmrc';
    if (isBefore) await run(at, make, sandbox);
    const ran = await run(at, isBefore ? use : `${make} && ${use}`, sandbox);
    expect(ran.out).toBe('evil\n');
    expect(namesAt(at)).toEqual(['a']);
  });

  test('is removed if a tree of the object store was exchanged', async () => {
    const at = repository();
    const forge = `echo evil > x && blob=$(git hash-object -w x) && rm x &&
      tree=$(printf '100644 blob %s\\t.npmrc\\n' $blob | git mktree) && real=$(git rev-parse main^{tree}) &&
      cp -f .git/objects/\${tree:0:2}/\${tree:2} .git/objects/\${real:0:2}/\${real:2} && echo evil > .npmrc`;
    await run(at, forge);
    expect(namesAt(at)).toEqual(['a']);
  });
});

describe.runIf(HAS_BUBBLEWRAP)('a new repository', () => {
  test('stays if it makes git run nothing', async () => {
    const at = new Place();
    const init = `git init -q . && echo a > a && git add -A && ${GIT} commit -qm one`;
    expect(await run(at, init)).toMatchObject({ code: 0 });
    expect(git(at.root, 'log', '--format=%s')).toBe('one\n');
    expect(git(at.root, 'status', '--short')).toBe('');
  });

  test.each([
    'git init -q . && git config core.fsmonitor ./evil',
    'git init -q . && git config core.worktree /',
    'git init -q . && git config include.path ../evil',
    "git init -q . && printf '#!/bin/sh\\n' > .git/hooks/pre-commit",
    'git init -q . && mv .git/hooks h && ln -s ../h .git/hooks',
    'git init -q . && echo ../x > .git/commondir',
    'git init -q . && mkdir -p .git/info && echo "* filter=x" > .git/info/attributes',
    'git init -q . && mkdir -p .git/modules/x',
    'git init -q x && echo "gitdir: x/.git" > .git',
    'git init -q x && ln -s x/.git .git',
    'mkdir .git && echo x > .git/config',
  ])('is removed if it may make git run something: %s', async (command) => {
    const at = new Place();
    await run(at, command);
    expect(existsSync(join(at.root, '.git'))).toBe(false);
  });
});

describe.runIf(HAS_BUBBLEWRAP)('a file that a command creates under a protected name', () => {
  test('is kept for the user, with a report', async () => {
    const at = new Place();
    const sandbox = at.sandbox();
    await sandbox.state();
    const confined = confine(sandbox, at);
    at.write('work/.husky/pre-commit', 'evil\n');
    at.write('work/Mixed.CODE-workspace', '{}');
    at.write('work/kept');
    const { removed } = await confined.settle();
    expect(removed).toEqual([
      { path: join(at.root, '.husky'), keptAt: expect.stringContaining(`${at.records}/removed/`) },
      { path: join(at.root, 'Mixed.CODE-workspace'), keptAt: expect.any(String) },
    ]);
    expect(readFileSync(join(removed[0]?.keptAt ?? '', 'pre-commit'), 'utf8')).toBe('evil\n');
    expect(await confined.settle()).toEqual({ removed: [], fromCommits: [], putBack: [] });
    confined.release();
    expect(readdirSync(at.root)).toEqual(['kept']);
    expect(readdirSync(at.records)).toEqual(['removed']);
  });

  test('stays if Muster itself has written it meanwhile', async () => {
    const at = new Place();
    const sandbox = at.sandbox();
    await sandbox.state();
    const confined = confine(sandbox, at);
    for (const name of ['work/.npmrc', 'work/.vscode/settings.json']) {
      changeAsMuster([join(at.base, name)], () => at.write(name));
    }
    at.write('work/.vscode/tasks.json');
    await confined.settle();
    confined.release();
    expect(readdirSync(at.root)).toEqual(['.npmrc', '.vscode']);
    expect(readdirSync(join(at.root, '.vscode'))).toEqual(['settings.json']);
  });

  test('that existed before is left alone, even if it was moved away and back', async () => {
    const at = new Place();
    at.write('work/.idea/workspace.xml');
    await run(at, 'mv .idea x 2>/dev/null; mkdir y; true');
    expect(readdirSync(at.root).toSorted()).toContain('.idea');
  });

  test('is removed at the next start if its owner was killed, but later files are not', async () => {
    const at = new Place();
    mkdirSync(at.records);
    const places = { missing: [join(at.root, '.envrc')], present: [[at.root, ['.idea']]] };
    const dead = join(at.records, '4194304-1-abcdefghijkl');
    writeFileSync(dead, JSON.stringify(places));
    for (const name of ['.envrc', '.npmrc', '.idea/theirs']) at.write(`work/${name}`);
    expect(new CommandRecords(at.records).cleanUp(join(at.records, 'removed'))).toMatchObject([
      { path: join(at.root, '.envrc') },
      { path: join(at.root, '.npmrc') },
    ]);
    expect(readdirSync(at.root)).toEqual(['.idea']);

    writeFileSync(dead, JSON.stringify(places));
    const before = new Date(Date.now() - 60_000);
    utimesSync(dead, before, before);
    at.write('work/.envrc', 'of the user');
    expect(new CommandRecords(at.records).cleanUp(join(at.records, 'removed'))).toEqual([]);
    expect(existsSync(join(at.root, '.envrc'))).toBe(true);
  });

  test('of a living process is left to it', async () => {
    const at = new Place();
    mkdirSync(at.records);
    const living = spawn('sleep', ['60']);
    onTestFinished(() => void living.kill());
    const stat = readFileSync(`/proc/${living.pid}/stat`, 'utf8');
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const record = `${living.pid}-${started}-abcdefghijkl`;
    const places = { missing: [join(at.root, '.envrc')], present: [] };
    writeFileSync(join(at.records, record), JSON.stringify(places));
    at.write('work/.envrc');
    expect(new CommandRecords(at.records).cleanUp(null)).toEqual([]);
    expect(readdirSync(at.records)).toEqual([record]);
  });

  test('can be moved to another disk, too', async () => {
    const at = new Place();
    const other = new Place({ below: '/dev/shm' });
    const sandbox = at.sandbox({ records: other.records });
    await run(at, 'mkdir .husky && echo x > .husky/pre-commit && ln -s x .husky/link', sandbox);
    expect(readdirSync(at.root)).toEqual([]);
    const [kept = ''] = readdirSync(join(other.records, 'removed'));
    const there = join(other.records, 'removed', kept, '.husky');
    expect(readdirSync(there)).toEqual(['link', 'pre-commit']);
  });
});

function confine(sandbox: Sandbox, at: Place): ConfinedCommand {
  return sandbox.confine({
    argv: ['true'],
    cwd: at.root,
    env: {},
    confinement: { access: 'workspace', roots: [at.root], network: false },
    stderr: 'command',
  });
}
