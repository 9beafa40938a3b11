import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { selectExpiredTrees, groupByTree } from '../../src/store/sweep.ts';
import type { FilePort } from '../../src/store/files/file-port.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { nodeFiles } from '../../src/store/files/node-files.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { taskEnded, taskSpec } from './fixture-data.ts';
import { tempDir } from './fixtures.ts';

const DAY = 86_400_000;
const NOW = 100 * DAY;

describe('selectExpiredTrees', () => {
  const trees = groupByTree([
    { id: 'a1', root: 'a1', lastActive: 5 },
    { id: 'b1', root: 'b1', lastActive: 1 },
    { id: 'a2', root: 'a1', lastActive: 2 },
    { id: 'c1', root: 'c1', lastActive: 3 },
    { id: 'd2', root: 'd1', lastActive: 4 },
    { id: 'e1', root: 'e1', lastActive: Number.POSITIVE_INFINITY },
  ]);
  it.each([
    [0, 9, []],
    [1, 9, []],
    [2, 9, ['b1']],
    [5, 9, ['b1', 'c1', 'd2']],
    [5, 2, ['b1', 'c1']],
    [9, 4, ['b1', 'c1', 'd2']],
    [9, 9, ['b1', 'c1', 'd2', 'a1', 'a2']],
    [9, 0, ['b1']],
  ])('before %i, at most %i', (endedBefore, maxTasks, ids) => {
    expect(
      selectExpiredTrees(trees, { endedBefore, maxTasks }).flatMap((tree) => tree.ids),
    ).toEqual(ids);
  });

  it('selects the first tree even if it is larger', () => {
    const large = groupByTree([1, 2, 3].map((n) => ({ id: `x${n}`, root: 'x1', lastActive: n })));
    expect(selectExpiredTrees(large, { endedBefore: 9, maxTasks: 1 })).toEqual(large);
  });
});

interface Opened {
  readonly store: TaskStore;
  readonly reads: string[];
}

/** Clock: `time.now`, in milliseconds. */
function open(dataDir: string, time: { now: number }): Opened {
  const reads: string[] = [];
  const files: FilePort = {
    ...nodeFiles,
    openRead: (path) => {
      reads.push(path);
      return nodeFiles.openRead(path);
    },
    readFile: (path) => {
      reads.push(path);
      return nodeFiles.readFile(path);
    },
  };
  const clock = { now: () => time.now, monotonic: () => time.now };
  const store = openFileStore({ dataDir, durability: 'fast', clock, files });
  onTestFinished(() => store.close());
  return { store, reads };
}

function end(store: TaskStore, id: string, root = id): void {
  const parent = root === id ? null : root;
  const log = store.create(taskSpec(id, { root, parent, depth: root === id ? 0 : 1 }));
  log.append([taskEnded()]);
  log.close();
}

const idOf = (n: number): string => `task${String(n).padStart(8, '0')}`;
const ids = (store: TaskStore): readonly string[] =>
  store
    .list()
    .map(({ id }) => id)
    .toSorted();

it('deletes the oldest trees in which every task has expired, a few at a time', async () => {
  const dataDir = tempDir();
  const time = { now: NOW };
  const { store } = open(dataDir, time);
  for (let n = 1; n <= 5; n += 1) {
    time.now = NOW + n * DAY;
    end(store, idOf(n));
  }
  // A recent child keeps the oldest tree, and a running tree is never deleted.
  end(store, idOf(11), idOf(1));
  const running = store.create(taskSpec(idOf(6)));
  const sweep = { endedBefore: NOW + 4.5 * DAY, maxTasks: 2 };
  expect(await store.sweep(sweep)).toEqual([idOf(2), idOf(3)]);
  expect(await store.sweep(sweep)).toEqual([idOf(4)]);
  expect(await store.sweep(sweep)).toEqual([]);
  expect(ids(store)).toEqual([idOf(1), idOf(5), idOf(6), idOf(11)]);
  expect(await store.sweep({ ...sweep, endedBefore: NOW + 6 * DAY })).toEqual([idOf(1), idOf(11)]);
  running.close();
});

