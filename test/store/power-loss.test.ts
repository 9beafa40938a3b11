import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { taskSpec, turnEnded, warning } from './fixture-data.ts';
import { PowerLossFiles } from './power-loss-files.ts';
import { fakeProcesses } from './fake-processes.ts';
import { readLog } from './read-log.ts';

const DATA_DIR = '/home/me/.local/share/muster';
const TASKS = `${DATA_DIR}/tasks`;
const LARGE = 'large '.repeat(20_000);

interface OpenOptions {
  readonly pid?: number;
  readonly boot?: string;
}

function open(files: PowerLossFiles, options: OpenOptions = {}): TaskStore {
  return openFileStore({
    dataDir: DATA_DIR,
    durability: 'safe',
    files,
    processes: fakeProcesses(
      { pid: options.pid ?? 7, bootId: options.boot ?? 'boot-1' },
      new Map([[7, 100]]),
    ),
  });
}

/** The acknowledged data, which must survive whatever happens. */
interface Acknowledged {
  readonly logs: Map<string, readonly TaskEvent[]>;
  readonly blobs: Map<string, string>;
  /** Paths of files of damaged lines. */
  readonly aside: string[];
}

interface Scene {
  readonly files: PowerLossFiles;
  readonly store: TaskStore;
  readonly seen: Acknowledged;
}

/** Steps that each end with an acknowledgement. The power is lost after one of them. */
const STEPS: readonly ((scene: Scene) => Promise<void>)[] = [
  async ({ store, seen }) => {
    const prefix = store.putBlob('system prompt', { redact: false });
    const log = store.create(taskSpec('first0000001', { prefix }));
    const events = [...log.opening, ...log.append([turnEnded()])];
    await log.sync();
    seen.blobs.set(prefix, 'system prompt');
    seen.logs.set(log.id, events);
    log.close();
  },
  async ({ files, store, seen }) => {
    const dead = open(files, { pid: 8 });
    dead.create(taskSpec('second000001'));
    const log = store.claim('second000001');
    const events = readLog(store, log.id).events;
    await log.sync();
    seen.logs.set(log.id, events);
  },
  async ({ store, seen }) => {
    const log = store.create(taskSpec('third0000001'));
    const events = [...log.opening, ...log.append([warning(LARGE)])];
    await log.sync();
    seen.logs.set(log.id, events);
  },
  async ({ files, store }) => {
    // Moves the damaged line to another file. Acknowledges nothing, and must lose nothing from before.
    const path = `${TASKS}/first0000001.jsonl`;
    files.write(files.openAppend(path), Buffer.from('damaged\n'));
    store.claim('first0000001').close();
  },
  async ({ store, seen }) => {
    const log = store.claim('first0000001');
    await log.sync();
    seen.logs.set(log.id, readLog(store, log.id).events);
    seen.aside.push(`${TASKS}/first0000001.damaged`);
  },
];

interface LossOptions {
  readonly withoutSync?: number;
  readonly keepNames?: boolean;
}

interface Loss {
  readonly missing: readonly string[];
  readonly syncs: readonly string[];
}

/** Runs the first `steps` steps and cuts the power. Returns the acknowledged data that is lost. */
async function loseAfter(steps: number, options: LossOptions = {}): Promise<Loss> {
  const { withoutSync, keepNames = false } = options;
  const files = new PowerLossFiles(withoutSync === undefined ? {} : { withoutSync });
  const store = open(files);
  const seen: Acknowledged = { logs: new Map(), blobs: new Map(), aside: [] };
  for (const step of STEPS.slice(0, steps)) await step({ files, store, seen });
  const syncs = [...files.syncs];
  files.losePower({ keepNames });
  return { missing: missingFrom(files, seen), syncs };
}

function missingFrom(files: PowerLossFiles, seen: Acknowledged): readonly string[] {
  const store = open(files, { boot: 'boot-2' });
  const missing: string[] = [];
  const check = (name: string, holds: () => boolean): void => {
    try {
      if (!holds()) missing.push(name);
    } catch {
      missing.push(name);
    }
  };
  for (const [id, events] of seen.logs) {
    check(id, () => startsWith(readLog(store, id).events, events));
    check(`${id} claimed`, () => store.claim(id).opening.length === 1);
  }
  for (const [hash, text] of seen.blobs) check(hash, () => store.getBlob(hash) === text);
  for (const path of seen.aside) check(path, () => files.readFile(path).length > 0);
  return missing;
}

function startsWith(events: readonly TaskEvent[], first: readonly TaskEvent[]): boolean {
  return JSON.stringify(events.slice(0, first.length)) === JSON.stringify(first);
}

