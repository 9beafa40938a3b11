import { LOG_VERSION } from '../../src/protocol/events/event.ts';
import { hostname } from 'node:os';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MusterError } from '../../src/base/errors.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { openMemoryStore } from '../../src/store/memory-store.ts';
import { createRedactor } from '../../src/store/redact/redactor.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { addUsage } from '../../src/protocol/model.ts';
import { taskEnded, taskSpec, turnEnded, warning, warnings } from './fixture-data.ts';
import { collect, tempDir, tickingClock } from './fixtures.ts';
import { readLog } from './read-log.ts';

const SECRET = 'hunter2-hunter2';
const ID = 'task00000001';

function common() {
  return { clock: tickingClock(), redact: createRedactor({ secrets: [SECRET] }) };
}

function closing(store: TaskStore): TaskStore {
  onTestFinished(() => store.close());
  return store;
}

const stores: readonly (readonly [string, () => TaskStore])[] = [
  ['files, safe', () => openFileStore({ dataDir: tempDir(), durability: 'safe', ...common() })],
  ['files, fast', () => openFileStore({ dataDir: tempDir(), durability: 'fast', ...common() })],
  [
    'files, one descriptor',
    () => openFileStore({ dataDir: tempDir(), durability: 'safe', maxDescriptors: 1, ...common() }),
  ],
  ['memory', () => openMemoryStore(common())],
];

function failure(run: () => unknown): MusterError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
  throw new Error('did not throw');
}

