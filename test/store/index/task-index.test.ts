import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFileStore } from '../../../src/store/file-store.ts';
import type { FilePort } from '../../../src/store/files/file-port.ts';
import { nodeFiles } from '../../../src/store/files/node-files.ts';
import { OwnerLocks } from '../../../src/store/locks/owner-locks.ts';
import { createProcessPort } from '../../../src/store/locks/process-identity.ts';
import { TaskIndex } from '../../../src/store/index/task-index.ts';
import type { TaskSummary } from '../../../src/store/task-store.ts';
import { taskEnded, taskSpec, summarizeEvents } from '../fixture-data.ts';
import { tempDir, tickingClock } from '../fixtures.ts';
import { PowerLossFiles } from '../power-loss-files.ts';
import { fakeProcesses } from '../fake-processes.ts';

const idOf = (n: number): string => `task${String(n).padStart(8, '0')}`;

/** Records the files that are read: the index, and each log that is opened for a listing. */
function countingReads(files: FilePort): { readonly port: FilePort; readonly reads: string[] } {
  const reads: string[] = [];
  const readWhole = (path: string): Buffer => {
    reads.push(path);
    return files.readFile(path);
  };
  const openRead = (path: string): number => {
    reads.push(path);
    return files.openRead(path);
  };
  return { port: { ...files, readFile: readWhole, openRead }, reads };
}

function endTask(store: ReturnType<typeof openFileStore>, id: string): void {
  const log = store.create(taskSpec(id));
  log.append([taskEnded()]);
  log.close();
}

function summaryOf(n: number, change: Partial<TaskSummary> = {}): TaskSummary {
  const spec = taskSpec(idOf(n));
  const stamp = { v: 1, seq: 0, ts: n, task: spec.id, epoch: 1 };
  const summary = summarizeEvents([{ ...stamp, type: 'task.created', spec }]);
  if (summary === undefined) throw new Error('no summary');
  return { ...summary, status: 'completed', ended: n + 1, ...change };
}

it('lists 10,000 ended tasks from the index alone, and reads the few that it does not cover', () => {
  const files = new PowerLossFiles();
  const { port, reads } = countingReads(bound(files));
  const processes = fakeProcesses({ pid: 7 });
  const store = openFileStore({ dataDir: '/data', durability: 'fast', files: port, processes });
  const summaries = Array.from({ length: 10_000 }, (_, n) => summaryOf(n));
  for (const { id } of summaries) files.close(files.openNew(`/data/tasks/${id}.jsonl`));
  const index = new TaskIndex(port, locksFor(port, '/data/owners'), '/data/index.jsonl');
  index.put(summaries);
  store.create(taskSpec('interrupted1')).close();
  reads.length = 0;
  const listed = store.list();
  expect(reads).toEqual(['/data/index.jsonl', '/data/tasks/interrupted1.jsonl']);
  expect(listed).toHaveLength(10_001);
  expect(listed.slice(-10_000)).toEqual(summaries.toReversed());
});

