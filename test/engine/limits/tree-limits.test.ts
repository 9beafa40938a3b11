import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_EXPENSE } from '../../../src/engine/limits/budget.ts';
import { estimatePrompt } from '../../../src/engine/limits/estimate.ts';
import { paidTokens, type ModelRequest, type Usage } from '../../../src/protocol/model.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { call, calls, eventsOfType, play, requestsOf, textsOf } from '../play.ts';
import { promptOf, statesOf, testEngine, waitTool, type TestEngine } from '../support.ts';
import { VirtualTime } from '../virtual-time.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';
import type { ScriptedAnswer } from '../../scripted-model.ts';

/** The output limit of each model in these tests. */
const MAX_OUTPUT = 100;
const NO_LIMITS = { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 };

describe('a task that creates children in every turn', () => {
  let named = 0;
  const spawns = (each: number) =>
    calls(...Array.from({ length: each }, () => call('Task', { prompt: `part ${(named += 1)}` })));

  it('ends in a wide tree', async () => {
    const test = testEngine(() => spawns(5), {
      settings: { maxDepth: 1, maxTasks: 20, treeTurns: 60 },
    });
    const run = test.start('main');
    await run.end.written;
    expect(test.model.requests.length).toBeLessThanOrEqual(60);
    expect(statesOf(test.events).size).toBeLessThanOrEqual(21);
    expect(run.state.end).toMatchObject({
      status: 'partial',
      error: { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('tree_turns = 60') },
    });
  });

  it('ends in a deep tree', async () => {
    const test = testEngine(() => spawns(1), {
      settings: { maxDepth: 6, maxTasks: 500, maxParallel: 2, treeTurns: 80 },
    });
    const run = test.start('main');
    await run.end.written;
    expect(test.model.requests.length).toBeLessThanOrEqual(80);
    const depths = [...statesOf(test.events).values()].map(({ spec }) => spec.depth);
    expect(Math.max(...depths)).toBe(6);
    expect(run.state.status).toBe('partial');
  });

  it('ends by its own turns if the tree has no limit', async () => {
    const test = testEngine(() => spawns(2), {
      settings: { maxDepth: 2, maxTasks: 30, taskLimits: { ...NO_LIMITS, maxTurns: 3 } },
    });
    const run = test.start('main');
    // The main agent has no limit of its own, so a person stops it.
    const waiting = new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (run.state.turns < 20) return;
        clearInterval(timer);
        resolve();
      }, 1);
    });
    await waiting;
    run.stop({ by: 'user', reason: 'enough', code: 'CANCELLED' });
    await run.end.written;
    const below = [...statesOf(test.events).values()].filter(({ spec }) => spec.depth > 0);
    expect(below.length).toBe(30);
    expect(below.every(({ turns }) => turns <= 4)).toBe(true);
  });
});

const talkative: AnyTool = {
  ...waitTool,
  run: async ({ bytes = 0 }: { readonly bytes?: number }) => ({ text: 'x'.repeat(bytes) }),
};

describe('the limit on bytes of tool results', () => {
  it('cuts results at the limit of the tree, and then leaves only an answer', async () => {
    const test = testEngine(
      play({
        main: [
          calls(call('Bash', { bytes: 600 }), call('Bash', { bytes: 600 })),
          { text: 'so far' },
        ],
      }),
      { tools: [talkative], settings: { treeToolBytes: 1_000 } },
    );
    const run = test.start('main');
    await run.end.written;
    const texts = eventsOfType(test, 'call.ended').map(({ text }) => text);
    expect(texts[0]).toBe('x'.repeat(600));
    expect(texts[1]).toBe(
      `${'x'.repeat(400)}\n[Cut at 400 of 600 bytes: the limit tree_tool_bytes = 1000 is reached (1000 used)]`,
    );
    expect(run.state.end?.because).toMatch(/^the limit tree_tool_bytes = 1000 is reached/);
    expect(run.state.result).toBe('so far');
    expect(test.model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'none']);
  });

  it('counts after the resume of an interrupted task, and includes children', async () => {
    const script = play({
      main: [calls(call('Task', { prompt: 'part' })), calls(call('Bash', { bytes: 600 }))],
      part: [calls(call('Bash', { bytes: 600 })), { text: 'found' }],
    });
    const settings = { treeToolBytes: 1_000 };
    const test = testEngine(script, { tools: [talkative], settings });
    const run = test.start('main');
    await run.end.written;
    expect(run.state.activation.work).toMatchObject({ turns: 5 });
    expect(run.state.end?.because).toMatch(/tree_tool_bytes = 1000/);
    expect(eventsOfType(test, 'child.ended').map(({ work }) => work)).toEqual([
      { turns: 2, toolBytes: 600 },
    ]);
  });
});

describe('the limit on turns of a tree', () => {
  it('leaves the last turn for an answer without tools', async () => {
    const test = testEngine(() => ({ text: 'so far', ...calls(call('Bash', {})) }), {
      settings: { treeTurns: 3 },
    });
    const run = test.start('main');
    await run.end.written;
    expect(test.model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      'auto',
      'auto',
      'none',
    ]);
    expect(run.state.end?.because).toBe('the limit tree_turns = 3 is reached (2 used)');
  });
});

