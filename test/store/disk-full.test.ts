import { expect, it } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { taskEnded, taskSpec, warning, warnings } from './fixture-data.ts';
import { tickingClock } from './fixtures.ts';
import { PowerLossFiles, type PowerLossOptions } from './power-loss-files.ts';
import { fakeProcesses } from './fake-processes.ts';
import { readLog } from './read-log.ts';

const ID = 'task00000001';
const LOG = `/data/tasks/${ID}.jsonl`;

function open(wish: PowerLossOptions | PowerLossFiles = {}): {
  files: PowerLossFiles;
  store: TaskStore;
} {
  const files = wish instanceof PowerLossFiles ? wish : new PowerLossFiles(wish);
  const processes = fakeProcesses({ pid: 7 });
  const clock = tickingClock();
  return {
    files,
    store: openFileStore({ dataDir: '/data', durability: 'safe', files, processes, clock }),
  };
}

it('never leaves half a batch if the disk is full at any byte, and the log continues afterwards', () => {
  const batch = [warning('one'), warning('two')];
  const probe = open();
  const log = probe.store.create(taskSpec(ID));
  const start = probe.files.used;
  log.append(batch);
  const needed = probe.files.used - start;
  for (let room = 0; room < needed; room += 1) {
    const { files, store } = open();
    const log = store.create(taskSpec(ID));
    const text = files.readFile(LOG).toString();
    files.capacity = files.used + room;
    expect(thrownBy(() => log.append(batch))).toMatchObject({
      code: 'INTERNAL_ERROR',
      retryable: true,
      message: expect.stringMatching(
        /^cannot write .*task00000001\.jsonl: ENOSPC.*free some space/,
      ),
    });
    expect(files.readFile(LOG).toString()).toBe(text);
    files.capacity = Number.POSITIVE_INFINITY;
    log.append([warning('after')]);
    const { events, problems } = readLog(store, ID);
    expect({ seqs: events.map((event) => event.seq), said: warnings(events), problems }).toEqual({
      seqs: [0, 1, 2],
      said: ['after'],
      problems: [],
    });
  }
});

it('leaves no file of a task that could not be created on a full disk, at any byte', () => {
  const probe = open();
  probe.store.create(taskSpec(ID));
  for (let capacity = 0; capacity < probe.files.used; capacity += 1) {
    const { files, store } = open({ capacity });
    expect(() => store.create(taskSpec(ID))).toThrow('ENOSPC');
    expect([files.list('/data/tasks'), files.openFiles]).toEqual([[], 0]);
    files.capacity = Number.POSITIVE_INFINITY;
    expect(store.create(taskSpec(ID)).epoch).toBe(1);
  }
});

it('leaves a log unchanged and without an owner if the disk is full at a claim', () => {
  const { files, store } = open();
  store.create(taskSpec(ID)).close();
  const text = files.readFile(LOG).toString();
  files.capacity = 0;
  expect(() => store.claim(ID)).toThrow('ENOSPC');
  expect(files.readFile(LOG).toString()).toBe(text);
  files.capacity = Number.POSITIVE_INFINITY;
  expect(store.claim(ID).epoch).toBe(2);
});

it('finds an end in the log that did not fit into the index', () => {
  const probe = open();
  const probeLog = probe.store.create(taskSpec(ID));
  const before = probe.files.readFile(LOG).length;
  probeLog.append([taskEnded()]);
  const line = probe.files.readFile(LOG).length - before;

  const { files, store } = open();
  const log = store.create(taskSpec(ID));
  files.capacity = files.used + line;
  log.append([taskEnded()]);
  log.close();
  expect(store.list()).toMatchObject([{ id: ID, status: 'completed' }]);
  files.capacity = Number.POSITIVE_INFINITY;
  store.list();
  expect(files.readFile('/data/index.jsonl').toString()).toContain('"status":"completed"');
});

it('does not treat a blob as written that did not fit on the disk', () => {
  const { files, store } = open();
  files.capacity = 3;
  expect(() => store.putBlob('content')).toThrow(/cannot write blob .*ENOSPC/);
  expect(files.list('/data/blobs')).toEqual([]);
  files.capacity = Number.POSITIVE_INFINITY;
  expect(store.getBlob(store.putBlob('content'))).toBe('content');
});

it('writes complete batches if the file system takes a few bytes at a time', () => {
  const { store } = open({ writeLimit: 7 });
  const log = store.create(taskSpec(ID));
  log.append([warning('a'.repeat(1000))]);
  expect(warnings(readLog(store, ID).events)).toEqual(['a'.repeat(1000)]);
});

it('appends nothing to a log whose incomplete line could not be cut off', () => {
  const { files, store } = open({ cannotTruncate: true });
  const log = store.create(taskSpec(ID));
  files.capacity = files.used + 10;
  expect(() => log.append([warning('one')])).toThrow('ENOSPC');
  files.capacity = Number.POSITIVE_INFINITY;
  expect(() => log.append([warning('two')])).toThrow(/cannot cut back .*EIO/);
  expect(readLog(store, ID)).toMatchObject({
    events: [{ seq: 0 }, { seq: 1 }],
    problems: [{ code: 'torn_tail', line: 4 }],
  });
});

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('did not throw');
}

it('reports a lock that does not fit on the disk with its path and what to do', async () => {
  const files = new PowerLossFiles();
  open(files).store.create(taskSpec(ID)).close();
  const { store } = open(files);
  files.capacity = files.used;
  await expect(store.lockTasks([ID])).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
    message: expect.stringMatching(/^cannot lock tasks in .*: ENOSPC.*; free some space/),
  });
  files.capacity = Number.POSITIVE_INFINITY;
  (await store.lockTasks([ID]))();
});
