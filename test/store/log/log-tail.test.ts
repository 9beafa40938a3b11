import { appendFileSync, copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { LogTail } from '../../../src/store/task-store.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { taskSpec } from '../fixture-data.ts';
import { tempDir } from '../fixtures.ts';

const ID = 'tail00000001';

function seqs(tail: LogTail): readonly number[] {
  const found: number[] = [];
  tail.read((event) => found.push(event.seq));
  return found;
}

function note(message: string) {
  return { type: 'notified', level: 'info', message } as const;
}

const STORES = {
  files: () => openFileStore({ dataDir: tempDir(), durability: 'fast' }),
  memory: () => openMemoryStore(),
};

describe.each(Object.entries(STORES))('a tail of a log (%s)', (_, open) => {
  it('visits the events since the last call, and waits for a log that does not exist yet', async () => {
    const store = open();
    const tail = store.openTail(ID);
    expect(seqs(tail)).toEqual([]);
    const log = store.create(taskSpec(ID));
    expect(seqs(tail)).toEqual([0, 1]);
    expect(seqs(tail)).toEqual([]);
    log.append([note('one'), note('two')]);
    expect(seqs(tail)).toEqual([2, 3]);
    log.close();
    store.claim(ID).append([note('three')]);
    expect(seqs(tail)).toEqual([4, 5]);
    expect(seqs(store.openTail(ID))).toEqual([0, 1, 2, 3, 4, 5]);
    await store.close();
  });

  it('lists the tasks that have an owner as locked', async () => {
    const store = open();
    expect(store.listLocked()).toEqual([]);
    const log = store.create(taskSpec(ID));
    expect(store.listLocked()).toEqual([ID]);
    log.close();
    expect(store.listLocked()).toEqual([]);
    await store.close();
  });
});

describe('a tail of a file', () => {
  it('leaves an incomplete line for a later call', async () => {
    const store = openFileStore({ dataDir: tempDir(), durability: 'fast' });
    store.create(taskSpec(ID)).append([note('a text that will be cut')]);
    const path = store.logPath(ID) ?? '';
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, whole.length - 10));
    const tail = store.openTail(ID);
    expect(seqs(tail)).toEqual([0, 1]);
    appendFileSync(path, whole.subarray(whole.length - 10));
    expect(seqs(tail)).toEqual([2]);
    await store.close();
  });

  it('visits no event twice after the log was rewritten', async () => {
    const store = openFileStore({ dataDir: tempDir(), durability: 'fast' });
    const log = store.create(taskSpec(ID));
    log.append([note('one')]);
    const tail = store.openTail(ID);
    expect(seqs(tail)).toEqual([0, 1, 2]);
    const path = store.logPath(ID) ?? '';
    log.append([note('two')]);
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    expect(seqs(tail)).toEqual([3]);
    await store.close();
  });

  it('returns the same array of locked tasks while nothing changes', async () => {
    const store = openFileStore({ dataDir: tempDir(), durability: 'fast' });
    store.create(taskSpec(ID));
    store.listLocked();
    const locked = store.listLocked();
    expect(store.listLocked()).toBe(locked);
    store.create(taskSpec('tail00000002'));
    expect(store.listLocked().toSorted()).toEqual([ID, 'tail00000002']);
    await store.close();
  });
});
