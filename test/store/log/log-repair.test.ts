import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOG_VERSION, type TaskEvent } from '../../../src/protocol/events/event.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { PowerLossFiles } from '../power-loss-files.ts';
import { fakeProcesses } from '../fake-processes.ts';
import { taskEnded, taskSpec, turnEnded, warning, warnings } from '../fixture-data.ts';
import { collect, tempDir, tickingClock } from '../fixtures.ts';
import { readLog } from '../read-log.ts';

const ID = 'task00000001';

interface Written {
  readonly dataDir: string;
  readonly path: string;
  readonly lines: readonly string[];
  readonly events: readonly TaskEvent[];
}

/** Writes a log with one line of each relevant kind, and closes it. */
async function writeLog(): Promise<Written> {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'fast', clock: tickingClock() });
  const log = store.create(taskSpec(ID));
  log.append([warning('one ✓'), turnEnded()]);
  log.append([warning('two'), taskEnded()]);
  await store.close();
  const path = join(dataDir, 'tasks', `${ID}.jsonl`);
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return { dataDir, path, lines, events: readLog(store, ID).events };
}

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

describe('a log that was cut off', () => {
  it('loads all complete lines, and a new owner continues after them, whatever the byte', async () => {
    const { path, events } = await writeLog();
    const bytes = readFileSync(path);
    let loaded = 0;
    for (let length = 0; length <= bytes.length; length += 1) {
      const prefix = bytes.subarray(0, length);
      const whole = prefix.filter((byte) => byte === 0x0a).length;
      const files = new PowerLossFiles();
      const processes = fakeProcesses({ pid: 7 });
      const store = openFileStore({ dataDir: '/data', durability: 'fast', files, processes });
      const fd = files.openNew(`/data/tasks/${ID}.jsonl`);
      files.write(fd, prefix);
      const expected = events.slice(0, Math.max(0, whole - 1));
      const isTorn = length > 0 && prefix[length - 1] !== 0x0a;
      const read = readLog(store, ID);
      expect(read.events).toEqual(expected);
      expect(read.problems.map((problem) => problem.code)).toEqual(isTorn ? ['torn_tail'] : []);
      if (whole < 2) {
        expect(() => store.claim(ID)).toThrow('specification is missing');
        expect(store.list()).toEqual([]);
      } else {
        expect(store.claim(ID).opening).toMatchObject([{ seq: expected.length, epoch: 2 }]);
        const repaired = readLog(store, ID);
        expect(repaired.problems).toEqual([]);
        expect(repaired.events.slice(0, -1)).toEqual(expected);
        loaded += 1;
      }
    }
    expect(loaded).toBeGreaterThan(500);
  });
});

