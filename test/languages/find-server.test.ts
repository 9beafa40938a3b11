import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { addConfiguredServers, isServerEntry } from '../../src/languages/configured-servers.ts';
import {
  findLanguage,
  findLanguageServer,
  findProjectRoot,
  hasLanguageServer,
} from '../../src/languages/find-server.ts';
import { LANGUAGES } from '../../src/languages/server-table.ts';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'muster-find-')));
afterAll(() => rmSync(directory, { recursive: true }));

function write(path: string): string {
  const file = join(directory, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  chmodSync(file, 0o755);
  return file;
}

const root = join(directory, 'project');
const inPath = write('bin/pyright-langserver');
const ofProject = write('project/node_modules/.bin/pyright-langserver');
write('project/pyproject.toml');
write('project/go.mod');
write('project/tools/deep/go.mod');
write('project/crates/a/Cargo.toml');
write('project/crates/Cargo.toml');
write('bin/rust-analyzer');
const search = {
  path: join(directory, 'bin'),
  roots: [root],
  trustsProject: false,
  languages: LANGUAGES,
};

function find(
  path: string,
  options: Partial<typeof search> = {},
  roots: readonly string[] = [root],
): string | undefined {
  const used = { ...search, ...options };
  const language = findLanguage(path, used);
  const place = { directory: dirname(join(root, path)), roots };
  return language && findLanguageServer(language, place, used)?.file;
}

describe('the server of a file', () => {
  it('is in PATH, and in the project only if the user trusts it', () => {
    expect(find('a.py')).toBe(inPath);
    expect(find('a.py', { trustsProject: true })).toBe(ofProject);
    expect(find('a.py', { path: join(root, 'node_modules/.bin') })).toBeUndefined();
    expect(find('a.py', { path: 'bin' })).toBeUndefined();
    // A program of the session's workspace stays one for a task that works in a part of it.
    const inProject = { path: join(root, 'node_modules/.bin') };
    expect(find('tools/a.py', inProject, [join(root, 'tools')])).toBeUndefined();
    expect(find('a.txt')).toBeUndefined();
  });

  it('that runs code of the project is used only if the user trusts the project', () => {
    expect(find('a.rs')).toBeUndefined();
    expect(find('a.rs', { trustsProject: true })).toBe(join(directory, 'bin/rust-analyzer'));
  });

  it('can be configured', () => {
    const languages = addConfiguredServers([`python=${inPath} --stdio`, '.zig=zls']);
    expect(find('a.py', { languages })).toBe(inPath);
    expect(findLanguage('a.zig', { languages })).toMatchObject({
      language: 'zig',
      endings: { '.zig': 'zig' },
      servers: [{ program: 'zls', args: [] }],
    });
    const entries = ['python=pylsp', '.zig=zls -x', 'cobol=x', 'python=', 'python', '.x=./bin/x'];
    expect(entries.map(isServerEntry)).toEqual([true, true, false, false, false, false]);
  });
});

it('the root of a server is the workspace, or the nearest or outermost directory with a marker', () => {
  const rootOf = (path: string) => {
    const language = findLanguage(path, search);
    return language && findProjectRoot(language, dirname(join(root, path)), [root]);
  };
  expect(rootOf('tools/deep/a.py')).toBe(root);
  expect(rootOf('tools/deep/x/a.go')).toBe(join(root, 'tools/deep'));
  expect(rootOf('crates/a/src/a.rs')).toBe(join(root, 'crates'));
});

it('a workspace has a server only if its root shows the language of an installed server', () => {
  expect(hasLanguageServer(search)).toBe(true);
  expect(hasLanguageServer({ ...search, path: '' })).toBe(false);
  expect(hasLanguageServer({ ...search, roots: [join(root, 'tools')] })).toBe(false);
});
