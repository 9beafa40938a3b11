import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type StoredTask, type StorePort, type TaskEvent } from '../../src/library.ts';
import { memoryStore, storeContract } from '../../src/testing/index.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { open } from './support.ts';

async function readLog(store: StorePort, id: string): Promise<readonly TaskEvent[]> {
  const events: TaskEvent[] = [];
  for await (const event of store.watch(id, { fromSeq: 0, follow: false })) events.push(event);
  return events;
}

function delegatingModel() {
  return createScriptedModel((request, index) =>
    index === 0
      ? {
          calls: [
            {
              name: 'Task',
              input: { description: 'look', prompt: 'Look.', subagent_type: 'Explore' },
            },
          ],
        }
      : { text: request.prefix.tools.some(({ name }) => name === 'Task') ? 'done' : 'found' },
  );
}

describe('a store of the program', () => {
  it('holds every event of every task, and its blobs, when the run has ended', async () => {
    const store = memoryStore();
    const muster = await open({ model: delegatingModel(), store });
    const run = muster.run('Delegate.');
    const seen = new Map<string, TaskEvent[]>();
    for await (const event of run) {
      if ('seq' in event) seen.set(event.task, [...(seen.get(event.task) ?? []), event]);
    }
    expect((await run).output).toBe('done');
    const tasks = await store.list(run.id);
    expect(tasks.map(({ parent }) => parent === null)).toEqual([true, false]);
    const stored = await Promise.all(tasks.map(async ({ id }) => await readLog(store, id)));
    expect(stored).toEqual(tasks.map(({ id }) => structuredClone(seen.get(id))));
    const hashes = JSON.stringify(stored).match(/\b[0-9a-f]{64}\b/g) ?? [];
    const contents = await Promise.all(hashes.map(async (hash) => await store.getBlob(hash)));
    expect(contents.some((content) => content !== null)).toBe(true);
  });

  it('lets another instance continue a conversation with all it knows', async () => {
    const store = memoryStore();
    const first = await open({ model: createScriptedModel([{ text: 'Noted.' }]), store });
    const { data } = await first.run('My name is Ada.');
    await first.close();
    const model = createScriptedModel([{ text: 'Ada.' }]);
    const second = await open({ model, store });
    expect((await second.resume(data.task_id, 'What is my name?')).output).toBe('Ada.');
    expect(JSON.stringify(model.requests)).toContain('My name is Ada.');
    const third = await open({ model: createScriptedModel([{ text: 'Bye.' }]), store });
    expect((await third.resume(data.task_id, 'Bye.')).output).toBe('Bye.');
    const events = await readLog(store, data.task_id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ type }) => type === 'task.claimed').map(({ epoch }) => epoch)).toEqual([
      1, 2, 3,
    ]);
  });

  it('is read for branches, reruns and events of tasks of other instances', async () => {
    const store = memoryStore();
    const first = await open({ model: delegatingModel(), store });
    const { data } = await first.run('Delegate.');
    await first.close();
    const second = await open({ model: createScriptedModel([{ text: 'else' }]), store });
    const events: TaskEvent[] = [];
    for await (const event of second.readEvents(data.task_id)) events.push(event);
    expect(events).toEqual(await readLog(store, data.task_id));
    expect((await second.rerun(data.task_id)).tasks.map(({ difference }) => difference)).toEqual([
      null,
      null,
    ]);
    const branch = await second.branch(data.task_id, { at: events.length - 1, prompt: 'Else?' });
    expect(branch.output).toBe('else');
    await expect(second.resume('a'.repeat(12), 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is read after the task was taken over, so that nothing of a living owner is lost', async () => {
    const good = memoryStore();
    const slow: StorePort = {
      ...good,
      async *watch(id, options) {
        await sleep(30);
        yield* good.watch(id, options);
      },
    };
    const model = createScriptedModel((_, index) => ({
      calls: [{ name: 'Glob', input: { pattern: `*${index}` } }],
      delayMs: 5,
    }));
    const first = await open({ model, store: slow });
    const run = first.run('Work.');
    for await (const event of run) if (event.type === 'turn.ended' && event.turn === 3) break;
    const second = await open({ model: createScriptedModel([{ text: 'mine' }]), store: slow });
    const [former, taken] = await Promise.all([run, second.resume(run.id, 'Say mine.')]);
    expect(taken.output).toBe('mine');
    expect(former).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('another owner') },
    });
    const events = await readLog(good, run.id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)?.type).toBe('task.ended');
  });

  it('stops a task whose stop was requested', async () => {
    const store = memoryStore();
    const model = createScriptedModel((_, index) => ({
      calls: [{ name: 'Glob', input: { pattern: `*${index}` } }],
    }));
    const muster = await open({ model, store });
    const run = muster.run('Work.');
    for await (const event of run) {
      if (event.type === 'turn.ended' && event.turn === 3) await store.requestCancel(run.id);
    }
    const { data } = await run;
    expect([data.status, data.receipt.endedBecause]).toEqual([
      'stopped',
      expect.stringContaining('its stop was requested in the store of the program'),
    ]);
  });

  it('interrupts the former owner of a task that was taken over, before it changes anything', async () => {
    const store = memoryStore();
    const notices: string[] = [];
    let executed = 0;
    const bump = defineTool({
      name: 'bump',
      description: 'Counts.',
      input: z.object({}),
      access: { writes: () => 'counter.txt' },
      run: () => {
        executed += 1;
        return 'ok';
      },
    });
    const model = createScriptedModel([{ calls: [{ name: 'bump', input: {} }] }, { text: 'done' }]);
    const muster = await open({
      model,
      store,
      tools: [bump],
      allow: ['bump'],
      onNotice: (line) => notices.push(line),
    });
    const run = muster.run('Work.');
    for await (const event of run) if (event.type === 'task.claimed') await store.claim(run.id);
    await Promise.allSettled([run]);
    expect(executed).toBe(0);
    expect(notices.join('\n')).toContain('another owner');
  });

  it('ends a task, which can be continued later, if the store fails', async () => {
    const good = memoryStore();
    const notices: string[] = [];
    let appends = 0;
    const store: StorePort = {
      ...good,
      async append(...args) {
        appends += 1;
        if (appends === 3) throw new Error('the database is gone');
        return await good.append(...args);
      },
    };
    const model = createScriptedModel((_, index) => ({
      calls: [{ name: 'Glob', input: { pattern: `*${index}` } }],
    }));
    const muster = await open({ model, store, onNotice: (line) => notices.push(line) });
    const run = muster.run('Work.');
    await Promise.allSettled([run]);
    await setImmediate();
    expect(notices.join('\n')).toContain('the database is gone');
    await muster.close();
    const next = await open({ model: createScriptedModel([{ text: 'finished' }]), store: good });
    expect((await next.resume(run.id)).output).toBe('finished');
  });
});

