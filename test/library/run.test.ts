import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/events.ts';
import { z } from 'zod';
import type { StandardSchema } from '../../src/library.ts';
import { manualClock, recordLog } from '../../src/testing/index.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { makeDirectory, open } from './support.ts';

const USAGE = { input: 10, output: 5 };

describe('a run', () => {
  it('has one budget for all of its messages, and for a continuation one of its own', async () => {
    const model = createScriptedModel(() => ({ text: 'ok', usage: USAGE }));
    const muster = await open({ model });
    const messages = async function* () {
      for (let n = 0; n < 20; n += 1) {
        yield `message ${n}`;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const result = await muster.run(messages(), { budget: { turns: 3 } });
    expect({ status: result.status, error: result.error, turns: result.data.turns }).toEqual({
      status: 'partial',
      error: {
        code: 'LIMIT_EXCEEDED',
        message: 'the budget of the run is used up (turns: 3), so its next message was not sent',
        retryable: false,
      },
      turns: 3,
    });
    const calling = createScriptedModel((_, index) => ({
      calls: [{ name: 'Glob', input: { pattern: `*${index}` } }],
      usage: USAGE,
    }));
    const other = await open({ model: calling });
    const first = await other.run('Go.', { budget: { turns: 2 } });
    const resumed = await other.resume(first.data.task_id, 'Go on.', { budget: { turns: 3 } });
    const branched = await other.branch(first.data.task_id, { at: 5, budget: { turns: 1 } });
    expect([first, resumed, branched].map(({ status }) => status)).toEqual([
      'partial',
      'partial',
      'partial',
    ]);
    expect(resumed.data.turns - first.data.turns).toBeLessThanOrEqual(4);
  });

  it.each([
    ['negative', -1e9],
    ['no number', Number.NaN],
    ['no end', Number.POSITIVE_INFINITY],
  ])('gets no budget back from a usage with %s', async (_name, input) => {
    const { stream } = createScriptedModel((_, index) => ({
      calls: [{ name: 'Glob', input: { pattern: `*${index}${'x'.repeat(4000)}` } }],
    }));
    let requests = 0;
    const muster = await open({
      model: {
        async *stream(request, signal) {
          requests += 1;
          for await (const part of stream(request, signal))
            yield part.type === 'finished' ? { ...part, usage: { ...part.usage, input } } : part;
        },
      },
    });
    const { status } = await muster.run('Go.', { budget: { tokens: 30_000, turns: 40 } });
    expect(status).toBe('partial');
    expect(requests).toBeLessThan(30);
  });

  it('works in a worktree, or says why there is none', async () => {
    const cwd = makeDirectory();
    const git = (...args: string[]) => execFileSync('git', args, { cwd, stdio: 'ignore' });
    writeFileSync(join(cwd, 'a.txt'), 'a\n');
    git('init', '-q');
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'first');
    const model = () =>
      createScriptedModel([
        { calls: [{ name: 'Write', input: { file_path: 'new.txt', content: 'new\n' } }] },
        { text: 'done' },
      ]);
    const muster = await open({
      cwd,
      dataDir: makeDirectory(),
      model: model(),
      mode: 'acceptEdits',
    });
    const { data } = await muster.run('Write.', { worktree: true });
    expect(data.workspace).toMatchObject({ kind: 'worktree', source: cwd });
    expect(existsSync(join(cwd, 'new.txt'))).toBe(false);
    const without = await open({ cwd, model: model() });
    await expect(without.run('Write.', { worktree: true })).rejects.toThrow(/^worktree: /);
    const isolated = { description: 'd', prompt: 'p', isolation: 'worktree' } as const;
    const third = await open({ cwd, model: model(), agents: { isolated } });
    await expect(third.run('Write.', { agent: 'isolated' })).rejects.toThrow(/^worktree: /);
  });

  it('takes the times of its log and result from the clock of the program', async () => {
    const clock = manualClock();
    const model = createScriptedModel((_, index) => {
      clock.advance(1000);
      return index === 0 ? { calls: [{ name: 'LS', input: { path: '.' } }] } : { text: 'ok' };
    });
    const muster = await open({ model, clock });
    const { events } = await recordLog(muster.run('Go.'));
    const start = Date.UTC(2026, 0, 1);
    expect([...new Set(events.map(({ ts }) => (ts - start) / 1000))]).toEqual([0, 1, 2]);
    expect(events.filter(({ type }) => type === 'turn.ended')).toMatchObject([
      { ms: 1000 },
      { ms: 1000 },
    ]);
    expect(events.some((event) => 'clockShift' in event)).toBe(false);
  });

  it('gives the envelope with the answer as its output', async () => {
    const muster = await open({ model: createScriptedModel([{ text: 'four', usage: USAGE }]) });
    const run = muster.run('How many?');
    const result = await run;
    expect({ id: result.data.task_id, output: result.output, status: result.status }).toEqual({
      id: run.id,
      output: 'four',
      status: 'success',
    });
  });

  it('yields every event of its tree in order, and with deltas the pieces of answers', async () => {
    const model = createScriptedModel((request, index) =>
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
    const muster = await open({ model });
    const run = muster.run('Delegate.', { deltas: true });
    const events: string[] = [];
    for await (const event of run) {
      if (event.type === 'text_delta') events.push(`delta ${event.text}`);
      else if (event.type === 'task.created' || event.type === 'task.ended')
        events.push(`${event.type} ${event.task === run.id ? 'main' : 'child'}`);
    }
    expect(events).toEqual([
      'task.created main',
      'task.created child',
      'delta found',
      'task.ended child',
      'delta done',
      'task.ended main',
    ]);
    expect((await run).output).toBe('done');
  });

  it('gives the value of a schema with its transformations, or null and the reasons', async () => {
    const model = createScriptedModel([
      { text: '{"day":"2026-01-02"}' },
      { text: '{"day":"never"}' },
    ]);
    const muster = await open({ model });
    const outputSchema = z.object({
      day: z.string().refine((day) => day.startsWith('20'), 'must be a day of this century'),
    });
    const good = await muster.run('When?', { outputSchema });
    const bad = await muster.run('When?', { outputSchema });
    expect([good.output, bad.output, bad.outputIssues]).toEqual([
      { day: '2026-01-02' },
      null,
      ['day: must be a day of this century'],
    ]);
  });

  it.each<[string, (value: unknown) => unknown, object]>([
    ['answers later', async (value) => ({ value }), { output: { day: 1 } }],
    [
      'answers with a promise of another library',
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- that is what is tested
        then: (onDone: (result: object) => void) => onDone({ issues: [{ message: 'no' }] }),
      }),
      { output: null, outputIssues: ['no'] },
    ],
    [
      'throws',
      () => {
        throw new Error('boom');
      },
      { output: null, outputIssues: ['run: outputSchema could not check the answer: boom'] },
    ],
    [
      'rejects',
      () => Promise.reject(new Error('later')),
      { output: null, outputIssues: ['run: outputSchema could not check the answer: later'] },
    ],
    [
      'returns nothing',
      () => undefined,
      {
        output: null,
        outputIssues: [expect.stringContaining('run: outputSchema could not check the answer: ')],
      },
    ],
  ])('keeps the result of the work if its schema %s', async (_how, validate, expected) => {
    const muster = await open({ model: createScriptedModel([{ text: '{"day":1}' }]) });
    const jsonSchema = { input: () => ({ type: 'object' }) };
    const outputSchema = { '~standard': { version: 1, vendor: 'own', validate, jsonSchema } };
    const { output, outputIssues, status, data } = await muster.run('When?', {
      outputSchema: outputSchema as StandardSchema,
    });
    expect({ output, outputIssues, status, structured: data.structured }).toEqual({
      ...expected,
      status: 'success',
      structured: { day: 1 },
    });
  });

  it('ends at each limit of its budget, which the result names', async () => {
    const model = createScriptedModel(() => ({
      calls: [{ name: 'LS', input: { path: '.' } }],
      usage: { input: 1000, output: 100 },
    }));
    const muster = await open({ model });
    const turns = await muster.run('Go on.', { budget: { turns: 2 } });
    const tokens = await muster.run('Go on.', { budget: { tokens: 3000 } });
    expect([turns.status, turns.error?.code, tokens.status, tokens.error?.code]).toEqual([
      'partial',
      'LIMIT_EXCEEDED',
      'partial',
      'LIMIT_EXCEEDED',
    ]);
    expect(turns.data.receipt.endedBecause).toContain('max_turns');
    expect(tokens.data.receipt.endedBecause).toContain('max_tokens');
  });

  it('stops when its signal aborts, when it is stopped, and at the end of its scope', async () => {
    const muster = await open({
      model: createScriptedModel(() => ({ text: 'x', delayMs: 60_000 })),
    });
    const controller = new AbortController();
    const aborted = muster.run('Wait.', { signal: controller.signal });
    for await (const event of aborted) if (event.type === 'turn.started') controller.abort();
    const stopped = muster.run('Wait.');
    await stopped.stop('enough');
    let scoped;
    {
      await using run = muster.run('Wait.');
      scoped = run;
    }
    const ends = [await aborted, await stopped, await scoped];
    expect(ends.map(({ data }) => [data.status, data.receipt.endedBecause])).toEqual([
      ['stopped', expect.stringContaining('the signal of the program aborted')],
      ['stopped', expect.stringContaining('enough')],
      ['stopped', expect.stringContaining('its scope in the program ended')],
    ]);
  });

  it('that cannot start rejects, also for whoever iterates', async () => {
    const muster = await open({ model: createScriptedModel([]) });
    await expect(muster.run('Go.', { agent: 'nobody' })).rejects.toThrow(/nobody/);
    const run = muster.run('Go.', { signal: AbortSignal.abort() });
    await expect(run[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('reads a message that is sent while it works', async () => {
    const model = createScriptedModel((request, index) =>
      index === 0
        ? { calls: [{ name: 'LS', input: { path: '.' } }] }
        : { text: JSON.stringify(request.messages).includes('Be brief.') ? 'brief' : 'long' },
    );
    const muster = await open({ model });
    const run = muster.run('Go.');
    for await (const event of run) if (event.type === 'call.started') await run.send('Be brief.');
    expect((await run).output).toBe('brief');
    await expect(run.send('More.')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('takes its messages from an iterable, while it works and after it has ended', async () => {
    const model = createScriptedModel((request) => {
      const last = request.messages.at(-1);
      return { text: `answer to ${last?.role === 'user' ? last.content.at(-1)?.text : ''}` };
    });
    const muster = await open({ model });
    let ended = Promise.withResolvers<void>();
    async function* messages() {
      yield 'one';
      await ended.promise;
      ended = Promise.withResolvers<void>();
      yield 'two';
      await ended.promise;
    }
    const run = muster.run(messages());
    const answers: string[] = [];
    for await (const event of run) {
      if (event.type !== 'task.ended') continue;
      answers.push(event.result);
      ended.resolve();
    }
    expect([answers, (await run).output]).toEqual([
      ['answer to one', 'answer to two'],
      'answer to two',
    ]);
  });
});

describe('a finished run', () => {
  it('can be listed, read, resumed, branched and rerun in another process', async () => {
    const [cwd, dataDir] = [makeDirectory(), makeDirectory()];
    writeFileSync(join(cwd, 'a.txt'), 'alpha\n');
    const options = { cwd, dataDir };
    const model = createScriptedModel((request, index) =>
      index === 0
        ? { calls: [{ name: 'Read', input: { file_path: 'a.txt' } }] }
        : { text: `after ${request.messages.length}` },
    );
    const first = await open({ ...options, model });
    const { data } = await first.run('Read a.txt.');
    const id = data.task_id;
    await first.close();
    const second = await open({
      ...options,
      model: createScriptedModel(() => ({ text: 'again' })),
    });
    const events: TaskEvent[] = [];
    for await (const event of second.readEvents(id)) events.push(event);
    const end = events.findLast(({ type }) => type === 'task.ended');
    expect(second.listTasks().map((task) => [task.id, task.status])).toEqual([[id, 'completed']]);
    expect(await second.rerun(id)).toMatchObject({
      tasks: [{ task: id, difference: null }],
      lost: [],
    });
    expect((await second.resume(id.slice(0, 9), 'More.')).output).toBe('again');
    const branch = second.branch(id, { at: end?.seq ?? 0, prompt: 'Differently.' });
    expect(branch.id).not.toBe(id);
    expect((await branch).output).toBe('again');
  });
});

it('a closed instance starts nothing, and closing again does nothing', async () => {
  const muster = await open({ model: createScriptedModel(() => ({ text: 'x', delayMs: 60_000 })) });
  const run = muster.run('Wait.');
  await run[Symbol.asyncIterator]().next();
  await muster.close();
  await muster.close();
  expect((await run).data.status).toBe('stopped');
  expect(() => muster.run('Go.')).toThrow(/closed/);
  expect(() => muster.listTasks()).toThrow(/closed/);
});