describe('damage in the middle of a log', () => {
  const damages: readonly (readonly [string, (line: string) => string])[] = [
    ['no JSON', (line) => line.slice(0, -5)],
    ['zeros', (line) => '\0'.repeat(line.length)],
    ['another task', (line) => line.replace(ID, 'task00000002')],
    ['an unknown type', (line) => line.replace('"warning"', '"wurning"')],
    ['no object', () => '[1,2]'],
    ['empty', () => ''],
    ['a repeated number', (line) => line.replace('"seq":2', '"seq":1')],
  ];

  it.each(damages)(
    '%s: the rest loads, and the line is moved to another file with a warning',
    async (_name, damage) => {
      const { dataDir, path, lines, events } = await writeLog();
      const changed = lines.map((line, index) => (index === 3 ? damage(line) : line));
      writeFileSync(path, text(changed));
      const rest = events.filter((event) => event.seq !== 2);
      const store = openFileStore({ dataDir, durability: 'safe' });
      expect(readLog(store, ID)).toEqual({
        events: rest,
        problems: [
          {
            code: 'damaged',
            line: 4,
            message: expect.stringMatching(/^the line .*: event 2 is lost( \(warning\))?$/),
          },
        ],
      });
      expect(await collect(store.streamEvents(ID, 0))).toEqual(rest);

      const log = store.claim(ID);
      const aside = join(dataDir, 'tasks', `${ID}.damaged`);
      expect(log.opening).toMatchObject([
        { type: 'task.claimed', epoch: 2, seq: 6 },
        { type: 'warning', message: expect.stringContaining(`${aside}: line 4: the line `) },
      ]);
      expect(readFileSync(aside, 'utf8')).toBe(`${changed[3]}\n`);
      expect(statSync(aside).mode & 0o777).toBe(0o600);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      await log.sync();
      expect(readLog(store, ID)).toEqual({
        events: [...rest, ...log.opening],
        problems: [
          { code: 'missing', line: 4, message: expect.stringContaining('event 2 is lost') },
        ],
      });
      await store.close();
    },
  );

  it('treats invalid UTF-8 as damage, not as other characters', async () => {
    const { dataDir, path, lines } = await writeLog();
    const bytes = Buffer.from(text(lines));
    bytes[bytes.indexOf('✓')] = 0xff;
    writeFileSync(path, bytes);
    const { events, problems } = readLog(openFileStore({ dataDir, durability: 'fast' }), ID);
    expect(warnings(events)).toEqual(['two']);
    expect(problems).toMatchObject([{ code: 'damaged', line: 4 }]);
  });

  it('moves damaged lines a second time, and a torn tail with them', async () => {
    const { dataDir, path } = await writeLog();
    const store = openFileStore({ dataDir, durability: 'fast' });
    for (const junk of ['first\n', 'second\n{"v":']) {
      appendFileSync(path, junk);
      store.claim(ID).close();
    }
    const aside = readFileSync(join(dataDir, 'tasks', `${ID}.damaged`), 'utf8');
    expect(aside).toBe('first\nsecond\n');
    expect(readLog(store, ID).problems).toEqual([]);
  });

  it('ignores lines of an owner that had lost the log', async () => {
    const { dataDir, path, lines } = await writeLog();
    const store = openFileStore({ dataDir, durability: 'fast' });
    store.claim(ID).close();
    appendFileSync(path, `${(lines[3] ?? '').replace('"seq":2', '"seq":7')}\n`);
    expect(readLog(store, ID).problems).toMatchObject([{ code: 'fenced', line: 9 }]);
    expect(store.claim(ID).opening).toMatchObject([{ epoch: 3, seq: 7 }, { type: 'warning' }]);
  });

  it('keeps a log whose specification is damaged, but cannot continue it', async () => {
    const { dataDir, path, lines } = await writeLog();
    const damaged = text(lines.map((line, index) => (index === 1 ? 'broken' : line)));
    writeFileSync(path, damaged);
    const store = openFileStore({ dataDir, durability: 'fast' });
    expect(() => store.claim(ID)).toThrow(/specification is missing or damaged in .*task00000001/);
    expect(readFileSync(path, 'utf8')).toBe(damaged);
    expect(existsSync(join(dataDir, 'tasks', `${ID}.lock`))).toBe(false);
    expect(readLog(store, ID).events).toHaveLength(5);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'keeps every line if the disk is full at step %i of the repair',
    async (step) => {
      const { lines } = await writeLog();
      const whole = text([...lines.slice(0, 3), 'damaged', ...lines.slice(3)]);
      const files = new PowerLossFiles();
      const processes = fakeProcesses({ pid: 7 });
      const store = openFileStore({ dataDir: '/data', durability: 'fast', files, processes });
      store.create(taskSpec('other0000001'));
      files.write(files.openNew(`/data/tasks/${ID}.jsonl`), Buffer.from(whole));
      files.capacity = files.used + step * 300;
      try {
        store.claim(ID).close();
      } catch (thrown) {
        expect(thrown).toMatchObject({ message: expect.stringContaining('ENOSPC') });
      }
      files.capacity = Number.POSITIVE_INFINITY;
      expect(readLog(store, ID).events.slice(0, 6)).toHaveLength(6);
      store.claim(ID).close();
      expect(files.readFile(`/data/tasks/${ID}.damaged`).toString()).toContain('damaged\n');
      expect(files.list('/data/tasks').filter((name) => name.endsWith('.new'))).toEqual([]);
    },
  );
});

describe('versions', () => {
  it.each([0, 1])('refuses a newer log (line %i), and lists the others', async (index) => {
    const { dataDir, path, lines } = await writeLog();
    writeFileSync(
      path,
      text(
        lines.map((line, at) =>
          at === index ? line.replace(`"v":${LOG_VERSION}`, `"v":${LOG_VERSION + 1}`) : line,
        ),
      ),
    );
    const store = openFileStore({ dataDir, durability: 'fast' });
    store.create(taskSpec('other0000001'));
    const refusal = new RegExp(
      `task00000001 was logged by a newer Muster \\(log version ${LOG_VERSION + 1}.*update Muster`,
    );
    expect(() => readLog(store, ID)).toThrow(refusal);
    expect(() => store.claim(ID)).toThrow(refusal);
    await expect(collect(store.streamEvents(ID, 0))).rejects.toThrow(refusal);
    writeFileSync(join(dataDir, 'index.jsonl'), '');
    expect(store.list().map((task) => task.id)).toEqual(['other0000001']);
  });

  it.each([
    ['no agent', {}],
    ['an agent without a name', { agent: { prompt: 'Do it.' } }],
    ['an empty name', { agent: { name: '' } }],
    ['an agent that is a word', { agent: 'Explore' }],
  ])('an older log with %s and no header loads as general-purpose', (_name, agent) => {
    const { agent: _, ...spec } = taskSpec(ID);
    const stamp = { v: 0, seq: 0, ts: 5, task: ID, epoch: 1 };
    const line = JSON.stringify({ ...stamp, type: 'task.created', spec: { ...spec, ...agent } });
    const dataDir = tempDir();
    const store = openFileStore({ dataDir, durability: 'fast' });
    writeFileSync(join(dataDir, 'tasks', `${ID}.jsonl`), `${line}\n`);
    const { events, problems } = readLog(store, ID);
    expect(problems).toEqual([]);
    expect(events).toMatchObject([{ v: 0, spec: { id: ID, agent: { name: 'general-purpose' } } }]);
  });
});

describe('a line of more than 32 MiB', () => {
  const LIMIT = 32 * 1024 * 1024;

  it('is not written', async () => {
    const store = openFileStore({ dataDir: tempDir(), durability: 'fast' });
    const log = store.create(taskSpec(ID));
    const input = Array.from({ length: 2200 }, () => 'x'.repeat(16_000));
    const call = { type: 'call.started', callId: 'c', tool: 'Read', input } as const;
    expect(() => log.append([call])).toThrow(`the limit is ${LIMIT}`);
    expect(log.append([warning('on')])).toMatchObject([{ seq: 2 }]);
    await store.close();
  });

  it('counts as damage and is moved completely', async () => {
    const { dataDir, path, events } = await writeLog();
    appendFileSync(path, Buffer.alloc(LIMIT, 'x'));
    appendFileSync(path, '\n');
    const store = openFileStore({ dataDir, durability: 'fast' });
    expect(readLog(store, ID)).toMatchObject({
      events: { length: events.length },
      problems: [{ code: 'damaged', message: expect.stringContaining('is longer than') }],
    });
    store.claim(ID).close();
    expect(statSync(join(dataDir, 'tasks', `${ID}.damaged`)).size).toBe(LIMIT + 1);
    expect(readLog(store, ID).problems).toEqual([]);
  });
});

describe('streaming', () => {
  it('reads lines longer than a chunk, and closes the file if the reader stops early', async () => {
    const files = new PowerLossFiles();
    const processes = fakeProcesses({ pid: 7 });
    const store = openFileStore({ dataDir: '/data', durability: 'fast', files, processes });
    const log = store.create(taskSpec(ID));
    const long = Array.from({ length: 60_000 }, (_, n) => `item ${n}`);
    log.append([
      { type: 'call.started', callId: 'c', tool: 'Read', input: long },
      warning('after'),
    ]);
    expect(await collect(store.streamEvents(ID, 0))).toEqual(readLog(store, ID).events);
    const open = files.openFiles;
    for await (const event of store.streamEvents(ID, 0)) if (event.seq === 1) break;
    expect(files.openFiles).toBe(open);
  });
});
