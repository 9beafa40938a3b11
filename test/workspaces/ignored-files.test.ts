import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MusterError } from '../../src/base/errors.ts';
import { endWorkspace } from '../../src/workspaces/end.ts';
import { listDifferences } from '../../src/workspaces/list-differences.ts';
import { tempDirectory } from '../sys/temp.ts';
import { access, createFor, createRepository, git, write } from './repository.ts';

const IGNORED = {
  '.gitignore': 'node_modules/\n.env*\nout/\n',
  '.worktreeinclude': '.env*\n!.env.production\nlocal/\n',
};

function createProject(): string {
  const source = createRepository({ ...IGNORED, 'packages/a/x': '1\n' });
  write(source, {
    'node_modules/dep/index.js': 'dep\n',
    'packages/a/node_modules/other/index.js': 'other\n',
    'node_modules/dep/.env': 'not wanted\n',
    'packages/a/.env': 'SECRET=1\n',
    '.env.production': 'not wanted\n',
    'out/x': 'not wanted\n',
    'local/x': 'not ignored, so it comes with the other changes\n',
  });
  return source;
}

test('installed packages are links, and the selected ignored files are copied', async () => {
  const source = createProject();
  const { record, notes } = await createFor(source);
  expect(notes).toEqual([]);
  expect(record.links).toEqual(['node_modules', 'packages/a/node_modules']);
  expect(readlinkSync(join(record.tree, 'node_modules'))).toBe(join(source, 'node_modules'));
  expect(readdirSync(record.tree).toSorted()).toEqual([
    '.git',
    '.gitignore',
    '.worktreeinclude',
    'local',
    'node_modules',
    'packages',
  ]);
  expect(readFileSync(join(record.tree, 'packages/a/.env'), 'utf8')).toBe('SECRET=1\n');
  // The pattern `node_modules/` does not match a link, so that git takes it for a new file.
  expect(git(record.tree, 'status', '--porcelain', 'node_modules')).toBe('?? node_modules');
  expect(await listDifferences(record, access)).toEqual([]);
  expect((await endWorkspace(record, access)).isChanged).toBe(false);
  expect(readFileSync(join(source, 'node_modules/dep/index.js'), 'utf8')).toBe('dep\n');
});

test('a link that the task has committed is no change', async () => {
  const { record } = await createFor(createProject());
  git(record.tree, 'add', '--all');
  git(record.tree, 'commit', '--quiet', '--message=everything');
  const end = await endWorkspace(record, access);
  expect(end.commits).toBe(1);
  expect(end.files).toEqual([]);
  expect(await listDifferences(end.record, access)).toEqual([]);
});

test('an ignored file that the task has committed stays in its work', async () => {
  const { record } = await createFor(createRepository({ '.gitignore': 'dist/\n' }));
  write(record.tree, { 'dist/out.js': 'built\n', 'dist/old.js': 'old\n', 'src.js': '1\n' });
  git(record.tree, 'add', '--all');
  git(record.tree, 'add', '--force', 'dist');
  git(record.tree, 'commit', '--quiet', '--message=own');
  const commit = git(record.tree, 'rev-parse', 'HEAD');
  const end = await endWorkspace(record, access);
  expect({ commit: end.commit, commits: end.commits, ignored: end.ignored }).toEqual({
    commit,
    commits: 1,
    ignored: [],
  });
  write(record.tree, { 'dist/out.js': 'again\n' });
  rmSync(join(record.tree, 'dist/old.js'));
  const second = await endWorkspace(end.record, access);
  expect(second.files.map(({ path }) => path)).toEqual(['dist/out.js', 'src.js']);
  expect(git(record.tree, 'show', `${second.commit}:dist/out.js`)).toBe('again');
});

test('installed packages are copied if that is wanted', async () => {
  const { record } = await createFor(createProject(), {
    packages: { names: ['node_modules'], mode: 'copy' },
  });
  const copy = join(record.tree, 'packages/a/node_modules');
  expect(lstatSync(copy).isDirectory()).toBe(true);
  write(record.tree, { 'node_modules/dep/index.js': 'changed\n' });
  expect(await listDifferences(record, access)).toEqual([]);
});

test('nothing is written through a link of the commit', async () => {
  const outside = tempDirectory();
  const source = createRepository(IGNORED);
  symlinkSync(outside, join(source, 'packages'));
  git(source, 'add', 'packages');
  git(source, 'commit', '--quiet', '--message=link');
  git(source, 'rm', '--quiet', '--cached', 'packages');
  unlinkSync(join(source, 'packages'));
  write(source, { 'packages/.env': 'secret\n' });
  const { record, notes } = await createFor(source, { start: 'commit' });
  expect(notes).toEqual(['not brought along: packages/.env']);
  expect(readdirSync(outside)).toEqual([]);
  expect(lstatSync(join(record.tree, 'packages')).isSymbolicLink()).toBe(true);
});