it('a task is notified of its own limits, and only the main agent of those of the tree', async () => {
  const four = Array.from({ length: 4 }, () => calls(call('Bash', {})));
  const test = testEngine(
    play({ main: [calls(call('Task', { prompt: 'part' })), ...four], part: four }),
    { settings: { treeTurns: 14, taskLimits: { ...NO_LIMITS, maxTurns: 8 } } },
  );
  await test.start('main').end.written;
  const notices = (of: string) =>
    textsOf(requestsOf(test, of).at(-1)).filter((text) => text.startsWith('<notice>'));
  expect(notices('part')).toEqual(['<notice>50 % of max_turns = 8 is used (4).</notice>']);
  expect(notices('main')).toEqual([expect.stringMatching(/^<notice>50 % of tree_turns = 14 /)]);
});

it('a child whose model has no price is refused under a cost limit, which could not be enforced', async () => {
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, source: 'a test', asOf: null };
  const test = testEngine(
    play({ main: [calls(call('Task', { prompt: 'part', model: 'unknown' }))] }),
    {
      settings: { treeCostUsd: 5 },
      facts: async ({ id }) => ({
        contextWindow: null,
        maxOutput: 100,
        price: id === 'unknown' ? null : price,
      }),
    },
  );
  const run = test.start('main');
  await run.end.written;
  expect(run.state.status).toBe('completed');
  expect(eventsOfType(test, 'child.created')).toEqual([]);
  expect(eventsOfType(test, 'call.ended').map(({ text, error }) => [text, error])).toEqual([
    [
      expect.stringMatching(
        /^Task: LIMIT_EXCEEDED: the limit tree_cost_usd = 5 can't be kept: no price is known for scripted\/unknown/,
      ),
      'LIMIT_EXCEEDED',
    ],
  ]);
});

/** One answer of a random run. It uses `share` of the tokens that it may use. */
interface RandomAnswer {
  readonly children: number;
  readonly share: number;
  readonly delayMs: number;
  /** Set if the answer breaks off after this share of the tokens. */
  readonly broken: { readonly share: number; readonly retryable: boolean } | null;
}

const share = fc.double({ min: 0.2, max: 1, noNaN: true });
const broken = fc.record({ share, retryable: fc.boolean() });
const randomAnswer: fc.Arbitrary<RandomAnswer> = fc.record({
  children: fc.nat(4),
  share,
  delayMs: fc.nat(2),
  broken: fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: broken }),
});

/** A server that respects the requested output caps, and adds up the tokens that it bills. */
class RandomServer {
  readonly time = new VirtualTime();
  billed = 0;
  private readonly answers: readonly RandomAnswer[];

  constructor(answers: readonly RandomAnswer[]) {
    this.answers = answers;
  }

  answer = async (request: ModelRequest, index: number): Promise<ScriptedAnswer> => {
    const answer = this.answers[index % this.answers.length];
    if (answer === undefined) return { text: 'ok' };
    await this.time.sleep(answer.delayMs);
    if (answer.broken !== null) {
      const { retryable } = answer.broken;
      const failure = { kind: 'server', message: 'reset', retryable } as const;
      return { failure, usage: this.bill(request, answer.broken.share) };
    }
    const usage = this.bill(request, answer.share);
    if (request.toolChoice === 'none' || answer.children === 0) return { text: 'ok', usage };
    const part = { prompt: `${promptOf(request)} ${index}` };
    return {
      ...calls(...Array.from({ length: answer.children }, () => call('Task', part))),
      usage,
    };
  };

  private bill({ prefix, messages }: ModelRequest, part: number): Partial<Usage> {
    const input = Math.floor(estimatePrompt(prefix, messages) * part);
    const output = Math.floor(MAX_OUTPUT * part);
    this.billed += input + output;
    return { input, output };
  }
}

const randomRun = fc.record({
  answers: fc.array(randomAnswer, { minLength: 10, maxLength: 40, size: 'max' }),
  treeTokens: fc.integer({ min: 3_000, max: 30_000 }),
  maxTokens: fc.integer({ min: 1_500, max: 9_000 }),
  maxParallel: fc.integer({ min: 1, max: 4 }),
});

it('random trees never use more than their limits, and give back all reservations', async () => {
  await fc.assert(
    fc.asyncProperty(randomRun, async ({ answers, treeTokens, maxTokens, maxParallel }) => {
      const server = new RandomServer(answers);
      const test = testEngine(server.answer, {
        time: server.time,
        settings: {
          treeTokens,
          maxParallel,
          maxDepth: 3,
          maxTasks: 12,
          taskLimits: { ...NO_LIMITS, maxTokens, maxTurns: 4 },
        },
      });
      const run = test.start('main');
      let hasEnded = false;
      const ended = run.end.written.finally(() => {
        hasEnded = true;
      });
      await server.time.pass(() => hasEnded);
      await ended;
      const states = [...statesOf(test.events).values()];
      expect(server.billed).toBeLessThanOrEqual(treeTokens);
      for (const { spec, activation } of states) {
        if (spec.parent !== null) expect(activation.spent.tokens).toBeLessThanOrEqual(maxTokens);
      }
      expect([run.state.activation.spent.tokens, sumOf(states)]).toEqual([
        server.billed,
        server.billed,
      ]);
      await expectAllGivenBack(run, treeTokens - server.billed);
    }),
  );
});

/** Expects that nothing is reserved any more: the remaining tokens of the tree can be reserved at once. */
async function expectAllGivenBack(
  { tree, cancellation: { signal } }: ReturnType<TestEngine['start']>,
  left: number,
): Promise<void> {
  const reserved = tree.budget.reserve({ ...NO_EXPENSE, tokens: left }, signal, () => {
    throw new Error('something is still reserved');
  });
  expect((await reserved).ok).toBe(true);
}

/** Adds up the tokens of the tasks' own answers. */
function sumOf(states: readonly TaskState[]): number {
  return states.reduce((sum, { usage }) => sum + paidTokens(usage), 0);
}
