import * as fs from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isInGitDirectory } from '../../../src/sys/git/control-paths.ts';
import { pathHasSuspiciousLinks } from '../../../src/sys/files/hard-links.ts';
import { openFileInRoots } from '../../../src/sys/files/open-in-roots.ts';
import { tempDirectory } from '../temp.ts';

function linked(at: string, name: string): string {
  const path = join(at, 'root', name);
  fs.mkdirSync(join(path, '..'), { recursive: true });
  const store = join(at, `store-${name.replaceAll('/', '-')}`);
  fs.writeFileSync(store, 'x');
  fs.linkSync(store, path);
  return path;
}

test('a file with another name may be an outside file, but packages and git objects are usually hard-linked', () => {
  const at = tempDirectory();
  const foreign = (name: string): boolean => pathHasSuspiciousLinks(linked(at, name));
  expect(foreign('notes.txt')).toBe(true);
  expect(foreign('src/a.ts')).toBe(true);
  expect(foreign('node_modules/a/index.js')).toBe(false);
  expect(foreign('pkg/node_modules/.pnpm/b/x.js')).toBe(false);
  expect(foreign('.venv/lib/python3/site-packages/c.py')).toBe(false);
  expect(foreign('.git/objects/ab/cdef')).toBe(false);
  expect(foreign('.git/modules/sub/objects/ab/cdef')).toBe(false);
  expect(foreign('.git/config')).toBe(true);
  expect(foreign('my_node_modules/a.js')).toBe(true);
  fs.writeFileSync(join(at, 'root/own'), '');
  expect(pathHasSuspiciousLinks(join(at, 'root/own'))).toBe(false);
  expect(pathHasSuspiciousLinks(join(at, 'root/gone'))).toBe(false);
  expect(pathHasSuspiciousLinks(join(at, 'root'))).toBe(false);
});

test('in a package directory a known secret, or a file of another user, is foreign', () => {
  const at = tempDirectory();
  const was = process.env['HOME'];
  onTestFinished(() => {
    if (was === undefined) delete process.env['HOME'];
    else process.env['HOME'] = was;
  });
  process.env['HOME'] = join(at, 'home');
  expect(homedir()).toBe(join(at, 'home'));
  fs.mkdirSync(join(at, 'home/.ssh/old'), { recursive: true });
  fs.mkdirSync(join(at, 'root/node_modules/a'), { recursive: true });
  for (const name of ['.ssh/id_ed25519', '.ssh/old/any', '.netrc']) {
    const path = join(at, 'root/node_modules/a', name.replaceAll('/', '-'));
    fs.writeFileSync(join(at, 'home', name), 'secret');
    fs.linkSync(join(at, 'home', name), path);
  }
  const foreign = fs
    .readdirSync(join(at, 'root/node_modules/a'))
    .map((name) => pathHasSuspiciousLinks(join(at, 'root/node_modules/a', name)));
  expect(foreign).toEqual([true, true, true]);
  if (process.getuid?.() !== 0) return;
  const path = linked(at, 'node_modules/b.js');
  fs.chownSync(path, 65_534, 65_534);
  expect(pathHasSuspiciousLinks(path)).toBe(true);
});

test('a foreign file opens only if a person knew of it', () => {
  const at = tempDirectory();
  const path = linked(at, 'notes.txt');
  const roots = [join(at, 'root')];
  const refused = expect.objectContaining({ code: 'PERMISSION_DENIED' });
  const judged = (mayHaveOtherNames: boolean) => ({
    roots,
    judged: new Map([[path, { real: path, mayHaveOtherNames }]]),
  });
  expect(() => openFileInRoots(path, { roots })).toThrow(refused);
  expect(() => openFileInRoots(path, judged(false))).toThrow(refused);
  fs.closeSync(openFileInRoots(path, judged(true)).fd);
});

test('a git directory is recognized by its content, or by what it would contain', () => {
  const root = tempDirectory();
  const isGit = (path: string): boolean => isInGitDirectory(join(root, path), root);
  expect(isGit('bare/config')).toBe(false);
  fs.mkdirSync(join(root, 'bare/objects'), { recursive: true });
  fs.mkdirSync(join(root, 'bare/refs'));
  expect(isGit('bare/config')).toBe(false);
  expect(isGit('bare/HEAD')).toBe(true);
  fs.writeFileSync(join(root, 'bare/HEAD'), 'ref: refs/heads/main\n');
  expect(isGit('bare/config')).toBe(true);
  expect(isGit('bare/hooks/pre-commit')).toBe(true);
  expect(isGit('other/config')).toBe(false);
  fs.mkdirSync(join(root, 'worktree'));
  fs.writeFileSync(join(root, 'worktree/HEAD'), '');
  expect(isGit('worktree/commondir')).toBe(true);
});
