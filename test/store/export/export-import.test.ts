import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFileStore } from '../../../src/store/file-store.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { taskEnded, taskSpec, turnEnded, warning } from '../fixture-data.ts';
import { collect, tempDir, tickingClock } from '../fixtures.ts';
import { PowerLossFiles } from '../power-loss-files.ts';
import { fakeProcesses } from '../fake-processes.ts';
import { readLog } from '../read-log.ts';

const ROOT = 'root00000001';
const CHILD = 'child0000001';
const LEAF = 'leaf00000001';
const LARGE = 'large ✓ '.repeat(40_000);

interface Opened {
  readonly dataDir: string;
  readonly store: TaskStore;
}

function open(): Opened {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'safe', clock: tickingClock() });
  onTestFinished(() => store.close());
  return { dataDir, store };
}

/** Creates a tree of three tasks, a task of another tree, and a child without a log. */
function makeTree({ store, dataDir }: Opened): void {
  const prefix = store.putBlob('shared prefix', { redact: false });
  const child = (id: string, parent: string, depth: number) =>
    taskSpec(id, { prefix, root: ROOT, parent, depth });
  const root = store.create(taskSpec(ROOT, { prefix }));
  root.append([
    { type: 'child.created', child: CHILD, callId: 'a', background: false },
    { type: 'child.created', child: 'neverbegan01', callId: 'b', background: false },
    { type: 'child.created', child: 'stranger0001', callId: 'c', background: false },
    { type: 'child.created', child: '../../../etc', callId: 'd', background: false },
  ]);
  const middle = store.create(child(CHILD, ROOT, 1));
  middle.append([
    { type: 'child.created', child: LEAF, callId: 'a', background: false },
    warning(LARGE),
  ]);
  const leaf = store.create(child(LEAF, CHILD, 2));
  leaf.append([turnEnded(), taskEnded(), warning('\u0010 strange \ud800')]);
  root.append([taskEnded()]);
  for (const log of [root, middle, leaf]) log.close();
  store.create(taskSpec('stranger0001')).close();
  store.appendOutput(CHILD, 'said ✓\n'.repeat(60_000));
  writeFileSync(store.createSpillFile(LEAF, 'call'), Buffer.from([0xff, 0x0a, 0x00, 0xfe]));
  writeFileSync(join(dataDir, 'tasks', `${ROOT}.damaged`), 'not exported');
}

/** Reads every file below a directory except locks and files that are created anew. */
function contents(dataDir: string): ReadonlyMap<string, string> {
  return new Map(
    ['tasks', 'blobs', 'spill'].flatMap((directory) =>
      readdirSync(join(dataDir, directory))
        .filter((name) => !/damaged|stranger|imported/.test(name))
        .map((name) => [
          `${directory}/${name}`,
          readFileSync(join(dataDir, directory, name), 'latin1'),
        ]),
    ),
  );
}

async function* inPieces(text: string, size: number): AsyncGenerator<string, void, undefined> {
  for (let start = 0; start < text.length; start += size) yield text.slice(start, start + size);
}

const exported = async (store: TaskStore, id = ROOT): Promise<string> =>
  (await collect(store.exportTree(id))).join('');

it('moves a tree to another data directory, byte for byte, wherever the text is split', async () => {
  const source = open();
  makeTree(source);
  const text = await exported(source.store);
  for (const size of [1000, 65_537, text.length]) {
    const target = open();
    expect(await target.store.importTree(inPieces(text, size))).toEqual([ROOT, CHILD, LEAF]);
    expect(contents(target.dataDir)).toEqual(contents(source.dataDir));
    for (const id of [ROOT, CHILD, LEAF]) {
      expect(readLog(target.store, id)).toEqual(readLog(source.store, id));
    }
    const expected = source.store.list().filter(({ id }) => id !== 'stranger0001');
    expect(target.store.list()).toEqual(expected);
    expect(target.store.claim(CHILD).epoch).toBe(2);
  }
});

it('exports a part of a tree as a tree', async () => {
  const source = open();
  makeTree(source);
  const target = open();
  const ids = await target.store.importTree(inPieces(await exported(source.store, CHILD), 5000));
  expect(ids).toEqual([CHILD, LEAF]);
  expect(target.store.list().map(({ id }) => id)).toEqual([LEAF, CHILD]);
});

