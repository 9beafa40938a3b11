import { describe, expect, it } from 'vitest';
import { deferred, onAbort } from '../../../src/base/async.ts';
import { activityText } from '../../../src/protocol/state/task-texts.ts';
import type { ModelPort } from '../../../src/protocol/model.ts';
import { call, calls, eventsOfType, play } from '../play.ts';
import { promptOf, testEngine } from '../support.ts';
import { MIN_AVAILABLE_BYTES } from '../../../src/engine/limits/slots.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';

const WAIT = { because: 'the rate limit of fake', untilMs: 1_700_000_000_000 };

/** Returns a model that delays the requests of tasks with this prompt until they are released, once each. */
function holding(prompt: string) {
  const isHeld = deferred<void>();
  const letGo = deferred<void>();
  const wrapModel = (model: ModelPort): ModelPort => ({
    async *stream(request, signal) {
      if (promptOf(request).includes(prompt)) {
        yield { type: 'held', ...WAIT };
        isHeld.resolve();
        const stopped = deferred<void>();
        const forget = onAbort(signal, () => stopped.resolve());
        await Promise.race([letGo.promise, stopped.promise]);
        forget();
        if (!signal.aborted) yield { type: 'admitted' };
      }
      yield* model.stream(request, signal);
    },
  });
  return { isHeld: isHeld.promise, letGo: () => letGo.resolve(), wrapModel };
}

const TWO = [calls(call('Task', { prompt: 'first' }), call('Task', { prompt: 'second' }))];

describe('a task whose request is held', () => {
  it('holds no slot: the next task works, and it continues when the request is released', async () => {
    const { isHeld, letGo, wrapModel } = holding('first');
    const test = testEngine(
      play({
        main: TWO,
        first: [() => ({ text: 'at last' })],
        second: [
          () => {
            letGo();
            return { text: 'meanwhile' };
          },
        ],
      }),
      { settings: { maxParallel: 1 }, wrapModel },
    );
    const run = test.start('main');
    await isHeld;
    await run.end.written;
    expect(run.state.status).toBe('completed');
    const held = eventsOfType(test, 'turn.held');
    expect(held.map(({ turn, because, untilMs }) => ({ turn, because, untilMs }))).toEqual([
      { turn: 1, ...WAIT },
    ]);
    expect(eventsOfType(test, 'child.ended').map(({ status }) => status)).toEqual([
      'completed',
      'completed',
    ]);
  });

  it('reserves no budget meanwhile: the others continue, and it ends if they left nothing', async () => {
    const { isHeld, letGo, wrapModel } = holding('first');
    const test = testEngine(
      play({
        main: TWO,
        first: [() => ({ text: 'never said' })],
        second: [
          () => {
            letGo();
            return { text: 'meanwhile' };
          },
        ],
      }),
      { settings: { treeTurns: 2 }, wrapModel },
    );
    const run = test.start('main');
    await isHeld;
    await run.end.written;
    const ends = eventsOfType(test, 'task.ended').map(({ end, result }) => ({
      status: end.status,
      because: end.because,
      result,
    }));
    const because = 'the limit tree_turns = 2 is reached (2 used)';
    expect(ends).toEqual([
      { status: 'completed', because: 'the model ended its answer', result: 'meanwhile' },
      { status: 'partial', because, result: '' },
      { status: 'partial', because, result: '' },
    ]);
    expect(test.model.requests.map(promptOf).filter((prompt) => prompt.includes('first'))).toEqual(
      [],
    );
    expect(eventsOfType(test, 'turn.failed').map(({ failure }) => failure)).toEqual([
      { kind: 'cancelled', message: because, retryable: false },
    ]);
  });

  it('that is released twice before it is sent leaves no reservation', async () => {
    const wrapModel = (model: ModelPort): ModelPort => ({
      async *stream(request, signal) {
        yield { type: 'held', ...WAIT };
        yield { type: 'admitted' };
        yield { type: 'admitted' };
        yield* model.stream(request, signal);
      },
    });
    const test = testEngine([calls(call('Bash', { ms: 1 })), { text: 'done' }], {
      settings: { treeTurns: 2 },
      wrapModel,
    });
    const run = test.start('main');
    await run.end.written;
    expect(run.state.result).toBe('done');
  });

  it('shows what it waits for, and can be stopped', async () => {
    const { isHeld, wrapModel } = holding('main');
    const test = testEngine([{ text: 'never said' }], { wrapModel });
    const run = test.start('main');
    await isHeld;
    expect(run.state.activity).toEqual({ kind: 'held', ...WAIT });
    expect(activityText(run.state)).toMatch(
      /^waiting for the rate limit of fake until \d\d:\d\d:\d\d$/,
    );
    run.stop(stopOrder('user', 'enough'));
    await run.end.written;
    expect(run.state.status).toBe('stopped');
    expect(test.model.requests.length).toBeLessThanOrEqual(1);
  });

  it('that is stopped while it waits for its slot sends nothing', async () => {
    const { isHeld, letGo, wrapModel } = holding('first');
    const test = testEngine(
      play({
        main: TWO,
        first: [() => ({ text: 'never said' })],
        second: [calls(call('Bash', { ms: 60_000 }))],
      }),
      { settings: { maxParallel: 1 }, wrapModel },
    );
    const run = test.start('main');
    await isHeld;
    while (eventsOfType(test, 'call.started').every(({ tool }) => tool !== 'Bash')) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    letGo();
    await new Promise((resolve) => setImmediate(resolve));
    run.stop(stopOrder('user', 'enough'));
    await run.end.written;
    expect(test.model.requests.map(promptOf).filter((prompt) => prompt.includes('first'))).toEqual(
      [],
    );
  });

  it('ends at its own wall-clock limit, which is named next to what it waited for', async () => {
    const { wrapModel } = holding('first');
    const test = testEngine(play({ main: [calls(call('Task', { prompt: 'first' }))], first: [] }), {
      settings: {
        taskLimits: { maxTurns: null, maxTokens: null, wallMs: 50, resultMaxTokens: 2_000 },
      },
      wrapModel,
    });
    await test.start('main').end.written;
    const [end] = eventsOfType(test, 'task.ended');
    expect(end?.end).toMatchObject({
      status: 'partial',
      error: {
        code: 'LIMIT_EXCEEDED',
        message:
          'the limit task_wall_seconds = 0.05 is reached while it waited for the rate limit of fake',
      },
    });
  });
});