it.each([
  [
    'at the end of a task',
    (events: readonly TaskEvent[]) => events.some(({ type }) => type === 'task.ended'),
  ],
  ['always', () => true],
])('a store that fails %s makes the result an error', async (_name, fails) => {
  const good = memoryStore();
  const store: StorePort = {
    ...good,
    async append(id, epoch, events) {
      if (fails(events)) throw new Error('the database is gone');
      return await good.append(id, epoch, events);
    },
  };
  const muster = await open({ model: createScriptedModel([{ text: 'x' }]), store });
  const { status, error } = await muster.run('Say x.');
  expect({ status, error }).toMatchObject({
    status: 'error',
    error: { message: expect.stringContaining('the database is gone') },
  });
});

describe('the contract of stores', () => {
  for (const { name, run } of storeContract(() => memoryStore())) it(name, run);
});

/** Stores with one fault each, and the rule that finds it. */
const FAULTY: readonly (readonly [fault: string, rule: string, (good: StorePort) => StorePort])[] =
  [
    [
      'a second create empties the task',
      'a task is created once',
      (good) => ({ ...good, create: async (task) => await good.create(task).catch(() => {}) }),
    ],
    [
      'the epoch is not checked',
      'a former owner can append nothing',
      (good) => {
        const epochs = new Map<string, number>();
        return {
          ...good,
          async claim(id) {
            const claimed = await good.claim(id);
            epochs.set(id, claimed.epoch);
            return claimed;
          },
          append: async (id, _epoch, events) => await good.append(id, epochs.get(id) ?? 1, events),
        };
      },
    ],
    [
      'a claim is not counted before it is answered',
      'claims at the same time give different epochs',
      (good) => {
        const epochs = new Map<string, number>();
        return {
          ...good,
          async claim(id) {
            const epoch = (epochs.get(id) ?? 1) + 1;
            await setImmediate();
            epochs.set(id, epoch);
            await good.claim(id);
            return { epoch };
          },
        };
      },
    ],
    [
      'a repeated append fails',
      'a repeated append changes nothing',
      (good) => {
        const appended = new Set<string>();
        return {
          ...good,
          async append(id, epoch, events) {
            const key = `${id} ${events[0]?.seq}`;
            if (appended.has(key)) throw new Error('a duplicate key');
            appended.add(key);
            return await good.append(id, epoch, events);
          },
        };
      },
    ],
    [
      'events lose a byte order mark',
      'events are read as they were appended',
      (good) => ({
        ...good,
        async *watch(id, options) {
          for await (const event of good.watch(id, options))
            yield JSON.parse(JSON.stringify(event).replaceAll('\uFEFF', ''));
        },
      }),
    ],
    [
      'the start is ignored',
      'events are read from a number on',
      (good) => ({ ...good, watch: (id, options) => good.watch(id, { ...options, fromSeq: 0 }) }),
    ],
    [
      'following ends with the stored events',
      'whoever follows a task gets each event once and in order',
      (good) => ({
        ...good,
        watch: (id, options) => good.watch(id, { ...options, follow: false }),
      }),
    ],
    [
      'a stop is not reported',
      'a requested stop is reported to the owner',
      (good) => ({
        ...good,
        requestCancel: async (id) => void (await good.claim(id).catch(() => {})),
      }),
    ],
    [
      'an unknown task gives no events',
      'an unknown task is NOT_FOUND',
      (good) => ({
        ...good,
        async *watch(id, options) {
          try {
            yield* good.watch(id, options);
          } catch {
            // As a query without rows.
          }
        },
      }),
    ],
    [
      'all tasks are listed',
      'a tree is listed with its tasks',
      (good) => {
        const all: StoredTask[] = [];
        return {
          ...good,
          async create(task) {
            await good.create(task);
            all.push(task);
          },
          list: async () => all,
        };
      },
    ],
    [
      'a content is stored as text',
      'a content is stored byte for byte, and may be stored again',
      (good) => ({
        ...good,
        putBlob: async (hash, content) =>
          await good.putBlob(hash, Buffer.from(Buffer.from(content).toString())),
      }),
    ],
  ];

it.each(FAULTY)('the contract finds that %s', async (_fault, rule, spoil) => {
  const cases = storeContract(() => spoil(memoryStore()));
  const found = cases.find(({ name }) => name === rule);
  await expect(found?.run()).rejects.toThrow();
});