const ALL = STEPS.map((_, index) => index + 1);

describe('after a power loss', () => {
  it.each(ALL)('keeps everything that was acknowledged (after %i steps)', async (steps) => {
    expect((await loseAfter(steps)).missing).toEqual([]);
    expect((await loseAfter(steps, { keepNames: true })).missing).toEqual([]);
  });

  it('needs every sync: without any one of them, something acknowledged is lost', async () => {
    const { syncs } = await loseAfter(STEPS.length);
    const needless: string[] = [];
    for (const [number, path] of syncs.entries()) {
      const losses = await Promise.all(
        ALL.flatMap((steps) => [
          loseAfter(steps, { withoutSync: number }),
          loseAfter(steps, { withoutSync: number, keepNames: true }),
        ]),
      );
      if (losses.every((loss) => loss.missing.length === 0)) needless.push(`${number} ${path}`);
    }
    expect(syncs.length).toBeGreaterThan(8);
    expect(needless).toEqual([]);
  });

  it('loses what was appended but not synced, and keeps the log undamaged', async () => {
    const files = new PowerLossFiles();
    const store = open(files);
    const log = store.create(taskSpec('first0000001'));
    await log.sync();
    log.append([warning('never acknowledged')]);
    files.losePower();
    expect(readLog(open(files), 'first0000001')).toEqual({ events: log.opening, problems: [] });
  });

  it('syncs nothing if durability is fast', async () => {
    const files = new PowerLossFiles();
    const store = openFileStore({ dataDir: '/data', durability: 'fast', files });
    store.putBlob('text');
    await store.create(taskSpec('first0000001')).sync();
    await store.close();
    expect(files.syncs).toEqual([]);
  });

  it('writes a blob again whose name survived without its content', () => {
    const files = new PowerLossFiles();
    const store = open(files);
    const hash = store.putBlob('content');
    const fd = files.openAppend(`${DATA_DIR}/blobs/${hash}`);
    files.truncate(fd, 0);
    files.close(fd);
    expect(() => store.getBlob(hash)).toThrow('damaged');
    expect(open(files).putBlob('content')).toBe(hash);
    expect(store.getBlob(hash)).toBe('content');
  });
});

describe('a sync that fails', () => {
  it('is final for its log, because the kernel may have dropped the bytes', async () => {
    const probe = new PowerLossFiles();
    await open(probe).create(taskSpec('first0000001')).sync();
    const number = probe.syncs.findIndex((path) => path.endsWith('.jsonl'));
    const files = new PowerLossFiles({ failingSync: number });
    const store = open(files);
    const log = store.create(taskSpec('first0000001'));
    const error = /cannot make durable .*first0000001\.jsonl: EIO/;
    await expect(log.sync()).rejects.toThrow(error);
    await expect(log.sync()).rejects.toThrow(error);
    expect(() => log.append([warning('x')])).toThrow(error);
    const other = store.create(taskSpec('second000001'));
    await other.sync();
    await store.close();
  });

  it('is final for all logs if the file is shared', async () => {
    const files = new PowerLossFiles({ failingSync: 0 });
    const store = open(files);
    const hash = store.putBlob('text');
    const log = store.create(taskSpec('first0000001'));
    await expect(log.sync()).rejects.toThrow(`blobs/${hash}: EIO`);
    await expect(store.create(taskSpec('second000001')).sync()).rejects.toThrow('EIO');
  });
});

describe('syncs of many logs', () => {
  it('share rounds: one sync for each log, one for the directory, and none for durable files', async () => {
    const files = new PowerLossFiles();
    const store = open(files);
    const ids = Array.from({ length: 50 }, (_, n) => `task${String(n).padStart(8, '0')}`);
    const logs = ids.map((id) => store.create(taskSpec(id)));
    await Promise.all(logs.flatMap((log) => [log.sync(), log.sync()]));
    await Promise.all(logs.map((log) => log.sync()));
    expect(files.syncs.filter((path) => path.endsWith('.jsonl'))).toHaveLength(50);
    expect(files.syncs.filter((path) => path === TASKS)).toHaveLength(1);
  });

  it('cover what was appended while a round was running', async () => {
    const files = new PowerLossFiles();
    const log = open(files).create(taskSpec('first0000001'));
    const first = log.sync();
    await Promise.resolve();
    const late = log.append([warning('late')]);
    await Promise.all([first, log.sync()]);
    files.losePower();
    expect(readLog(open(files), 'first0000001').events).toEqual([...log.opening, ...late]);
  });
});
