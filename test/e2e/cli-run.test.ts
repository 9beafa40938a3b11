import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { foldEvents } from '../../src/events.ts';
import { withoutNonce } from '../nonce.ts';
import { lastUserText, toolResultRounds } from '../../src/testing/index.ts';
import { reach } from './ending.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { exitStatus, openWorld } from './world.ts';

const ID = /^[a-z0-9]{8,32}$/;
const READ = { name: 'Read', input: { file_path: 'a.txt' } };

describe.concurrent('the output', () => {
  it('text is only the answer', async () => {
    await using world = await openWorld({ script: () => ({ text: 'Line one.\nLine two.' }) });
    expect(await world.run(['-p', 'hello'])).toEqual({
      code: 0,
      signal: null,
      stdout: 'Line one.\nLine two.\n',
      stderr: '',
    });
    expect(world.model.requests.map(lastUserText)).toEqual(['hello']);
  });

  it('json is the envelope on one line', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'content' },
      script: (request) => ({
        usage: { input: 100, output: 10, cacheRead: 5, cacheWrite: 7 },
        ...(toolResultRounds(request) === 0
          ? { toolCalls: [READ] }
          : { text: 'It says\ncontent.' }),
      }),
    });
    const run = await world.run(['-p', 'hello', '--output-format', 'json']);
    expect([run.code, run.stderr, run.stdout.trimEnd().split('\n').length]).toEqual([0, '', 1]);
    const envelope = envelopeOf(run);
    const { task_id: id } = envelope.data;
    const { workspace, data } = world.sandbox;
    const model = expect.stringMatching(/^anthropic\//);
    expect(envelope).toEqual({
      status: 'success',
      data: {
        status: 'completed',
        task_id: expect.stringMatching(ID),
        result: 'It says\ncontent.',
        structured: null,
        tool_summary: [{ tool: 'Read', count: 1 }],
        files_modified: [],
        model_used: model,
        subagent_type: 'main',
        turns: 2,
        usage: { input: 200, output: 20, cache_read: 10, cache_write: 14 },
        cost_usd: expect.any(Number),
        receipt: {
          filesRead: [
            { path: join(workspace, 'a.txt'), hash: expect.stringMatching(/^[0-9a-f]+$/) },
          ],
          filesChanged: [],
          commands: [],
          shells: [],
          children: [],
          childReceipts: {},
          refusals: [],
          models: [model],
          endedBecause: 'the model ended its answer',
          faults: [],
          claims: [],
        },
        transcript: join(data, 'tasks', `${id}.jsonl`),
        output_file: join(data, 'tasks', `${id}.out`),
      },
      text: expect.stringMatching(
        /^It says\ncontent\.\n\n\[task .* 2 turns · 1 tool call \(Read 1\) · /,
      ),
      stats: { time_ms: expect.any(Number), tool_calls: 1, model },
      context: { cwd: workspace, params_input: { prompt: 'hello' } },
      error: null,
    });
  });

  it('stream-json has every durable event of every task without a gap, and the result last', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'content' },
      script: (request) => {
        if (toolResultRounds(request) > 0) return { text: 'done' };
        if (lastUserText(request).startsWith('part')) return { toolCalls: [READ] };
        const task = (n: number) => ({
          name: 'Task',
          input: { prompt: `part ${n}`, subagent_type: 'Explore' },
        });
        return { toolCalls: [task(1), task(2), task(3)] };
      },
    });
    const run = await world.run(['-p', 'go', '--output-format', 'stream-json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const lines = run.stdout.trimEnd().split('\n');
    const { type, ...envelope } = JSON.parse(lines.at(-1) ?? '');
    expect(type).toBe('result');
    const events = eventsOf(run);
    expect(events.length).toBe(lines.length - 1);
    const tasks = Map.groupBy(events, ({ task }) => task);
    expect(tasks.size).toBe(4);
    for (const [task, own] of tasks) {
      expect(own.map(({ seq }) => seq)).toEqual(own.map((_, index) => index));
      expect(own.at(-1)?.type).toBe('task.ended');
      const logged = readFileSync(join(world.sandbox.data, 'tasks', `${task}.jsonl`), 'utf8');
      // The first line of a log is the version of its format.
      expect(logged.trimEnd().split('\n').length - 1).toBe(own.length);
    }
    const state = foldEvents(tasks.get(envelope.data.task_id) ?? []);
    expect(state.result).toBe(envelope.data.result);
    expect([...state.children.keys()]).toEqual(envelope.data.receipt.children);
    expect([...tasks.keys()].toSorted()).toEqual(
      [state.spec.id, ...state.children.keys()].toSorted(),
    );
  });

  it('json is still the envelope when the run fails', async () => {
    await using world = await openWorld({
      script: () => ({ fault: { kind: 'status', status: 400, message: 'not like this' } }),
    });
    const run = await world.run(['-p', 'go', '--output-format', 'json']);
    expect([run.code, run.stderr]).toEqual([1, '']);
    expect(envelopeOf(run)).toMatchObject({
      status: 'error',
      data: { status: 'failed', result: '' },
      error: { code: 'PROVIDER_ERROR', message: expect.stringContaining('not like this') },
    });
  });
});