test('work that git ignores is kept and named, in contrast to packages and caches', async () => {
  const source = createProject();
  write(source, { '.gitignore': 'node_modules/\n.env*\nout/\n__pycache__/\nvendor/\nmade/\n' });
  const setup = {
    command: 'install',
    run: (_: string, cwd: string) => {
      write(cwd, { 'made/a': '1\n' });
      return Promise.resolve();
    },
  };
  const packages = { names: ['node_modules', 'vendor'], mode: 'none' } as const;
  const { record } = await createFor(source, { packages, setup });
  const dependencies = ['node_modules/x', 'vendor/x', 'packages/__pycache__/x', 'made/a', 'made/b'];
  write(record.tree, Object.fromEntries(dependencies.map((path) => [path, 'installed\n'])));
  write(record.tree, { 'out/report.md': 'work\n' });
  const end = await endWorkspace(record, access);
  expect({ isChanged: end.isChanged, files: end.files, ignored: end.ignored }).toEqual({
    isChanged: true,
    files: [{ path: 'out/', status: 'added', added: null, deleted: null, notLanded: 'ignored' }],
    ignored: ['out/'],
  });
  expect(readFileSync(join(record.tree, 'out/report.md'), 'utf8')).toBe('work\n');
  rmSync(join(record.tree, 'out'), { recursive: true });
  expect((await endWorkspace(end.record, access)).isChanged).toBe(false);
});

test('a copied ignored file counts if the task has changed it', async () => {
  const { record } = await createFor(createProject());
  const { ignored } = record;
  if (ignored === undefined) throw new Error('the record has no list of ignored files');
  expect(ignored.brought).toEqual(['packages/a/.env']);
  // Whatever was changed after the start counts, so an earlier start makes the copy a change.
  const earlier = { ...ignored, at: new Date(0).toISOString() };
  const end = await endWorkspace({ ...record, ignored: earlier }, access);
  expect(end.ignored).toEqual(['packages/a/.env']);
  expect((await endWorkspace({ ...end.record, ignored }, access)).isChanged).toBe(false);
});

test('a setup command runs once for the same lock files', async () => {
  const source = createRepository({ '.gitignore': 'deps/\n', 'a/yarn.lock': '1\n' });
  const dataDir = tempDirectory();
  const runs: string[] = [];
  const setup = {
    command: 'install',
    run: (command: string, cwd: string) => {
      runs.push(`${command} in ${cwd.split('/').at(-1)}`);
      write(cwd, { 'deps/tool': `installed ${runs.length}\n` });
      return Promise.resolve();
    },
  };
  const start = async () => {
    const { record, notes } = await createFor(source, { dataDir, setup });
    expect(notes).toEqual([]);
    return readFileSync(join(record.tree, 'deps/tool'), 'utf8');
  };
  expect(await start()).toBe('installed 1\n');
  expect(await start()).toBe('installed 1\n');
  write(source, { 'a/yarn.lock': '2\n' });
  expect(await start()).toBe('installed 2\n');
  write(source, { 'a/yarn.lock': '1\n' });
  expect(await start()).toBe('installed 1\n');
  expect(runs).toEqual(['install in tree', 'install in tree']);
  for (let version = 0; version < 5; version += 1) {
    write(source, { 'a/yarn.lock': `new ${version}\n` });
    await start();
  }
  expect(readdirSync(join(dataDir, 'workspace-setups')).length).toBe(4);
});

test.each([
  ['link', []],
  ['copy', ['node_modules', 'packages/a/node_modules']],
] as const)(
  'a setup command that deletes installed packages does not reach those of the user: %s',
  async (mode, links) => {
    const source = createProject();
    const setup = {
      command: 'npm ci',
      run: (_: string, cwd: string) => {
        const modules = join(cwd, 'node_modules');
        mkdirSync(modules, { recursive: true });
        for (const name of readdirSync(modules)) rmSync(join(modules, name), { recursive: true });
        write(modules, { 'dep/index.js': 'installed\n' });
        return Promise.resolve();
      },
    };
    const packages = { names: ['node_modules'], mode };
    const { record } = await createFor(source, { packages, setup });
    expect(record.links).toEqual(links);
    const path = 'node_modules/dep/index.js';
    expect(readFileSync(join(record.tree, path), 'utf8')).toBe('installed\n');
    expect(readFileSync(join(source, path), 'utf8')).toBe('dep\n');
  },
);

test('a setup command that fails leaves no workspace', async () => {
  const source = createRepository({ a: '1\n' });
  const dataDir = tempDirectory();
  const run = () => Promise.reject(new MusterError('INVALID_PARAM', 'npm ci failed: exit code 1'));
  await expect(createFor(source, { dataDir, setup: { command: 'npm ci', run } })).rejects.toThrow(
    'npm ci failed',
  );
  expect(readdirSync(join(dataDir, 'workspaces'))).toEqual([]);
  expect(git(source, 'worktree', 'list').split('\n').length).toBe(1);
  expect(git(source, 'branch', '--list')).toBe('* main');
});
