import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { getDataPaths, prepareDataDirectory } from '../../../src/store/files/data-dir.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { nodeFiles } from '../../../src/store/files/node-files.ts';
import { taskSpec } from '../fixture-data.ts';
import { tempDir } from '../fixtures.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

const CHILD = fileURLToPath(new URL('../child-many-tasks.ts', import.meta.url));

function modes(directory: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
    found.add(`${entry.isDirectory() ? 'directory' : 'file'} ${mode.toString(8)}`);
  }
  return found;
}

it.each(['000', '077', '777'])('makes directories 0700 and files 0600 under umask %s', (umask) => {
  const dataDir = join(tempDir(), 'share', 'muster');
  const script = `umask ${umask} && exec "$0" "$@"`;
  execFileSync('bash', ['-c', script, process.execPath, CHILD, dataDir, '3', '64']);
  expect(modes(join(dataDir, '..'))).toEqual(new Set(['directory 700', 'file 600']));
});

it('makes blobs and spill files private, too', () => {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast' });
  store.putBlob('text');
  store.createSpillFile('task00000001', 'call');
  expect(modes(dataDir)).toEqual(new Set(['directory 700', 'file 600']));
});

it.each(['0775', '0702', '0777'])('refuses a directory that others can write to (%s)', (mode) => {
  const dataDir = tempDir();
  chmodSync(dataDir, Number.parseInt(mode, 8));
  expect(() => openFileStore({ dataDir, durability: 'fast' })).toThrow(
    `others can write to the data directory ${dataDir} (mode ${Number(mode)}): run chmod go-w on it`,
  );
});

it('refuses one of its own directories that others can write to', () => {
  const dataDir = tempDir();
  mkdirSync(join(dataDir, 'tasks'));
  chmodSync(join(dataDir, 'tasks'), 0o777);
  expect(() => openFileStore({ dataDir, durability: 'fast' })).toThrow(join(dataDir, 'tasks'));
});

it('refuses the directory of another user', () => {
  const dataDir = tempDir();
  expect(() => prepareDataDirectory(nodeFiles, getDataPaths(dataDir), 12_345)).toThrow(
    /belongs to user \d+, not to you \(12345\): choose another one with --data-dir/,
  );
});

it('refuses a file, or a directory that cannot be created, and names the path', () => {
  const directory = tempDir();
  const file = join(directory, 'file');
  writeFileSync(file, '');
  expect(() => openFileStore({ dataDir: file, durability: 'fast' })).toThrow(
    `${file} is not a directory`,
  );
  expect(() => openFileStore({ dataDir: join(file, 'below'), durability: 'fast' })).toThrow(
    /^cannot create directory .*below: ENOTDIR/,
  );
});

it('does not write through a link in place of a file', async () => {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast' });
  const target = join(dataDir, 'target');
  writeFileSync(target, '');
  store.create(taskSpec('task00000001'));
  symlinkSync(target, store.outputPath('task00000001') ?? '');
  store.appendOutput('task00000001', 'x');
  // The text is written a moment later, and an error is thrown at the next text.
  const appendMore = (): unknown => {
    try {
      store.appendOutput('task00000001', 'y');
      return null;
    } catch (thrown) {
      return thrown;
    }
  };
  await waitUntilPasses(() => {
    expect(appendMore()).toMatchObject({ message: expect.stringContaining('ELOOP') });
  });
  await store.close();
  expect(readFileSync(target, 'utf8')).toBe('');
});
