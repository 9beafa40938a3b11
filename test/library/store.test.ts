import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type StorePort, type TaskEvent } from '../../src/library.ts';
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
    await run.then(
      () => {},
      () => {},
    );
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
    await run.then(
      () => {},
      () => {},
    );
    await setImmediate();
    expect(notices.join('\n')).toContain('the database is gone');
    await muster.close();
    const next = await open({ model: createScriptedModel([{ text: 'finished' }]), store: good });
    expect((await next.resume(run.id)).output).toBe('finished');
  });
});

describe('the contract of stores', () => {
  for (const { name, run } of storeContract(() => memoryStore())) it(name, run);
});
