import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastAnswerMs } from '../../../src/engine/task/wall-time.ts';
import { rejectOnAbort } from '../../../src/base/async.ts';
import type { ModelPort, ModelRequest } from '../../../src/protocol/model.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';
import type { ModelScript, ScriptedAnswer } from '../../scripted-model.ts';
import { background, call, calls, eventsOfType, play, requestsOf, textsOf } from '../play.ts';
import type { Turn } from '../play.ts';
import { answeredRounds, promptOf, statesOf, testEngine, waitTool } from '../support.ts';
import type { TestEngine } from '../support.ts';
import { VirtualTime } from '../virtual-time.ts';

const LIMIT_MS = 60_000;
const REACHED = 'the limit tree_wall_seconds = 60 is reached (60 used)';
const CUT =
  'the limit tree_wall_seconds = 60 is reached (66 used); the 6 s for a last answer are over';

it.each([
  [0, 0],
  [1_000, 100],
  [60_000, 6_000],
  [300_000, 30_000],
  [3_600_000, 30_000],
])('after a limit of %i ms there are %i ms for a last answer', (wallMs, expected) => {
  expect(lastAnswerMs(wallMs)).toBe(expected);
});

/** Makes a model end its answer when the request is given up, also while the script waits. */
function abortable(model: ModelPort): ModelPort {
  return {
    async *stream(request, signal) {
      const parts = model.stream(request, signal)[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await rejectOnAbort(Promise.resolve(parts.next()), signal);
          if (next.done === true) return;
          yield next.value;
        }
      } catch (thrown) {
        if (!signal.aborted) throw thrown;
        const failure = { kind: 'cancelled', message: 'stopped', retryable: false } as const;
        yield { type: 'failed', failure };
      }
    },
  };
}

/** The tree of a test with the limit `LIMIT_MS`, in virtual time. */
class TimedTree {
  readonly time = new VirtualTime();
  readonly test: TestEngine;

  constructor(script: (time: VirtualTime) => ModelScript, tool?: (time: VirtualTime) => AnyTool) {
    const { time } = this;
    const settings = { treeWallMs: LIMIT_MS };
    const tools = [tool?.(time) ?? slowTool(time)];
    this.test = testEngine(script(time), { time, settings, tools, wrapModel: abortable });
  }

  /** Runs the tree to its end. Returns the state of the main agent. */
  async run(): Promise<TaskState> {
    const run = this.test.start('main');
    let hasEnded = false;
    void run.end.written.then(() => (hasEnded = true));
    await this.time.pass(() => hasEnded);
    return run.state;
  }

  stateOf(prompt: string): TaskState | undefined {
    return [...statesOf(this.test.events).values()].find(({ spec }) => spec.prompt === prompt);
  }
}

/** A tool that waits, and needs `cleanupMs` to stop. */
function slowTool(time: VirtualTime): AnyTool {
  return {
    ...waitTool,
    run: async (input: { readonly ms?: number; readonly cleanupMs?: number }, { signal }) => {
      try {
        await time.sleep(input.ms ?? 0, signal);
        return { text: 'waited' };
      } catch {
        await time.sleep(input.cleanupMs ?? 0);
        return { text: 'half of it', error: 'CANCELLED' };
      }
    },
  };
}

/** An answer that arrives after a while. */
const late = (time: VirtualTime, ms: number, answer: ScriptedAnswer) => async () => {
  await time.sleep(ms);
  return answer;
};

/** Answers nothing before the last turn. */
const silentUntilLast =
  (time: VirtualTime) =>
  async ({ request }: Turn): Promise<ScriptedAnswer> => {
    if (request.toolChoice !== 'none') await time.sleep(HOUR);
    return { text: 'so far' };
  };

const HOUR = 3_600_000;
const LONG = call('Bash', { ms: HOUR });
const choices = ({ test }: TimedTree) => requestsOf(test, 'main').map((each) => each.toolChoice);
const lastTexts = ({ test }: TimedTree) => textsOf(requestsOf(test, 'main').at(-1)).join('\n');

