import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openFileStore } from '../../../src/store/file-store.ts';
import { DescriptorCache } from '../../../src/store/files/descriptor-cache.ts';
import { taskSpec, warning } from '../fixture-data.ts';
import { tempDir } from '../fixtures.ts';
import { PowerLossFiles } from '../power-loss-files.ts';
import { fakeProcesses } from '../fake-processes.ts';

const CHILD = fileURLToPath(new URL('../child-many-tasks.ts', import.meta.url));

function diskWith(names: readonly string[]): PowerLossFiles {
  const files = new PowerLossFiles();
  for (const name of names) files.close(files.openNew(name));
  return files;
}

it('1,000 open tasks work under a limit of 64 open files', async () => {
  const dataDir = tempDir();
  const run = promisify(execFile);
  const limited = `ulimit -n 64 && exec "$0" "$@"`;
  const { stdout } = await run('bash', [
    '-c',
    limited,
    process.execPath,
    CHILD,
    dataDir,
    '1000',
    '16',
  ]);
  expect(stdout).toBe('whole\n');
  const output = readFileSync(join(dataDir, 'tasks', 'task00000999.out'), 'utf8');
  expect(output).toBe('first\nsecond\n');
});

it('keeps no more descriptors than allowed, whatever happens, and none after close', async () => {
  const files = new PowerLossFiles();
  const processes = fakeProcesses({ pid: 7 });
  const store = openFileStore({
    dataDir: '/data',
    durability: 'safe',
    maxDescriptors: 5,
    files,
    processes,
  });
  const logs = Array.from({ length: 40 }, (_, n) => store.create(taskSpec(`task0000000${n}`)));
  for (const log of [...logs, ...logs]) {
    log.append([warning('x')]);
    expect(files.openFiles).toBeLessThanOrEqual(5);
  }
  await Promise.all(logs.map((log) => log.sync()));
  expect(files.openFiles).toBeLessThanOrEqual(5);
  await store.close();
  expect(files.openFiles).toBe(0);
});

it('closes the least recently used one', () => {
  const files = diskWith(['/a', '/b', '/c']);
  const descriptors = new DescriptorCache(files, 2);
  const fdOf = (path: string): number => descriptors.withDescriptor(path, (fd) => fd);
  const a = fdOf('/a');
  const b = fdOf('/b');
  expect(fdOf('/a')).toBe(a);
  fdOf('/c');
  expect(fdOf('/a')).toBe(a);
  expect(fdOf('/b')).not.toBe(b);
});

it('does not close a descriptor in use', async () => {
  const files = diskWith(['/a', '/b']);
  const descriptors = new DescriptorCache(files, 1);
  const gate = Promise.withResolvers<void>();
  const held = descriptors.withPinnedDescriptor('/a', async (fd) => {
    await gate.promise;
    return files.statOpen(fd).size;
  });
  descriptors.withDescriptor('/b', () => {});
  descriptors.close('/b');
  expect(files.openFiles).toBe(1);
  gate.resolve();
  expect(await held).toBe(0);
  expect(files.openFiles).toBe(0);
});
