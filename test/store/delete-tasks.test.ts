import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { FilePort } from '../../src/store/files/file-port.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { nodeFiles } from '../../src/store/files/node-files.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { taskEnded, taskSpec, warning } from './fixture-data.ts';
import { tempDir } from './fixtures.ts';
import { readLog } from './read-log.ts';

const ONE = 'task00000001';
const TWO = 'task00000002';
const large = (text: string): string => text.repeat(100_000);

function open(dataDir: string, files: FilePort = nodeFiles): TaskStore {
  const store = openFileStore({ dataDir, durability: 'safe', files });
  onTestFinished(() => store.close());
  return store;
}

/** Creates a task with every kind of file. */
function makeTask(store: TaskStore, id: string, own: string): void {
  const prefix = store.putBlob('shared by all');
  const log = store.create(taskSpec(id, { prefix, description: `about ${id}` }));
  log.append([warning(large(own)), warning(large('both'))]);
  store.appendOutput(id, `output of ${id}`);
  writeFileSync(store.createSpillFile(id, 'call'), 'spilled');
  log.append([taskEnded()]);
  log.close();
}

/** Reads all names and texts below a directory. */
function everything(directory: string): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path}\n${readFileSync(path, 'latin1')}` : path;
    })
    .join('\n');
}

it('removes all files of a task, and none of the others', async () => {
  const dataDir = tempDir();
  const writer = open(dataDir);
  makeTask(writer, ONE, 'only one');
  makeTask(writer, TWO, 'only two');
  writeFileSync(join(dataDir, 'tasks', `${ONE}.damaged`), 'line');
  writeFileSync(join(dataDir, 'tasks', `${ONE}.jsonl.abc.new`), 'draft');
  writeFileSync(join(dataDir, 'tasks', `${ONE}.lock.abcdefgh`), 'left by a dead one');
  writeFileSync(join(dataDir, 'index.jsonl.abc.new'), `draft about ${ONE}`);
  const before = readLog(writer, TWO);
  await writer.close();
  const first = open(dataDir);
  await first.delete([ONE]);
  await first.close();
  const left = everything(dataDir);
  expect(left).not.toContain(ONE);
  expect(left).not.toContain('only one');
  const store = open(dataDir);
  expect(readLog(store, TWO)).toEqual(before);
  expect(store.list()).toMatchObject([{ id: TWO, description: `about ${TWO}` }]);
  expect(readdirSync(join(dataDir, 'blobs'))).toHaveLength(3);
  await store.delete([TWO]);
  expect(readdirSync(join(dataDir, 'blobs'))).toEqual([]);
});

it('spares blobs that this store or another living one may be about to refer to', async () => {
  const dataDir = tempDir();
  const writer = open(dataDir);
  makeTask(writer, ONE, 'only one');
  makeTask(writer, TWO, 'only two');
  const other = open(dataDir);
  await other.delete([ONE]);
  await writer.delete([TWO]);
  expect(readdirSync(join(dataDir, 'blobs'))).toHaveLength(4);
  await writer.close();
  const old = (Date.now() - 2 * 3_600_000) / 1000;
  for (const name of readdirSync(join(dataDir, 'blobs'))) {
    utimesSync(join(dataDir, 'blobs', name), old, old);
  }
  const last = open(dataDir);
  const kept = last.putBlob(large('both'));
  await last.sweep({ endedBefore: 0, maxTasks: 1 });
  expect(readdirSync(join(dataDir, 'blobs'))).toEqual([kept]);
});

it('keeps a blob that is put while it is being removed', async () => {
  const dataDir = tempDir();
  const writer = open(dataDir);
  makeTask(writer, ONE, 'only one');
  await writer.close();
  const rival = open(dataDir);
  const rename = (from: string, to: string): void => {
    // The last moment at which the other store still finds the blob.
    if (to.endsWith('.gone')) rival.putBlob(large('only one'));
    nodeFiles.rename(from, to);
  };
  await open(dataDir, { ...nodeFiles, rename }).delete([ONE]);
  expect(rival.getBlob(rival.putBlob(large('only one')))).toBe(large('only one'));
  expect(readdirSync(join(dataDir, 'blobs')).filter((name) => name.endsWith('.gone'))).toEqual([]);
});

it('leaves a task complete or deleted if killed at any step, and the next deletion finishes it', async () => {
  let isDone = false;
  for (let step = 0; !isDone; step += 1) {
    const dataDir = tempDir();
    const writer = open(dataDir);
    makeTask(writer, ONE, 'only one');
    makeTask(writer, TWO, 'only two');
    const before = readLog(writer, ONE);
    await writer.close();
    let count = 0;
    let isDead = false;
    const dying = new Proxy(nodeFiles, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        const changes = ['rename', 'unlink', 'openNew', 'write', 'link', 'touch'];
        if (typeof value !== 'function' || !changes.includes(String(name))) return value;
        return (...args: unknown[]): unknown => {
          isDead ||= count === step;
          count += 1;
          if (isDead) throw new Error('killed');
          return Reflect.apply(value, target, args);
        };
      },
    });
    const victim = openFileStore({
      dataDir,
      durability: 'fast',
      files: dying,
      // Its locks belong to a process that is gone.
      processes: {
        self: () => ({ pid: 1, startTime: 1, bootId: 'before', host: 'here' }),
        startTime: () => undefined,
      },
    });
    try {
      await victim.delete([ONE]);
      isDone = true;
    } catch (thrown) {
      expect(String(thrown)).toContain('killed');
    }
    const next = open(dataDir);
    const whole = next.list().some(({ id }) => id === ONE);
    if (whole) expect(readLog(next, ONE)).toEqual(before);
    if (whole || !isDone) {
      await next.delete([ONE]).catch((thrown: unknown) => {
        expect(thrown).toMatchObject({ code: 'NOT_FOUND' });
      });
    }
    // The lock of a process that died at the very end.
    await next.sweep({ endedBefore: 0, maxTasks: 1 });
    expect(everything(join(dataDir, 'tasks'))).not.toContain(ONE);
    expect(everything(join(dataDir, 'spill'))).not.toContain(ONE);
    expect(readFileSync(join(dataDir, 'index.jsonl'), 'utf8')).not.toContain(ONE);
    expect(next.list()).toMatchObject([{ id: TWO }]);
    await next.close();
  }
});

it('a listing that read the log before its deletion leaves nothing about it in the index', async () => {
  const dataDir = tempDir();
  const writer = open(dataDir);
  makeTask(writer, ONE, 'only one');
  await writer.close();
  writeFileSync(join(dataDir, 'index.jsonl'), '');
  let isDeleted = false;
  const readAt = (fd: number, into: Uint8Array, position: number): number => {
    const count = nodeFiles.readAt(fd, into, position);
    if (count === 0 && !isDeleted) {
      isDeleted = true;
      nodeFiles.unlink(join(dataDir, 'tasks', `${ONE}.jsonl`));
    }
    return count;
  };
  open(dataDir, { ...nodeFiles, readAt }).list();
  expect(readFileSync(join(dataDir, 'index.jsonl'), 'utf8')).not.toContain(ONE);
});