describe.each(stores)('task store: %s', (_name, open) => {
  it('stamps the opening events and every batch, and reads back what it returned', async () => {
    const store = closing(open());
    const spec = taskSpec(ID);
    const log = store.create(spec);
    const first = log.append([warning('a'), warning('b')]);
    const second = log.append([warning('c')]);
    await log.sync();
    const stamp = { v: LOG_VERSION, task: ID, epoch: 1 };
    const host = hostname();
    expect([...log.opening, ...first, ...second]).toEqual([
      { ...stamp, seq: 0, ts: 1001, type: 'task.created', spec },
      { ...stamp, seq: 1, ts: 1001, type: 'task.claimed', pid: process.pid, host },
      { ...stamp, seq: 2, ts: 1002, type: 'warning', message: 'a' },
      { ...stamp, seq: 3, ts: 1002, type: 'warning', message: 'b' },
      { ...stamp, seq: 4, ts: 1003, type: 'warning', message: 'c' },
    ]);
    expect(readLog(store, ID)).toEqual({
      events: [...log.opening, ...first, ...second],
      problems: [],
    });
    expect({ id: log.id, epoch: log.epoch }).toEqual({ id: ID, epoch: 1 });
  });

  it('appends nothing for an empty batch', () => {
    const log = closing(open()).create(taskSpec(ID));
    expect(log.append([])).toEqual([]);
  });

  it('streams the events from a number on', async () => {
    const store = closing(open());
    const log = store.create(taskSpec(ID));
    log.append([warning('a'), warning('b'), warning('c')]);
    expect(warnings(await collect(store.streamEvents(ID, 3)))).toEqual(['b', 'c']);
    expect(await collect(store.streamEvents(ID, 0))).toEqual(readLog(store, ID).events);
    expect(await collect(store.streamEvents(ID, 99))).toEqual([]);
  });

  it('gives a log to one owner at a time, each with a higher epoch', () => {
    const store = closing(open());
    const first = store.create(taskSpec(ID));
    const inUse = { code: 'CONFLICT', message: expect.stringContaining(`process ${process.pid}`) };
    expect(failure(() => store.claim(ID))).toMatchObject(inUse);
    expect(failure(() => store.create(taskSpec(ID)))).toMatchObject(inUse);
    first.close();
    first.close();
    const second = store.claim(ID);
    expect(second.opening).toMatchObject([{ type: 'task.claimed', epoch: 2, seq: 2 }]);
    expect(second.append([warning('on')])).toMatchObject([{ epoch: 2, seq: 3 }]);
    expect(failure(() => first.append([warning('late')])).message).toContain('closed');
    second.close();
    expect(failure(() => store.create(taskSpec(ID)))).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('already'),
    });
    expect(warnings(readLog(store, ID).events)).toEqual(['on']);
  });

  it('passes the earlier events of a log to a claim', () => {
    const store = closing(open());
    const log = store.create(taskSpec(ID));
    const before = [...log.opening, ...log.append([warning('a')])];
    log.close();
    const seen: unknown[] = [];
    const again = store.claim(ID, (event) => seen.push(event));
    expect(seen).toEqual(before);
    expect(again.opening).toMatchObject([{ type: 'task.claimed', epoch: 2, seq: 3 }]);
    again.close();
    const failing = (): void => {
      throw new RangeError('a bug');
    };
    expect(() => store.claim(ID, failing)).toThrow(RangeError);
    expect(store.getOwner(ID)).toBeNull();
  });

  it('knows which tasks exist and who owns them', () => {
    const store = closing(open());
    const { token } = store;
    expect(token).toMatch(/^[a-z0-9]{12}$/);
    expect([store.exists(ID), store.getOwner(ID)]).toEqual([false, null]);
    const log = store.create(taskSpec(ID));
    expect([store.exists(ID), store.getOwner(ID)]).toEqual([
      true,
      { pid: process.pid, host: hostname(), token },
    ]);
    log.close();
    expect([store.exists(ID), store.getOwner(ID), store.token]).toEqual([true, null, token]);
  });

  it('deletes tasks without an owner, all of them or none', async () => {
    const store = closing(open());
    for (const id of [ID, 'task00000002']) store.create(taskSpec(id)).close();
    const spill = store.createSpillFile(ID, 'call');
    const busy = store.create(taskSpec('task00000003'));
    await expect(store.delete([ID, busy.id])).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(store.delete([ID, 'nothere00000'])).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(store.delete(['../../etc'])).rejects.toMatchObject({ code: 'INVALID_PARAM' });
    expect(store.list()).toHaveLength(3);
    await store.delete([ID, ID]);
    expect(store.list().map(({ id }) => id)).toEqual(['task00000003', 'task00000002']);
    expect([store.exists(ID), existsSync(spill)]).toEqual([false, false]);
    expect(store.create(taskSpec(ID)).epoch).toBe(1);
  });

  it('refuses malformed ids and names unknown ones', () => {
    const store = closing(open());
    for (const id of ['../../etc', 'UPPER000', 'short', '', 'a'.repeat(33), 'task0000\n']) {
      for (const use of [
        () => readLog(store, id),
        () => store.claim(id),
        () => store.exists(id),
        () => store.getOwner(id),
        () => store.streamEvents(id, 0),
        () => store.create(taskSpec(id)),
        () => store.outputPath(id),
        () => store.appendOutput(id, 'x'),
        () => store.createSpillFile(id, 'call'),
        () => store.logPath(id),
      ]) {
        expect(failure(use).code).toBe('INVALID_PARAM');
      }
    }
    for (const use of [
      () => readLog(store, ID),
      () => store.claim(ID),
      () => store.streamEvents(ID, 0),
      () => store.appendOutput(ID, 'x'),
    ]) {
      expect(failure(use)).toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining(ID),
      });
    }
  });

  it('resolves unique prefixes, complete ids first, and names the candidates of an ambiguous one', () => {
    const store = closing(open());
    const many = ['ab000001', 'ab000002', 'ab000003', 'ab000004', 'ab000005', 'ab000006'];
    for (const id of [...many, 'ab0000011', 'cd000001']) store.create(taskSpec(id));
    expect(store.resolveId('c')).toBe('cd000001');
    expect(store.resolveId('ab000001')).toBe('ab000001');
    expect(failure(() => store.resolveId('ab'))).toMatchObject({
      code: 'INVALID_PARAM',
      message:
        '7 tasks begin with "ab": ab000001, ab0000011, ab000002, ab000003, ab000004 and 2 more; give more of the id',
    });
    expect(failure(() => store.resolveId('x')).code).toBe('NOT_FOUND');
    expect(failure(() => store.resolveId('../x')).code).toBe('NOT_FOUND');
    expect(failure(() => store.resolveId('')).code).toBe('INVALID_PARAM');
  });

  it('lists tasks from new to old, with the data from their events', () => {
    const store = closing(open());
    const done = store.create(taskSpec('done00000001'));
    done.append([{ type: 'task.started' }, turnEnded(), turnEnded({ costUsd: 0.5, model: 'a/b' })]);
    done.append([taskEnded('partial')]);
    done.close();
    store.create(taskSpec('queued000001', { description: 'x'.repeat(500) }));
    const run = store.create(taskSpec('running00001', { parent: 'done00000001', depth: 1 }));
    run.append([{ type: 'task.started' }, turnEnded({ costUsd: null }), turnEnded()]);
    store.create(taskSpec('broken000001')).close();
    const base = {
      parent: null,
      depth: 0,
      agent: 'Explore',
      description: 'find the parser',
      model: 'scripted/one',
      cwd: '/work',
      source: 'cli',
      ended: null,
      turns: 0,
      paidTokens: 0,
      costUsd: 0,
      ledger: [],
    };
    const answers = {
      day: '1970-01-01',
      isEstimated: false,
      answers: 1,
      usage: { input: 100, output: 20, cacheRead: 1000, cacheWrite: 5, reasoning: 7 },
      costUsd: 0.25,
      unpriced: 0,
      pricedBy: [],
    };
    expect(store.list({ withLedgers: true })).toEqual([
      { ...base, id: 'broken000001', root: 'broken000001', status: 'interrupted', created: 1007 },
      {
        ...base,
        id: 'running00001',
        root: 'running00001',
        parent: 'done00000001',
        depth: 1,
        status: 'running',
        model: 'scripted/two',
        created: 1005,
        turns: 2,
        paidTokens: 250,
        costUsd: null,
        ledger: [
          {
            ...answers,
            model: 'scripted/two',
            answers: 2,
            usage: addUsage(answers.usage, answers.usage),
            unpriced: 1,
          },
        ],
      },
      {
        ...base,
        id: 'queued000001',
        root: 'queued000001',
        description: 'x'.repeat(120),
        status: 'queued',
        created: 1004,
      },
      {
        ...base,
        id: 'done00000001',
        root: 'done00000001',
        status: 'partial',
        model: 'a/b',
        created: 1001,
        ended: 1003,
        turns: 2,
        paidTokens: 250,
        costUsd: 0.75,
        ledger: [
          { ...answers, model: 'scripted/two' },
          { ...answers, model: 'a/b', costUsd: 0.5 },
        ],
      },
    ]);
  });

  it('follows a task that was resumed after its end', () => {
    const store = closing(open());
    const statuses = (): readonly string[] => store.list().map((task) => task.status);
    const log = store.create(taskSpec(ID));
    log.append([taskEnded()]);
    expect(statuses()).toEqual(['completed']);
    log.close();
    expect(statuses()).toEqual(['completed']);
    const again = store.claim(ID);
    // A new owner alone does not undo the end.
    expect(statuses()).toEqual(['completed']);
    again.append([{ type: 'task.resumed', by: 'user', callId: null }]);
    expect(statuses()).toEqual(['queued']);
    again.append([{ type: 'task.started' }]);
    expect(statuses()).toEqual(['running']);
    again.close();
    expect(statuses()).toEqual(['interrupted']);
    store.claim(ID).append([taskEnded('stopped')]);
    expect(statuses()).toEqual(['stopped']);
  });

  it('stores texts under the hash of their content', () => {
    const store = closing(open());
    const text = 'prefix ✓ '.repeat(10_000);
    const hash = store.putBlob(text);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(store.putBlob(text)).toBe(hash);
    expect(store.getBlob(hash)).toBe(text);
    expect(failure(() => store.getBlob('f'.repeat(64))).code).toBe('NOT_FOUND');
    expect(failure(() => store.getBlob('../index')).code).toBe('INVALID_PARAM');
  });

  it('stores images and documents unchanged', () => {
    const store = closing(open());
    const bytes = Buffer.from([0, 255, ...Buffer.from(SECRET), 10, 128]);
    const hash = store.putAttachment(bytes);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(store.putAttachment(bytes)).toBe(hash);
    expect(store.getAttachment(hash)).toEqual(bytes);
    expect(store.getAttachment('f'.repeat(64))).toBeNull();
    expect(store.getAttachment('../index')).toBeNull();
  });

  it('redacts secrets in events and blobs, but not in a blob that must stay unchanged', () => {
    const store = closing(open());
    const log = store.create(taskSpec(ID, { prompt: `use ${SECRET}` }));
    const events = log.append([warning(`key ${SECRET}!`)]);
    expect(events).toMatchObject([{ message: 'key [redacted by Muster]!' }]);
    expect(readLog(store, ID).events).toEqual([...log.opening, ...events]);
    expect(JSON.stringify(readLog(store, ID))).not.toContain(SECRET);
    expect(store.getBlob(store.putBlob(`a ${SECRET}`))).toBe('a [redacted by Muster]');
    expect(store.getBlob(store.putBlob(`a ${SECRET}`, { redact: false }))).toBe(`a ${SECRET}`);
  });

  it('reads back large and strange strings unchanged', () => {
    const store = closing(open());
    const log = store.create(taskSpec(ID));
    const strange = [
      'y'.repeat(200_000),
      '\u0010blob:' + 'a'.repeat(64),
      '\u0010\u0010',
      '\ud800' + 'z'.repeat(70_000),
      JSON.stringify({ __proto__: 'x' }),
      '\u0000\u2028\n',
    ];
    log.append(strange.map(warning));
    expect(warnings(readLog(store, ID).events)).toEqual(strange);
    const input: unknown = JSON.parse(
      '{"__proto__":{"a":1},"constructor":"\u0010"}'.replace('\u0010', '\\u0010'),
    );
    const written = log.append([
      { type: 'call.started', callId: 'c', tool: 'Read', input: input as never },
    ]);
    expect(readLog(store, ID).events.at(-1)).toEqual(written[0]);
  });

  it('gives each call a private spill file of its own', () => {
    const store = closing(open());
    const path = store.createSpillFile(ID, '../../evil');
    expect(store.createSpillFile(ID, '../../evil')).toBe(path);
    expect(store.createSpillFile(ID, 'other')).not.toBe(path);
    expect(path).not.toContain('evil');
    writeFileSync(path, 'much');
    expect(readFileSync(store.createSpillFile(ID, '../../evil'), 'utf8')).toBe('much');
    expect(store.isTaskFile(ID, path)).toBe(true);
    expect(store.isTaskFile('someoneelse1', path)).toBe(false);
    expect(store.isTaskFile(ID, '/etc/passwd')).toBe(false);
  });

  it('appends to the output file if there is one', () => {
    const store = closing(open());
    const log = store.create(taskSpec(ID));
    store.appendOutput(ID, 'one\n');
    store.appendOutput(ID, `${SECRET}\n`);
    log.close();
    const path = store.outputPath(ID);
    if (path !== null) expect(readFileSync(path, 'utf8')).toBe('one\n[redacted by Muster]\n');
  });

  it('gives up all logs on close', async () => {
    const store = open();
    const log = store.create(taskSpec(ID));
    const spill = store.createSpillFile(ID, 'call');
    await store.close();
    await store.close();
    expect(store.list()).toMatchObject([{ id: ID, status: 'interrupted' }]);
    expect(existsSync(spill)).toBe(store.logPath(ID) !== null);
    expect(() => log.append([warning('late')])).toThrow('closed');
  });
});
