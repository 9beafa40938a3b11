import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { workspaceRoots } from '../../../src/api/setup/workspace.ts';
import { UsageError } from '../../../src/base/errors.ts';

let root = '';

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-workspace-')));
  chmodSync(root, 0o755);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

it('returns the real paths, and resolves relative ones against the first', () => {
  mkdirSync(join(root, 'a'));
  mkdirSync(join(root, 'b'));
  symlinkSync(join(root, 'a'), join(root, 'link'));
  expect(workspaceRoots(join(root, 'link'), ['../b'])).toEqual([join(root, 'a'), join(root, 'b')]);
});

it('names a directory that is missing or not a directory', () => {
  writeFileSync(join(root, 'file'), '');
  expect(() => workspaceRoots(join(root, 'nowhere'), [])).toThrow('no such directory');
  expect(() => workspaceRoots(root, ['file'])).toThrow('is not a directory');
});

it.each([0o000, 0o311, 0o600])('names a directory that cannot be read or entered (%o)', (mode) => {
  const directory = join(root, 'closed');
  mkdirSync(directory);
  chmodSync(directory, mode);
  asNobody(() => {
    expect(() => workspaceRoots(directory, [])).toThrow(UsageError);
    expect(() => workspaceRoots(directory, [])).toThrow("can't be opened");
  });
});

/** Root may read everything, and would see no difference. */
function asNobody(run: () => void): void {
  if (process.geteuid?.() !== 0) {
    run();
    return;
  }
  process.seteuid?.(65_534);
  try {
    run();
  } finally {
    process.seteuid?.(0);
  }
}
