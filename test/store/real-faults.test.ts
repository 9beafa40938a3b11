import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { MusterError } from '../../src/base/errors.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { canMount, smallDisk } from '../small-disk.ts';
import { taskEnded, taskSpec, warning } from './fixture-data.ts';
import { tempDir } from './fixtures.ts';
import { readLog } from './read-log.ts';

const MOUNT = 'mount';
const ID = 'task00000001';
const isRoot = process.getuid?.() === 0;

function refusalOf(run: () => unknown): MusterError | undefined {
  try {
    run();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

it.runIf(canMount)(
  'gives clear errors and keeps logs complete on a disk that is really full, and deletion frees space',
  async () => {
    const dataDir = smallDisk(512);
    const store = openFileStore({ dataDir, durability: 'safe' });
    const old = store.create(taskSpec('old000000001'));
    old.append([warning('x'.repeat(60_000)), warning('y'.repeat(60_000)), taskEnded()]);
    old.close();
    const log = store.create(taskSpec(ID));
    let written = 0;
    let refusal: MusterError | undefined;
    while (refusal === undefined) {
      refusal = refusalOf(() => log.append([warning(`${written} ${'z'.repeat(3000)}`)]));
      if (refusal === undefined) written += 1;
    }
    expect(refusal).toMatchObject({
      retryable: true,
      message: expect.stringMatching(/^cannot write .*ENOSPC.*; free some space on that disk$/),
    });
    expect(() => store.create(taskSpec('new000000001'))).toThrow('ENOSPC');
    expect(readLog(store, ID)).toMatchObject({ events: { length: written + 2 }, problems: [] });
    await store.delete(['old000000001']);
    log.append([warning('there is room again'), taskEnded()]);
    log.close();
    expect(readLog(store, ID).problems).toEqual([]);
    expect(store.list()).toMatchObject([{ id: ID, status: 'completed' }]);
    await store.close();
  },
);

/** Makes a directory read-only. Permissions alone do not stop the superuser. */
function makeReadOnly(dataDir: string): void {
  if (isRoot) {
    execFileSync(MOUNT, ['-o', 'remount,ro', dataDir]);
    return;
  }
  const directories = ['.', 'tasks', 'owners'].map((name) => join(dataDir, name));
  for (const directory of directories) chmodSync(directory, 0o500);
  onTestFinished(() => directories.forEach((directory) => chmodSync(directory, 0o700)));
}

it.runIf(!isRoot || canMount)(
  'reports a directory that has become read-only, and still reads it',
  async () => {
    const dataDir = isRoot ? smallDisk(512) : tempDir();
    const writer = openFileStore({ dataDir, durability: 'safe' });
    writer.create(taskSpec(ID)).close();
    await writer.close();
    makeReadOnly(dataDir);
    const store = openFileStore({ dataDir, durability: 'safe' });
    const told = /(EACCES.*check who owns it, or|EROFS.*is read-only:) choose another directory/;
    expect(() => store.token).toThrow(told);
    expect(() => store.create(taskSpec('new000000001'))).toThrow(told);
    expect(() => store.claim(ID)).toThrow(told);
    await expect(store.delete([ID])).rejects.toThrow(told);
    await expect(store.importTree(store.exportTree(ID))).rejects.toThrow(told);
    expect(readLog(store, ID).events).toHaveLength(2);
    expect(store.list()).toMatchObject([{ id: ID, status: 'interrupted' }]);
    expect(readdirSync(join(dataDir, 'tasks')).toSorted()).toEqual([`${ID}.jsonl`]);
    await store.close();
  },
);