it('is rebuilt from the logs when absent, and reads each of them once', async () => {
  const dataDir = tempDir();
  const writer = openFileStore({ dataDir, durability: 'fast', clock: tickingClock() });
  for (let n = 0; n < 20; n += 1) endTask(writer, idOf(n));
  const listed = writer.list();
  await writer.close();
  const path = join(dataDir, 'index.jsonl');
  writeFileSync(path, '');
  const { port, reads } = countingReads(nodeFiles);
  const store = openFileStore({ dataDir, durability: 'fast', files: port });
  expect(store.list()).toEqual(listed);
  expect(reads).toHaveLength(21);
  reads.length = 0;
  expect(store.list()).toEqual(listed);
  expect(reads).toEqual([path]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('damaged lines only cause reading of their logs', async () => {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast', clock: tickingClock() });
  for (let n = 0; n < 5; n += 1) endTask(store, idOf(n));
  const listed = store.list();
  const path = join(dataDir, 'index.jsonl');
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const damaged = [
    lines[0],
    lines[1]?.slice(5),
    '{"v":1,"id":3}',
    '{"v":9}',
    'null',
    lines[4]?.slice(0, 40),
  ];
  writeFileSync(path, damaged.join('\n'));
  endTask(store, idOf(5));
  expect(store.list().slice(1)).toEqual(listed);
  expect(store.list()).toHaveLength(6);
});

it('ignores holds and questions in lines, because only running tasks have them', () => {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast' });
  endTask(store, idOf(1));
  const [listed] = store.list();
  const line = { v: 1, ...listed, ledger: [], heldBy: 5, questions: 'none' };
  writeFileSync(join(dataDir, 'index.jsonl'), `${JSON.stringify(line)}\n`);
  expect(store.list()).toEqual([listed]);
});

it('finds the tasks that ended with a key, the last one first, and ignores damaged lines', () => {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast', clock: tickingClock() });
  const [key, other] = ['a'.repeat(64), 'b'.repeat(64)];
  for (let n = 0; n < 6; n += 1) {
    const log = store.create(taskSpec(idOf(n), { description: `"reuseKey":"${key}"` }));
    const looked = {
      type: 'reuse.missed',
      key: n % 2 === 0 ? key : other,
      because: 'none',
    } as const;
    log.append(n === 5 ? [] : [looked]);
    if (n !== 4) log.append([taskEnded()]);
    log.close();
  }
  expect(store.findReusable(key)).toEqual([idOf(2), idOf(0)]);
  expect(store.findReusable(other)).toEqual([idOf(3), idOf(1)]);
  const path = join(dataDir, 'index.jsonl');
  const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n');
  const hostile = [`{"reuseKey":"${key}"}`, `"reuseKey":"${key}"`, first.slice(0, -9)];
  writeFileSync(path, [...hostile, ...rest].join('\n'));
  expect(store.findReusable(key)).toEqual([idOf(2)]);
  // Resuming the task removes the key.
  store.claim(idOf(2)).append([{ type: 'task.resumed', by: 'user', callId: null }]);
  expect(store.list().find(({ id }) => id === idOf(2))?.reuseKey).toBeUndefined();
});

it('does not list tasks whose log is gone', () => {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast' });
  endTask(store, idOf(1));
  nodeFiles.unlink(join(dataDir, 'tasks', `${idOf(1)}.jsonl`));
  expect(store.list()).toEqual([]);
});

it('keeps the line of a task short', () => {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast' });
  const log = store.create(taskSpec(idOf(1), { description: '✓'.repeat(10_000) }));
  log.append([taskEnded()]);
  // 50 of them are in the last 64 kB of the index.
  expect(statSync(join(dataDir, 'index.jsonl')).size).toBeLessThan(1300);
});

it('withdraws a task whose log grew while a listing read it', () => {
  const dataDir = tempDir();
  const owner = openFileStore({ dataDir, durability: 'fast' });
  endTask(owner, idOf(1));
  const index = join(dataDir, 'index.jsonl');
  writeFileSync(index, '');
  let isResumed = false;
  const readAt = (fd: number, into: Uint8Array, position: number): number => {
    const count = nodeFiles.readAt(fd, into, position);
    if (count === 0 && !isResumed) {
      isResumed = true;
      const log = owner.claim(idOf(1));
      log.append([{ type: 'task.resumed', by: 'user', callId: null }]);
      log.close();
    }
    return count;
  };
  const store = openFileStore({ dataDir, durability: 'fast', files: { ...nodeFiles, readAt } });
  store.list();
  expect(store.list()).toMatchObject([{ id: idOf(1), status: 'interrupted' }]);
});

function locksFor(files: FilePort, directory: string): OwnerLocks {
  return new OwnerLocks(files, createProcessPort(), directory);
}

/** Binds the methods of a class to an object that can be spread. */
function bound(files: PowerLossFiles): FilePort {
  return {
    openNew: (path) => files.openNew(path),
    openAppend: (path) => files.openAppend(path),
    openRead: (path) => files.openRead(path),
    write: (fd, bytes) => files.write(fd, bytes),
    readAt: (fd, into, position) => files.readAt(fd, into, position),
    statOpen: (fd) => files.statOpen(fd),
    truncate: (fd, length) => files.truncate(fd, length),
    datasync: (fd) => files.datasync(fd),
    datasyncBlocking: (fd) => files.datasyncBlocking(fd),
    close: (fd) => files.close(fd),
    readFile: (path) => files.readFile(path),
    stat: (path) => files.stat(path),
    touch: (path) => files.touch(path),
    rename: (from, to) => files.rename(from, to),
    link: (from, to) => files.link(from, to),
    unlink: (path) => files.unlink(path),
    makeDirectory: (path) => files.makeDirectory(path),
    list: (path) => files.list(path),
    syncDirectory: (path) => files.syncDirectory(path),
  };
}

const STALE_LINES = 1200;

/** Writes an index in which two tasks have 1,200 lines. */
function staleIndex(): { files: PowerLossFiles; expected: ReadonlyMap<string, TaskSummary> } {
  const files = new PowerLossFiles();
  files.makeDirectory('/owners');
  const index = new TaskIndex(files, locksFor(files, '/owners'), '/index.jsonl');
  index.put(Array.from({ length: STALE_LINES }, (_, n) => summaryOf(n % 2, { turns: n })));
  return { files, expected: index.read().ended };
}

function compact(port: FilePort): void {
  const index = new TaskIndex(port, locksFor(port, '/owners'), '/index.jsonl');
  index.compactIfStale(index.read());
}

it('is compacted when most of it is out of date', () => {
  const { files, expected } = staleIndex();
  const port = bound(files);
  compact(port);
  const index = new TaskIndex(port, locksFor(port, '/owners'), '/index.jsonl');
  expect(index.read()).toEqual({ ended: expected, lines: 2 });
  expect(files.list('/').toSorted()).toEqual(['index.jsonl', 'owners']);
});

it('leaves a complete index if the process dies at any step of a compaction', () => {
  let isDone = false;
  for (let step = 0; !isDone; step += 1) {
    const { files, expected } = staleIndex();
    let count = 0;
    const dying = stepping(bound(files), () => {
      if (count === step) throw new Error('killed');
      count += 1;
    });
    try {
      compact(dying);
      isDone = true;
    } catch (thrown) {
      expect(thrown).toMatchObject({ message: 'killed' });
    }
    const index = new TaskIndex(bound(files), locksFor(files, '/owners'), '/index.jsonl');
    expect(index.read().ended).toEqual(expected);
  }
});

it('loses no line that another process adds at any step of a compaction', () => {
  let isDone = false;
  for (let step = 0; !isDone; step += 1) {
    const { files, expected } = staleIndex();
    const plain = bound(files);
    let count = 0;
    let isAdded = false;
    compact(
      stepping(plain, () => {
        if (count === step) {
          isAdded = true;
          new TaskIndex(plain, locksFor(plain, '/owners'), '/index.jsonl').put([summaryOf(7)]);
        }
        count += 1;
      }),
    );
    isDone = !isAdded;
    const index = new TaskIndex(plain, locksFor(plain, '/owners'), '/index.jsonl');
    const added = isAdded ? [[idOf(7), summaryOf(7)] as const] : [];
    expect(index.read().ended).toEqual(new Map([...expected, ...added]));
  }
});

it('loses no line of a process that had the old file open when it was replaced', () => {
  let isDone = false;
  for (let step = 0; !isDone; step += 1) {
    const { files, expected } = staleIndex();
    const plain = bound(files);
    let count = 0;
    let isCompacted = false;
    const slow = stepping(plain, () => {
      if (count === step) {
        isCompacted = true;
        compact(plain);
      }
      count += 1;
    });
    new TaskIndex(slow, locksFor(plain, '/owners'), '/index.jsonl').put([summaryOf(7)]);
    isDone = !isCompacted;
    const index = new TaskIndex(plain, locksFor(plain, '/owners'), '/index.jsonl');
    expect(index.read().ended).toEqual(new Map([...expected, [idOf(7), summaryOf(7)]]));
  }
});

/** Wraps the port so that `before` is called before each operation. */
function stepping(files: FilePort, before: () => void): FilePort {
  return new Proxy(files, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        before();
        return Reflect.apply(value, target, args);
      };
    },
  });
}