describe.concurrent('stdin', () => {
  it('is the prompt if none is typed', async () => {
    await using world = await openWorld();
    const run = await world.run(['-p'], { stdin: 'what is here?\n' });
    expect(run.code).toBe(0);
    expect(world.model.requests.map(lastUserText)).toEqual(['what is here?\n']);
  });

  it('is context beside a prompt', async () => {
    await using world = await openWorld();
    const run = await world.run(['-p', 'review this'], { stdin: '+ a line\n' });
    expect(run.code).toBe(0);
    expect(world.model.requests.map(lastUserText).map(withoutNonce)).toEqual([
      'review this\n\n<stdin>\n<outside N>\n+ a line\n\n</outside N>\n</stdin>',
    ]);
  });

  it('that is slow is read, also what comes later', async () => {
    await using world = await openWorld();
    const running = world.start(['-p', 'explain'], { stdin: { open: true } });
    const { stdin } = running.process;
    await sleep(800);
    stdin?.write('first line\n');
    await sleep(200);
    stdin?.end('last line\n');
    expect(await running.finished).toMatchObject({ code: 0, stderr: '' });
    expect(world.model.requests.map(lastUserText).map(withoutNonce)).toEqual([
      'explain\n\n<stdin>\n<outside N>\nfirst line\nlast line\n\n</outside N>\n</stdin>',
    ]);
  });

  it('that stays open and silent does not delay a prompt', async () => {
    await using world = await openWorld();
    const run = await world.run(['-p', 'go'], { stdin: { open: true } });
    expect([run.code, run.stdout]).toEqual([0, 'ok\n']);
    expect(run.stderr).toMatch(
      /^muster: nothing came from stdin in \d+ ms; continuing without it\n$/,
    );
    expect(world.model.requests.map(lastUserText)).toEqual(['go']);
  });

  it('that is empty is no prompt', async () => {
    await using world = await openWorld();
    const run = await world.run(['-p'], { stdin: '' });
    expect(run).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'muster: no prompt: stdin is empty\n',
    });
  });
});

describe.concurrent('the exit code', () => {
  it('is 3 for partial: after the turns, one more without tools for the answer', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'content' },
      script: (request) =>
        request.toolChoice === 'none' || request.messages.length > 3
          ? { text: 'as far as I got' }
          : { toolCalls: [READ] },
    });
    const run = await world.run(['-p', 'go', '--max-turns', '1']);
    expect([run.code, run.stdout]).toEqual([3, 'as far as I got\n']);
    expect(run.stderr).toMatch(/^muster: partial: LIMIT_EXCEEDED: .*max_turns.*1[^\n]*\n$/);
    expect(world.model.requests.length).toBe(2);
    const [first, last] = world.model.requests;
    expect(last?.tools).toEqual(first?.tools);
    expect([first?.toolChoice, last?.toolChoice]).toEqual(['auto', 'none']);
  });

  it('is 3 for a budget, which is named with its value and what was used', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'content' },
      script: () => ({ text: 'so far', toolCalls: [READ], usage: { input: 30_000, output: 100 } }),
    });
    const run = await world.run(['-p', 'go', '--max-tokens', '50000', '--output-format', 'json']);
    expect(run.code).toBe(3);
    expect(envelopeOf(run)).toMatchObject({
      status: 'partial',
      data: { status: 'partial', result: 'so far' },
      error: { code: 'LIMIT_EXCEEDED', message: expect.stringMatching(/tree_tokens.*50000/) },
    });
    expect(world.model.requests.length).toBeLessThanOrEqual(2);
  });

  it('is 3 before the first request if the budget does not allow even that one', async () => {
    await using world = await openWorld();
    const run = await world.run(['-p', 'go', '--max-tokens', '10']);
    expect([run.code, run.stdout]).toEqual([3, '']);
    expect(run.stderr).toMatch(/^muster: partial: LIMIT_EXCEEDED: .*tree_tokens.*10[^\n]*\n$/);
    expect(world.model.requests.length).toBe(0);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('is that of the signal: %s', async (signal, code) => {
    await using world = await openWorld({ script: () => ({ fault: { kind: 'hang' } }) });
    const running = world.start(['-p', 'go', '--output-format', 'json']);
    await reach(running, world.model.received(1));
    process.kill(running.pid, signal);
    const run = await running.finished;
    expect(exitStatus(run)).toBe(code);
    expect(envelopeOf(run)).toMatchObject({
      status: 'error',
      data: { status: 'stopped' },
      error: { code: 'CANCELLED', message: `${signal} ended it` },
    });
  });
});