describe('at the limit on the time of a tree', () => {
  it('a command is stopped, and a last turn without tools gives the answer', async () => {
    const tree = new TimedTree(() => play({ main: [calls(LONG), { text: 'so far' }] }));
    const state = await tree.run();
    expect(state.end).toEqual({
      status: 'partial',
      error: { code: 'LIMIT_EXCEEDED', message: REACHED, retryable: false },
      because: REACHED,
      by: 'limit',
    });
    expect(state.result).toBe('so far');
    expect(choices(tree)).toEqual(['auto', 'none']);
    expect(lastTexts(tree)).toContain('half of it');
    expect(lastTexts(tree)).toContain(
      `<notice>Stop here: ${REACHED}. No more tools: give your final answer now, with what you have. It must be complete within 6 s.</notice>`,
    );
    expect(tree.time.elapsedMs).toBe(LIMIT_MS);
  });

  it('a request is given up', async () => {
    const tree = new TimedTree((time) => play({ main: [silentUntilLast(time)] }));
    const state = await tree.run();
    expect(state).toMatchObject({ status: 'partial', result: 'so far' });
    expect(choices(tree)).toEqual(['auto', 'none']);
  });

  it('children end as partial, and the main agent reads what they had found', async () => {
    const found = { text: 'found by it', ...calls(LONG) };
    const tree = new TimedTree(() =>
      play({
        main: [
          calls(background('aside')),
          calls(call('Task', { prompt: 'part' }), call('Bash', { ms: 1 })),
          { text: 'so far' },
        ],
        part: [{ text: 'found by part', ...calls(call('Task', { prompt: 'deep' })) }],
        deep: [found],
        aside: [{ text: 'found aside', ...calls(LONG) }],
      }),
    );
    const state = await tree.run();
    expect(state).toMatchObject({ status: 'partial', result: 'so far' });
    for (const prompt of ['part', 'deep', 'aside']) {
      expect(tree.stateOf(prompt)?.end).toMatchObject({
        status: 'partial',
        error: { code: 'LIMIT_EXCEEDED', message: REACHED },
      });
    }
    expect(lastTexts(tree)).toContain('found by part');
    expect(lastTexts(tree)).toContain('found aside');
    expect(choices(tree)).toEqual(['auto', 'auto', 'none']);
  });

  it('no task starts any more', async () => {
    const tree = new TimedTree((time) => {
      const spawns = calls(...['a', 'b', 'c'].map((prompt) => call('Task', { prompt })));
      return async (request) => {
        if (request.toolChoice === 'none') return { text: 'so far' };
        await time.sleep(7_000);
        return spawns;
      };
    });
    const state = await tree.run();
    expect(state).toMatchObject({ status: 'partial', result: 'so far' });
    const ends = [...statesOf(tree.test.events).values()].map(({ end }) => end?.status);
    expect(new Set(ends)).toEqual(new Set(['partial']));
    const created = eventsOfType(tree.test, 'task.created').map(({ ts }) => ts);
    expect(Math.max(...created) - Math.min(...created)).toBeLessThanOrEqual(LIMIT_MS);
  });

  it('background shells are stopped, and the main agent reads about it', async () => {
    const shells: AnyTool = {
      ...waitTool,
      run: async (_, context) => {
        const { id } = await context.shells.start({
          command: 'serve',
          begin: async (_write, signal) => ({
            ended: new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve({ how: 'stopped', exitCode: null }));
            }),
          }),
        });
        return { text: `shell ${id}` };
      },
    };
    const tree = new TimedTree(
      (time) => play({ main: [calls(LONG), silentUntilLast(time)] }),
      () => shells,
    );
    const state = await tree.run();
    expect(state).toMatchObject({ status: 'partial', result: 'so far' });
    expect(eventsOfType(tree.test, 'shell.ended')).toMatchObject([{ end: 'stopped' }]);
    expect(lastTexts(tree)).toMatch(/shell \w+.*stopped/i);
  });

  it('a last turn for another limit goes on', async () => {
    const time = new VirtualTime();
    const test = testEngine(
      play({ main: [calls(call('Bash', { ms: 59_000 })), late(time, 3_000, { text: 'so far' })] }),
      {
        time,
        tools: [slowTool(time)],
        settings: { treeWallMs: LIMIT_MS, treeTurns: 2 },
      },
    );
    const run = test.start('main');
    let hasEnded = false;
    void run.end.written.then(() => (hasEnded = true));
    await time.pass(() => hasEnded);
    expect(run.state).toMatchObject({ status: 'partial', result: 'so far' });
    expect(run.state.end?.because).toMatch(/^the limit tree_turns = 2 /);
    expect(time.elapsedMs).toBe(62_000);
  });
});