it('leaves out damaged lines and torn tails', async () => {
  const source = open();
  makeTree(source);
  const before = readLog(source.store, LEAF).events;
  const path = source.store.logPath(LEAF) ?? '';
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(
    path,
    [...lines.slice(0, 2), 'damaged', ...lines.slice(2, -1), '{"torn'].join('\n'),
  );
  const target = open();
  await target.store.importTree(source.store.exportTree(ROOT));
  expect(readLog(target.store, LEAF)).toEqual({ events: before, problems: [] });
});

it('keeps a task with the same log, and refuses everything if one log differs', async () => {
  const source = open();
  makeTree(source);
  const target = open();
  await target.store.importTree(source.store.exportTree(CHILD));
  const held = target.store.claim(LEAF);
  held.close();
  const before = contents(target.dataDir);
  await expect(target.store.importTree(source.store.exportTree(ROOT))).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining(LEAF),
  });
  expect(contents(target.dataDir)).toEqual(before);
  await target.store.delete([LEAF]);
  await target.store.importTree(source.store.exportTree(ROOT));
  await target.store.importTree(source.store.exportTree(ROOT));
  expect(contents(target.dataDir)).toEqual(contents(source.dataDir));
});

describe('a malformed, incomplete or hostile file leaves nothing', () => {
  const lines = async (): Promise<readonly string[]> => {
    const source = open();
    makeTree(source);
    return (await exported(source.store)).trimEnd().split('\n');
  };

  async function refusal(text: string): Promise<string> {
    const { store, dataDir } = open();
    let message = 'imported';
    await store.importTree(inPieces(text, 10_000)).catch((thrown: unknown) => {
      expect(thrown).toMatchObject({ code: 'INVALID_PARAM' });
      message = String(thrown);
    });
    if (message !== 'imported') {
      const left = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).toSorted();
      expect(left.filter((name) => !name.startsWith('owners/'))).toEqual([
        'blobs',
        'former',
        'owners',
        'spill',
        'tasks',
      ]);
      expect(store.list()).toEqual([]);
    }
    return message;
  }

  it('cut after any line', async () => {
    const all = await lines();
    for (let count = 0; count < all.length; count += 1) {
      const text = all.slice(0, count).map((line) => `${line}\n`);
      expect(await refusal(text.join(''))).toContain('the file is incomplete');
      const half = all[count]?.slice(0, -1) ?? '';
      expect(await refusal([...text, half].join(''))).toContain(`line ${count + 1} of`);
    }
  });

  it('a line missing, doubled or misplaced', async () => {
    const all = await lines();
    for (let at = 0; at < all.length; at += 1) {
      // Lost content shows where it has a hash. A warning lost at the end of a log does not show.
      const kind = Object.keys(JSON.parse(all[at] ?? '{}'))[0];
      if (kind !== 'output' && kind !== 'spill' && kind !== 'blob' && kind !== 'log') {
        expect(await refusal(all.toSpliced(at, 1).join('\n'))).not.toBe('imported');
      }
      if (kind !== 'output' && kind !== 'spill') {
        expect(await refusal(all.toSpliced(at, 0, all[at] ?? '').join('\n'))).not.toBe('imported');
      }
    }
  });

  const task = (id: unknown): string => JSON.stringify({ task: id });
  it.each([
    ['no header', 0, '{}'],
    ['another format', 0, '{"format":"else","v":1,"root":"root00000001"}'],
    ['a newer version', 0, '{"format":"muster-export","v":2,"root":"root00000001"}'],
    ['a root that is not an id', 0, '{"format":"muster-export","v":1,"root":"../../../x"}'],
    ['an unknown field', 0, '{"format":"muster-export","v":1,"root":"root00000001","x":1}'],
    ['a task that is a path', 1, task('../../../x')],
    ['a task that is not text', 1, task(7)],
    ['another task', 1, task('other0000001')],
    ['an unknown kind', 1, '{"file":"/etc/passwd","text":"x"}'],
    ['a spill file that is a path', 4, '{"spill":"../../x","text":"x"}'],
    ['a blob that is a path', 4, '{"blob":"../../x","text":"x"}'],
    ['a blob with another content', 4, JSON.stringify({ blob: 'a'.repeat(64), text: 'x' })],
    ['an output with a path', 4, '{"output":"../../x","text":"x"}'],
    ['two contents', 4, '{"output":true,"text":"x","base64":"eA=="}'],
    ['invalid base64', 4, '{"output":true,"base64":"x"}'],
    ['a log line that contains two lines', 4, JSON.stringify({ log: '{}\n{}' })],
    ['a log line that is not an event', 4, JSON.stringify({ log: '{"a":1}' })],
    ['a list', 4, '[]'],
  ])('%s', async (_name, at, line) => {
    const all = await lines();
    expect(await refusal(all.with(at, line).join('\n'))).toMatch(/line \d+ of the exported tasks/);
  });

  it('an event that says it is in another tree', async () => {
    const all = await lines();
    const change = (from: string, to: string): string =>
      all.map((line) => (line.includes('task.created') ? line.replace(from, to) : line)).join('\n');
    const parent = String.raw`\"parent\":\"${CHILD}\"`;
    expect(await refusal(change(parent, parent.replace(CHILD, '../../../xyz')))).toContain('tree');
    const root = String.raw`\"root\":\"${ROOT}\"`;
    expect(await refusal(change(root, root.replace(ROOT, '../../../xyz')))).toContain('tree');
  });

  it('an endless line', async () => {
    const { store } = open();
    async function* endless(): AsyncGenerator<string, void, undefined> {
      for (;;) yield 'x'.repeat(10_000_000);
    }
    await expect(store.importTree(endless())).rejects.toThrow(
      'line 1 of the exported tasks is longer',
    );
  });

  it('a reader that fails', async () => {
    const all = await lines();
    const { store, dataDir } = open();
    async function* failing(): AsyncGenerator<string, void, undefined> {
      yield all.slice(0, 5).join('\n');
      throw Object.assign(new Error('EIO: read'), { code: 'EIO' });
    }
    await expect(store.importTree(failing())).rejects.toThrow('EIO');
    expect(readdirSync(join(dataDir, 'tasks'))).toEqual([]);
  });
});

