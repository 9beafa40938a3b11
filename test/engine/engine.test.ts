import * as fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ScriptedAnswer } from '../scripted-model.ts';
import { deferred } from '../../src/base/async.ts';
import { stopOrder } from '../../src/engine/task/stop-order.ts';
import type { ModelFailure, ModelRequest } from '../../src/protocol/model.ts';
import { answerAll, answeredRounds, promptOf, statesOf, testEngine, waitTool } from './support.ts';
import { readLog } from '../store/read-log.ts';
import { foldEvents } from '../../src/protocol/state/fold.ts';

/** The work of a task and its descendants: each task has one turn with calls. */
interface Work {
  readonly waits: readonly number[];
  readonly children: readonly Work[];
  readonly fails: boolean;
}

/** Generates work with at most three levels of children. Deeper tasks have no Task tool. */
function workOf(depth: number): fc.Arbitrary<Work> {
  return fc.record({
    waits: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }),
    children: depth === 0 ? fc.constant([]) : fc.array(workOf(depth - 1), { maxLength: 3 }),
    fails: fc.boolean(),
  });
}

const work = workOf(3);

const BROKEN: ModelFailure = { kind: 'bad_request', message: 'no', retryable: false };

/** Returns the answers of all tasks. The prompt of a task is the path from the root to its work. */
function scriptFor(root: Work): (request: ModelRequest) => ScriptedAnswer {
  const find = (path: string): Work =>
    path
      .split('.')
      .slice(1)
      .reduce<Work>((at, index) => at.children[Number(index)] ?? at, root);
  return (request) => {
    const path = promptOf(request);
    const mine = find(path);
    if (answeredRounds(request) > 0 || mine.waits.length + mine.children.length === 0) {
      return mine.fails && path !== 'root' ? { failure: BROKEN } : { text: `done ${path}` };
    }
    return {
      calls: [
        ...mine.waits.map((ms) => ({ name: 'Bash', input: { ms } })),
        ...mine.children.map((_, index) => ({
          name: 'Task',
          input: { prompt: `${path}.${index}` },
        })),
      ],
    };
  };
}

function sizeOf({ children }: Work): number {
  return children.reduce((sum, child) => sum + sizeOf(child), 1);
}