describe('after the time for a last answer', () => {
  it('an answer that has not arrived is given up', async () => {
    const tree = new TimedTree((time) =>
      play({ main: [{ text: 'so far', ...calls(LONG) }, late(time, HOUR, { text: 'never' })] }),
    );
    const state = await tree.run();
    expect(state).toMatchObject({ status: 'partial', result: 'so far' });
    expect(state.end).toMatchObject({ because: CUT, error: { code: 'LIMIT_EXCEEDED' } });
    expect(tree.time.elapsedMs).toBe(66_000);
  });

  it('a call that does not stop is given up', async () => {
    const stubborn = call('Bash', { ms: HOUR, cleanupMs: HOUR });
    const tree = new TimedTree(() => play({ main: [calls(stubborn), { text: 'so far' }] }));
    const state = await tree.run();
    // The call is given up after 2.5 s, so that the last turn has the rest.
    expect(state).toMatchObject({ status: 'partial', result: 'so far' });
    expect(tree.time.elapsedMs).toBeLessThan(66_000);
  });
});

it('the main agent is notified at 50 and at 80 %', async () => {
  const ten = Array.from({ length: 10 }, () => calls(call('Bash', { ms: 10_000 })));
  const tree = new TimedTree(() => play({ main: ten }));
  await tree.run();
  const notices = textsOf(requestsOf(tree.test, 'main').at(-1)).filter((text) => /% of/.test(text));
  expect(notices).toEqual([
    '<notice>50 % of tree_wall_seconds = 60 is used (30).</notice>',
    '<notice>80 % of tree_wall_seconds = 60 is used (50). Bring the task to its end.</notice>',
  ]);
});

const randomAnswer = fc.record({
  ms: fc.integer({ min: 0, max: 30_000 }),
  children: fc.nat(3),
  inBackground: fc.boolean(),
  command: fc.record({ ms: fc.integer({ min: 0, max: 90_000 }), cleanupMs: fc.nat(4_000) }),
});

it('random trees end in time, and every task has an end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(randomAnswer, { minLength: 4, maxLength: 20 }), async (answers) => {
      const tree = new TimedTree((time) => async (request: ModelRequest, index: number) => {
        const answer = answers[index % answers.length];
        if (answer === undefined) return { text: 'ok' };
        await time.sleep(answer.ms);
        if (request.toolChoice === 'none' || answeredRounds(request) > 3) return { text: 'ok' };
        const children = Array.from({ length: answer.children }, (_, child) =>
          answer.inBackground
            ? background(`${promptOf(request)} ${index}.${child}`)
            : call('Task', { prompt: `${promptOf(request)} ${index}.${child}` }),
        );
        return { text: 'found', ...calls(call('Bash', answer.command), ...children) };
      });
      const state = await tree.run();
      // 2.5 s is the time after which a tool that does not stop is given up.
      expect(tree.time.elapsedMs).toBeLessThanOrEqual(LIMIT_MS + lastAnswerMs(LIMIT_MS) + 2_500);
      const ends = [...statesOf(tree.test.events).values()].map(({ end }) => end?.status);
      expect(ends.every((end) => end === 'completed' || end === 'partial')).toBe(true);
      const isLate = tree.time.elapsedMs >= LIMIT_MS;
      expect(state.status).toBe(isLate ? 'partial' : 'completed');
      expect(state.result).not.toBe('');
    }),
    { numRuns: 60 },
  );
});