describe('when little memory is available', () => {
  it('one task works at a time; the others wait, say so, and start once there is more', async () => {
    let available = MIN_AVAILABLE_BYTES - 1;
    const test = testEngine(
      play({
        main: [calls(...['one', 'two', 'three'].map((prompt) => call('Task', { prompt })))],
        one: [
          // The other tasks are created during this call.
          calls(call('Bash', { ms: 20 })),
          () => {
            // No other task has sent a request so far.
            const asked = test.model.requests.map(promptOf);
            expect(asked.filter((prompt) => /two|three/.test(prompt))).toEqual([]);
            available = 8 * MIN_AVAILABLE_BYTES;
            return { text: 'first', delayMs: 1 };
          },
        ],
        two: [() => ({ text: 'second' })],
        three: [() => ({ text: 'third' })],
      }),
      { availableMemory: () => available },
    );
    const run = test.start('main');
    await run.end.written;
    expect(run.state.status).toBe('completed');
    const because = 'memory: 199 MB are available, and another task starts only when 200 MB are';
    expect(eventsOfType(test, 'task.held').map((event) => event.because)).toEqual([
      because,
      because,
    ]);
    const message = `it waits to start for ${because}`;
    expect(eventsOfType(test, 'warning').map((event) => event.message)).toEqual([message, message]);
    expect(eventsOfType(test, 'child.ended').map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
  });

  it('a task that is stopped while it waits to start ends as stopped', async () => {
    const test = testEngine(
      play({ main: TWO, first: [calls(call('Bash', { ms: 60_000 }))], second: [] }),
      { availableMemory: () => 1 },
    );
    const run = test.start('main');
    while (eventsOfType(test, 'call.started').every(({ tool }) => tool !== 'Bash')) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    run.stop(stopOrder('user', 'enough'));
    await run.end.written;
    expect(eventsOfType(test, 'task.held').length).toBe(1);
    expect(eventsOfType(test, 'task.ended').map(({ end }) => end.status)).toEqual([
      'stopped',
      'stopped',
      'stopped',
    ]);
  });

  it('nobody waits if the available memory is not known', async () => {
    const test = testEngine(play({ main: TWO, first: [{ text: 'a' }], second: [{ text: 'b' }] }), {
      availableMemory: () => 0,
    });
    await test.start('main').end.written;
    expect(eventsOfType(test, 'task.held')).toEqual([]);
  });
});