it('judges the age of an interrupted task by its last write', async () => {
  const dataDir = tempDir();
  const time = { now: Date.now() };
  const { store } = open(dataDir, time);
  store.create(taskSpec(idOf(1))).close();
  store.create(taskSpec(idOf(2))).close();
  writeFileSync(join(dataDir, 'tasks', `${idOf(3)}.jsonl`), 'never begun');
  const old = (time.now - 9 * DAY) / 1000;
  for (const n of [1, 3]) utimesSync(join(dataDir, 'tasks', `${idOf(n)}.jsonl`), old, old);
  const swept = await store.sweep({ endedBefore: time.now - DAY, maxTasks: 9 });
  expect(swept.toSorted()).toEqual([idOf(1), idOf(3)]);
  expect(ids(store)).toEqual([idOf(2)]);
});

it('reads one small file while there is nothing to do, and checks again after a day or an import', async () => {
  const dataDir = tempDir();
  const time = { now: NOW };
  const { store, reads } = open(dataDir, time);
  for (let n = 1; n <= 50; n += 1) end(store, idOf(n));
  await store.sweep({ endedBefore: NOW - DAY, maxTasks: 9 });
  reads.length = 0;
  await store.sweep({ endedBefore: NOW - DAY, maxTasks: 9 });
  expect(reads).toEqual([join(dataDir, 'swept.json')]);
  time.now += 1.5 * DAY;
  reads.length = 0;
  await store.sweep({ endedBefore: NOW - DAY, maxTasks: 9 });
  // Once a day, all logs are searched for references to blobs, if there are any blobs.
  expect(reads.filter((path) => path.endsWith(`${idOf(1)}.jsonl`))).toEqual([]);
  expect(reads).toContain(join(dataDir, 'index.jsonl'));

  const source = open(tempDir(), { now: NOW - 9 * DAY }).store;
  end(source, idOf(77));
  await store.importTree(source.exportTree(idOf(77)));
  expect(await store.sweep({ endedBefore: NOW - DAY, maxTasks: 9 })).toEqual([idOf(77)]);
});

it('removes leftovers of killed processes', async () => {
  const dataDir = tempDir();
  const { store } = open(dataDir, { now: Date.now() });
  end(store, idOf(1));
  const old = Date.now() / 1000 - 2 * 86_400;
  const left = [
    `tasks/${idOf(1)}.jsonl.abc.new`,
    `tasks/${idOf(2)}.out`,
    `tasks/${idOf(3)}.damaged`,
    `blobs/${'a'.repeat(64)}.abc.new`,
    `blobs/${'b'.repeat(64)}`,
    `spill/${idOf(4)}-0123456789abcdef.txt`,
    'index.jsonl.abc.new',
    'owners/abcdefghijkl.new',
  ];
  for (const path of [...left, 'tasks/notes.txt', `tasks/${idOf(1)}.jsonl.young.new`]) {
    writeFileSync(join(dataDir, path), 'left');
  }
  const dead = { pid: 1, startTime: 1, bootId: 'another', host: 'here', token: 'deadbeefdead' };
  writeFileSync(join(dataDir, 'owners', dead.token), JSON.stringify(dead));
  for (const path of left) utimesSync(join(dataDir, path), old, old);
  await store.sweep({ endedBefore: 0, maxTasks: 9 });
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  for (const path of [...left, `owners/${dead.token}`]) expect(names).not.toContain(path);
  expect(names).toContain('tasks/notes.txt');
  expect(names).toContain(`tasks/${idOf(1)}.jsonl.young.new`);
  expect(ids(store)).toEqual([idOf(1)]);
});

it('deletes each tree once if two stores sweep at the same time', async () => {
  const dataDir = tempDir();
  const time = { now: NOW };
  const one = open(dataDir, time).store;
  const other = open(dataDir, time).store;
  for (let n = 1; n <= 40; n += 1) end(one, idOf(n), idOf(1 + 4 * Math.floor((n - 1) / 4)));
  const sweeps = Array.from({ length: 20 }, (_, n) =>
    (n % 2 === 0 ? one : other).sweep({ endedBefore: NOW + 1, maxTasks: 8 }),
  );
  const swept = (await Promise.all(sweeps)).flat();
  while (ids(one).length > 0)
    swept.push(...(await other.sweep({ endedBefore: NOW + 1, maxTasks: 8 })));
  expect(swept.toSorted()).toEqual(Array.from({ length: 40 }, (_, n) => idOf(n + 1)));
  expect(readdirSync(join(dataDir, 'tasks'))).toEqual([]);
});