it('leaves nothing if the disk is full at any point of an import, and no half task at any point of a deletion', async () => {
  const source = open();
  makeTree(source);
  const text = await exported(source.store, LEAF);
  const processes = fakeProcesses({ pid: 7 });
  let isDone = false;
  for (let room = 0; !isDone; room += 150) {
    const files = new PowerLossFiles();
    const store = openFileStore({ dataDir: '/data', durability: 'safe', files, processes });
    expect(store.token).not.toBe('');
    files.capacity = files.used + room;
    try {
      await store.importTree(inPieces(text, 1000));
      isDone = true;
    } catch (thrown) {
      expect(thrown).toMatchObject({ message: expect.stringContaining('ENOSPC') });
      const left = ['tasks', 'blobs', 'spill'].map((name) => files.list(`/data/${name}`));
      expect([left, files.openFiles]).toEqual([[[], [], []], 0]);
    }
    // Deletion needs space for a new index only, and works without it.
    files.capacity = files.used;
    if (isDone) await store.delete([LEAF]);
    expect([store.list(), files.list('/data/tasks')]).toEqual([[], []]);
  }
});

it('reports what it cannot export', async () => {
  const { store } = open();
  await expect(exported(store)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const memory = openMemoryStore();
  memory.create(taskSpec(ROOT));
  await expect(exported(memory)).rejects.toThrow('--no-log');
  await expect(memory.importTree(inPieces('x', 1))).rejects.toThrow('--no-log');
  expect(await memory.sweep({ endedBefore: 0, maxTasks: 1 })).toEqual([]);
  await memory.close();
});

it('distinguishes imported events from those logged here', async () => {
  const source = open();
  makeTree(source);
  const { store } = open();
  const ids = await store.importTree(inPieces(await exported(source.store), 5000));
  expect(ids.map((id) => [store.isImported(id), source.store.isImported(id)])).toEqual(
    ids.map(() => [true, false]),
  );
  for (const id of ids) {
    let last = -1;
    store.scan(id, ({ seq }) => void (last = seq));
    expect(store.importedUpTo(id)).toBe(last);
  }
  await store.delete(ids);
  expect(ids.map((id) => store.isImported(id))).toEqual(ids.map(() => false));
});