describe('any tree of tasks', () => {
  it('ends under any max_parallel, and its logs fold to the live state', async () => {
    await fc.assert(
      fc.asyncProperty(work, fc.integer({ min: 1, max: 4 }), async (root, maxParallel) => {
        const test = testEngine(scriptFor(root), { settings: { maxParallel } });
        const run = test.start('root');
        await run.end.written;
        const states = statesOf(test.events);
        expect(states.size).toBe(sizeOf(root));
        for (const [id, state] of states) {
          expect(state.end).not.toBeNull();
          expect(foldEvents(readLog(test.store, id).events)).toEqual(state);
        }
        expect(run.state).toEqual(states.get(run.spec.id));
        expect(run.state.status).toBe('completed');
        expect(mostAtWork(test.events)).toBeLessThanOrEqual(maxParallel);
      }),
      { numRuns: 60 },
    );
  });

  it('has every call answered before the next request, once, in call order', async () => {
    await fc.assert(
      fc.asyncProperty(work, async (root) => {
        const test = testEngine(scriptFor(root));
        await test.start('root').end.written;
        for (const { messages } of test.model.requests) {
          for (const [index, message] of messages.entries()) {
            if (message.role !== 'assistant') continue;
            const asked = message.content.flatMap((part) =>
              part.type === 'tool_call' ? [part.id] : [],
            );
            if (asked.length === 0) continue;
            const next = messages[index + 1];
            expect(next?.role).toBe('tool');
            expect(
              next?.content.flatMap((part) => ('callId' in part ? [part.callId] : [])),
            ).toEqual(asked);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('stops completely at any moment: nothing continues, no request follows, and no slot is held', async () => {
    await fc.assert(
      fc.asyncProperty(work, fc.nat(8), fc.integer({ min: 1, max: 3 }), async (root, ms, width) => {
        const slow = (node: Work): Work => ({
          ...node,
          waits: [...node.waits, 5],
          children: node.children.map(slow),
        });
        const test = testEngine(scriptFor(slow(root)), {
          settings: { maxParallel: width },
        });
        const run = test.start('root');
        await sleep(ms);
        await test.engine.stop(stopOrder('user', 'enough'));
        const requests = test.model.requests.length;
        const shown = test.events.length;
        await sleep(12);
        expect(test.model.requests.length).toBe(requests);
        expect(test.events.length).toBe(shown);
        for (const state of statesOf(test.events).values()) {
          expect(state.end).not.toBeNull();
          expect(state.runningCalls.size).toBe(0);
          expect(state.conversation.openCalls.length).toBe(state.conversation.results.size);
        }
        expect(['stopped', 'completed']).toContain(run.state.status);
      }),
      { numRuns: 40 },
    );
  });
});

/**
 * Counts the maximum number of tasks that were at work at the same time. A task is at work while its request is open
 * or one of its own tools runs.
 */
function mostAtWork(events: ReturnType<typeof testEngine>['events']): number {
  const working = new Map<string, number>();
  let most = 0;
  const change = (task: string, by: number) => {
    working.set(task, (working.get(task) ?? 0) + by);
    most = Math.max(most, [...working.values()].filter((count) => count > 0).length);
  };
  for (const event of events) {
    if (event.type === 'turn.started') change(event.task, 1);
    else if (event.type === 'turn.ended' || event.type === 'turn.failed') change(event.task, -1);
    else if (event.type === 'call.started' && event.tool !== 'Task') change(event.task, 1);
    else if (event.type === 'call.ended' && event.tool !== 'Task') change(event.task, -1);
  }
  return most;
}

describe('limits', () => {
  const busy = () => ({ text: 'so far', calls: [{ name: 'Bash', input: {} }] });

  it('max_turns gives one last turn without tools, then ends the task as partial', async () => {
    const test = testEngine(
      (request) => (request.toolChoice === 'none' ? { text: 'what I have' } : busy()),
      { settings: { rootLimits: { ...ROOT_LIMITS, maxTurns: 2 } } },
    );
    const run = test.start('go');
    await run.end.written;
    expect(run.state.result).toBe('what I have');
    expect(run.state.end).toEqual({
      status: 'partial',
      error: {
        code: 'LIMIT_EXCEEDED',
        message: 'the limit max_turns = 2 is reached (2 used)',
        retryable: false,
      },
      because: 'the limit max_turns = 2 is reached (2 used)',
      by: 'limit',
    });
    expect(test.model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      'auto',
      'auto',
      'none',
    ]);
  });

  it('task_wall_seconds ends a task with its results so far, whatever it is doing', async () => {
    const test = testEngine(
      () => ({ text: 'so far', calls: [{ name: 'Bash', input: { ms: 60_000 } }] }),
      { settings: { rootLimits: { ...ROOT_LIMITS, wallMs: 30 } } },
    );
    const run = test.start('go');
    await run.end.written;
    expect([run.state.status, run.state.result]).toEqual(['partial', 'so far']);
    expect(run.state.end?.error?.message).toContain('task_wall_seconds = 0.03');
  });

  it('tree_tokens limits all children together, and the parent is informed', async () => {
    const test = testEngine(
      (request) => {
        if (promptOf(request) !== 'root') return { text: 'ok', usage: { input: 50, output: 400 } };
        if (answeredRounds(request) > 0) return { text: 'done' };
        const call = { name: 'Task', input: { prompt: 'part' } };
        return { calls: [call, call, call, call, call, call] };
      },
      { settings: { treeTokens: 2_500 } },
    );
    const run = test.start('root');
    await run.end.written;
    const ends = [...statesOf(test.events).values()].map(({ end }) => end?.error?.message ?? 'ok');
    expect(ends.filter((end) => end.includes('tree_tokens = 2500')).length).toBeGreaterThan(0);
    expect(ends.filter((end) => end === 'ok').length).toBeGreaterThan(0);
  });

  it('max_tasks is an error result that names the limit', async () => {
    const test = testEngine(
      (request) => {
        if (promptOf(request) !== 'root') return { text: 'ok' };
        if (answeredRounds(request) > 0) return { text: 'done' };
        const call = { name: 'Task', input: { prompt: 'part' } };
        return { calls: [call, call, call] };
      },
      { settings: { maxTasks: 2 } },
    );
    const run = test.start('root');
    await run.end.written;
    const refused = test.events.filter(
      (event) => event.type === 'call.ended' && event.error === 'LIMIT_EXCEEDED',
    );
    expect(refused.map((event) => 'text' in event && event.text)).toEqual([
      expect.stringContaining('the limit max_tasks = 2 is reached (2 used)'),
    ]);
    expect(run.state.status).toBe('completed');
  });

  it('a message may have at most 100 calls; the others are answered but not run', async () => {
    const test = testEngine((request) =>
      answeredRounds(request) > 0
        ? { text: 'done' }
        : { calls: Array.from({ length: 130 }, (_, nth) => ({ name: 'Bash', input: { nth } })) },
    );
    const run = test.start('go');
    await run.end.written;
    expect(run.state.toolCounts).toEqual(new Map([['Bash', 100]]));
    expect(test.events.filter(({ type }) => type === 'call.refused').length).toBe(30);
  });
});

const ROOT_LIMITS = { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 };

describe('failures of a model', () => {
  const reset: ModelFailure = { kind: 'server', message: 'reset', retryable: true };
  const GIVEN_UP = 'reset (given up after 3 tries: the limit provider.retries = 2 is reached)';

  it('are retried with the same request, and no tool runs twice', async () => {
    let tries = 0;
    const test = testEngine((request) => {
      if (answeredRounds(request) === 0) return { calls: [{ name: 'Bash', input: {} }] };
      tries += 1;
      return tries < 3 ? { text: 'half an ans', failure: reset } : { text: 'done' };
    });
    const run = test.start('go');
    await run.end.written;
    expect([run.state.status, run.state.result, tries]).toEqual(['completed', 'done', 3]);
    expect(run.state.toolCounts).toEqual(new Map([['Bash', 1]]));
    const [, first, ...again] = test.model.requests;
    for (const request of again) expect(request).toEqual(first);
  });

  it('end the task when all retries are used, with its results so far', async () => {
    const test = testEngine((request) =>
      answeredRounds(request) === 0
        ? { text: 'found it', calls: [{ name: 'Bash', input: {} }] }
        : { failure: reset },
    );
    const run = test.start('go');
    await run.end.written;
    expect(run.state.end).toEqual({
      status: 'failed',
      error: { code: 'PROVIDER_ERROR', message: GIVEN_UP, retryable: true },
      because: GIVEN_UP,
      by: null,
    });
    expect(run.state.result).toBe('found it');
    expect(test.model.requests.length).toBe(4);
  });

  it('empty answers are reported to the model, and three in a row end the task', async () => {
    const test = testEngine(() => ({}));
    const run = test.start('go');
    await run.end.written;
    expect([run.state.status, test.model.requests.length]).toEqual(['failed', 3]);
    expect(run.state.end?.because).toBe(
      'the model gave 3 empty answers in a row (limit empty_answers = 3)',
    );
    const last = test.model.requests.at(-1)?.messages.at(-1);
    expect(JSON.stringify(last)).toContain('Your answer was empty');
  });

  it.each([
    ['an unknown tool', { name: 'Fly', input: {} }, 'Fly is not among your tools: Bash'],
    ['broken JSON', { name: 'Bash', input: '{"a', malformed: '{"a' }, 'not valid JSON'],
  ])('%s is reported to the model', async (_, call, words) => {
    const test = testEngine((request) =>
      answeredRounds(request) === 0 ? { calls: [call] } : { text: 'done' },
    );
    const run = test.start('go');
    await run.end.written;
    expect(run.state.status).toBe('completed');
    expect(JSON.stringify(test.model.requests[1]?.messages.at(-1))).toContain(words);
  });
});

describe('a tool', () => {
  it('that throws gives an error result, and the task continues', async () => {
    const broken = { ...waitTool, run: () => Promise.reject(new Error('oops')) };
    const test = testEngine(
      (request) =>
        answeredRounds(request) === 0 ? { calls: [{ name: 'Bash', input: {} }] } : { text: 'done' },
      { tools: [broken] },
    );
    const run = test.start('go');
    await run.end.written;
    expect(run.state.status).toBe('completed');
    expect(test.events.find(({ type }) => type === 'call.ended')).toMatchObject({
      error: 'INTERNAL_ERROR',
      text: 'Bash broke: oops',
    });
  });

  it('that exceeds tool_seconds is ended with a report, and the task continues', async () => {
    const test = testEngine(
      (request) =>
        answeredRounds(request) === 0
          ? { calls: [{ name: 'Bash', input: { ms: 60_000 } }] }
          : { text: 'done' },
      { settings: { caps: { resultBytes: 1, readBytes: 1, spillBytes: 1, toolMs: 20 } } },
    );
    const run = test.start('go');
    await run.end.written;
    expect(run.state.status).toBe('completed');
    expect(test.events.find(({ type }) => type === 'call.ended')).toMatchObject({
      error: 'TIMEOUT',
      text: expect.stringContaining('tool_seconds = 0.02'),
    });
  });
});

describe('questions to a person', () => {
  it('hold no slot: waiting Task calls and their children run in a single one', async () => {
    const test = testEngine(
      (request) => {
        if (promptOf(request) !== 'root' || answeredRounds(request) > 0) return { text: 'ok' };
        const call = { name: 'Task', input: { prompt: 'part' } };
        return { calls: [call, call, { name: 'Bash', input: { ms: 1 } }] };
      },
      { settings: { maxParallel: 1 }, ask: ['Task'], onAsk: 'wait' },
    );
    answerAll(test.inbox, 'yes', 5);
    const run = test.start('root');
    await run.end.written;
    expect(run.state.status).toBe('completed');
    expect(mostAtWork(test.events)).toBe(1);
  });

  it('from one message that are answered at once take one slot, and give it back', async () => {
    const tool = { ...waitTool, kind: 'meta' as const };
    const test = testEngine(
      (request) => {
        if (promptOf(request) === 'part') return { text: 'ok' };
        const asked = { name: 'Bash', input: {} };
        if (answeredRounds(request) === 0) return { calls: [asked, asked, asked] };
        if (answeredRounds(request) > 1) return { text: 'ok' };
        const part = { name: 'Task', input: { prompt: 'part' } };
        return { calls: [part, part] };
      },
      { settings: { maxParallel: 2 }, ask: ['Bash'], onAsk: 'wait', tools: [tool] },
    );
    answerAll(test.inbox, 'yes', 5);
    const run = test.start('root');
    await run.end.written;
    expect(run.state.status).toBe('completed');
    expect(run.state.toolCounts.get('Bash')).toBe(3);
  });
});

describe('a stop during calls', () => {
  it('waits for the calls that run, and reports what they did', async () => {
    const effects: string[] = [];
    const [begun, stopped] = [deferred<void>(), deferred<void>()];
    const stubborn = {
      ...waitTool,
      run: async () => {
        begun.resolve();
        await stopped.promise;
        effects.push('done');
        return { text: 'did it', facts: { commands: [{ command: 'x', exitCode: 0 }] } };
      },
    };
    const test = testEngine(
      () => ({
        calls: [
          { name: 'Bash', input: {} },
          { name: 'Task', input: { prompt: 'x' } },
        ],
      }),
      { tools: [stubborn], ask: ['Task'], onAsk: 'wait' },
    );
    const run = test.start('root');
    await begun.promise;
    run.stop(stopOrder('user', 'enough'));
    stopped.resolve();
    await run.end.written;
    expect(effects).toEqual(['done']);
    expect(run.state.status).toBe('stopped');
    expect(run.state.commands).toEqual([{ command: 'x', exitCode: 0 }]);
    const outcomes = test.events.flatMap((event) =>
      event.type === 'call.ended' || event.type === 'call.refused'
        ? [[event.tool, event.text]]
        : [],
    );
    expect(outcomes).toEqual([
      ['Bash', 'did it'],
      ['Task', 'Not run: enough.'],
    ]);
  });
});

describe('a model that repeats itself', () => {
  it('is ended when the same calls gave the same results no_progress_calls times', async () => {
    const test = testEngine((request) =>
      request.toolChoice === 'none'
        ? { text: 'I give up' }
        : { calls: [{ name: 'Bash', input: {} }] },
    );
    const run = test.start('go');
    await run.end.written;
    expect([run.state.status, run.state.result]).toEqual(['partial', 'I give up']);
    expect(run.state.end?.because).toBe('the limit no_progress_calls = 8 is reached (8 used)');
    expect(run.state.toolCounts.get('Bash')).toBe(8);
  });

  it('continues while its calls or their results differ', async () => {
    let calls = 0;
    const test = testEngine((request) =>
      answeredRounds(request) === 20
        ? { text: 'done' }
        : { calls: [{ name: 'Bash', input: { ms: 0, n: (calls += 1) } }] },
    );
    const run = test.start('go');
    await run.end.written;
    expect(run.state.status).toBe('completed');
  });
});

describe('the effects of a child', () => {
  it('also belong to its parent: files that a descendant changed are in the result of the root', async () => {
    const change = { path: '/a.txt', before: null, after: 'aa' };
    const tool = { ...waitTool, run: async () => ({ text: 'ok', facts: { changed: [change] } }) };
    const test = testEngine(
      (request) => {
        if (answeredRounds(request) > 0) return { text: 'done' };
        if (promptOf(request) !== 'root') return { calls: [{ name: 'Bash', input: {} }] };
        return { calls: [{ name: 'Task', input: { prompt: 'part' } }] };
      },
      { tools: [tool] },
    );
    const run = test.start('root');
    await run.end.written;
    const { data } = test.engine.result(run);
    expect(data.files_modified).toEqual(['/a.txt']);
    expect(data.receipt.filesChanged).toEqual([change]);
  });
});

describe('TaskOutput', () => {
  it.each([
    [{ offset: 3 }, 'offset: 3 is beyond the end; the answer has 2 characters'],
    [{ task_id: 'zzzzzzzz' }, 'no task or shell of yours begins with zzzzzzzz'],
    [{ task_id: '' }, 'task_id: must be the id of a task'],
    [{ offset: -1 }, 'offset: -1 is below the minimum, 0 was used'],
  ])('with %j says what is wrong', async (wrong, words) => {
    let child = '';
    const test = testEngine((request) => {
      if (promptOf(request) !== 'root') return { text: 'ok' };
      const results = JSON.stringify(request.messages.at(-1));
      child ||= /task (\w{12})/.exec(results)?.[1] ?? '';
      if (answeredRounds(request) === 0)
        return { calls: [{ name: 'Task', input: { prompt: 'x' } }] };
      if (answeredRounds(request) > 1) return { text: 'done' };
      return { calls: [{ name: 'TaskOutput', input: { task_id: child, ...wrong } }] };
    });
    await test.start('root').end.written;
    const answers = test.events.flatMap((event) =>
      'tool' in event && event.tool === 'TaskOutput' && 'text' in event ? [event.text] : [],
    );
    expect(answers).toEqual([expect.stringContaining(words)]);
  });
});