it('lists tasks even if the index cannot be written', () => {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast' });
  endTask(store, idOf(1));
  writeFileSync(join(dataDir, 'index.jsonl'), '');
  appendFileSync(join(dataDir, 'index.jsonl'), '\n');
  const refuse = (): number => {
    throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
  };
  const files = { ...nodeFiles, openAppend: refuse, openNew: refuse };
  const readOnly = openFileStore({ dataDir, durability: 'fast', files });
  expect(readOnly.list()).toMatchObject([{ id: idOf(1), status: 'completed' }]);
  expect(() => readOnly.create(taskSpec(idOf(2)))).toThrow(
    /EROFS.*read-only: choose another directory/,
  );
});

it('says nothing about a log whose process was killed before the first event', async () => {
  const dataDir = tempDir();
  const problems: unknown[] = [];
  const store = openFileStore({
    dataDir,
    durability: 'fast',
    onProblem: (problem) => problems.push(problem),
  });
  endTask(store, idOf(1));
  const path = join(dataDir, 'tasks', `${idOf(2)}.jsonl`);
  const [header = ''] = readFileSync(store.logPath(idOf(1)) ?? '', 'utf8').split('\n', 1);
  writeFileSync(path, `${header.replace(idOf(1), idOf(2))}\n`, { mode: 0o600 });
  expect(store.list().map(({ id }) => id)).toEqual([idOf(1)]);
  expect(problems).toEqual([]);
  await store.close();
});
