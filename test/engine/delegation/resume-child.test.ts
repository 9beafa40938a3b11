import { describe, expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { ToolResultPart } from '../../../src/protocol/message.ts';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import {
  background,
  call,
  calls,
  eventsOfType,
  hookLogs,
  play,
  requestsOf,
  textsOf,
  toldTo,
  until,
  type Play,
} from '../play.ts';
import { statesOf, testEngine, WORKER, type EngineSetup, type TestEngine } from '../support.ts';

function childOf(test: TestEngine): string {
  return eventsOfType(test, 'child.created')[0]?.child ?? '';
}

const LIMITS = { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 };

interface Scene {
  /** The answers of the task, before and after the resume. */
  readonly part: Play[string];
  readonly setup?: EngineSetup;
  /** The calls of the main agent between the end of the task and the resume. */
  readonly before?: (id: string) => ReturnType<typeof calls>;
  /** The arguments of the Task call in addition to the prompt and the id. */
  readonly input?: JsonObject;
}

/** Runs a foreground task to its end, and resumes it by a Task call with the prompt `more`. */
async function resume({ part, setup = {}, before, input = {} }: Scene) {
  let result: ToolResultPart | undefined;
  const child = () => eventsOfType(test, 'child.created')[0]?.child ?? '';
  const test: TestEngine = testEngine(
    play({
      main: [
        calls(call('Task', { prompt: 'part' })),
        ...(before === undefined ? [] : [() => before(child())]),
        () => calls(call('Task', { prompt: 'more', resume: child(), ...input })),
        ({ results }) => {
          [result] = results;
          return { text: 'done' };
        },
      ],
      part,
    }),
    setup,
  );
  const run = test.start('main');
  await run.end.written;
  return { test, run, result, id: child(), requests: requestsOf(test, 'part') };
}

describe('resume continues, with its full context,', () => {
  const found = { text: 'found', calls: [call('Bash', {})] };

  it('a completed task', async () => {
    const { result, requests, id, run } = await resume({
      part: [found, { text: 'one' }, { text: 'two' }],
    });
    expect(result?.isError).toBe(false);
    expect(result?.text).toMatch(/^two\n\n\[task /);
    expect(textsOf(requests.at(-1))).toEqual(['part', 'waited', 'more']);
    expect(requests.at(-1)?.prefix).toEqual(requests[0]?.prefix);
    expect(run.state.children.get(id)).toMatchObject({ background: false, status: 'completed' });
  });

  it('a failed task', async () => {
    let failures = 0;
    const { result, test, id, requests } = await resume({
      part: [
        found,
        () => {
          failures += 1;
          if (failures > 1) return { text: 'two' };
          return { failure: { kind: 'bad_request', message: 'no', retryable: false } };
        },
      ],
    });
    expect(eventsOfType(test, 'task.ended', id).map(({ end }) => end.status)).toEqual([
      'failed',
      'completed',
    ]);
    expect(textsOf(requests.at(-1))).toEqual(['part', 'waited', 'more']);
    expect(result?.text).toMatch(/^two\n\n/);
  });

  it('a partial task, which gets a new number of turns', async () => {
    const { result, test, id } = await resume({
      part: [found, { text: 'so far' }, found, { text: 'the rest' }],
      setup: { settings: { taskLimits: { ...LIMITS, maxTurns: 1 } } },
    });
    expect(
      eventsOfType(test, 'task.ended', id).map(({ end, result: text }) => [end.status, text]),
    ).toEqual([
      ['partial', 'so far'],
      ['partial', 'the rest'],
    ]);
    expect(result?.isError).toBe(false);
  });

  it('a task whose answer was filtered', async () => {
    const { result, requests } = await resume({
      part: [{ text: 'half', reason: 'content_filter' }, { text: 'two' }],
    });
    expect(result?.text).toMatch(/^two\n\n/);
    expect(textsOf(requests.at(-1))).toEqual(['part', 'more']);
  });

  it('a task that could not be told to stop at a limit, and does not learn it later', async () => {
    const { result, requests } = await resume({
      part: [{ ...found, usage: { input: 1_000 } }, { text: 'two' }],
      // The budget has no room for a second request, and so not for a last turn either.
      setup: { settings: { taskLimits: { ...LIMITS, maxTurns: 1, maxTokens: 2_000 } } },
    });
    expect(result?.text).toMatch(/^two\n\n/);
    expect(textsOf(requests.at(-1))).toEqual(['part', 'waited', 'more']);
  });

  it('a stopped task, named by the beginning of its id', async () => {
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('part')),
          async (turn) => {
            await until(() => test.engine.task(turn.child(0))?.state.activity.kind === 'tools');
            return calls(call('TaskStop', { task_id: turn.child(0) }));
          },
          (turn) => calls(call('Task', { prompt: 'more', resume: turn.child(0).slice(0, 10) })),
        ],
        part: [{ text: 'found', calls: [call('Bash', { ms: 60_000 })] }, { text: 'two' }],
      }),
    );
    await test.start('main').end.written;
    expect(toldTo(test, 'main').at(-1)).toMatch(/^two\n\n/);
    expect(textsOf(requestsOf(test, 'part').at(-1))).toEqual([
      'part',
      expect.stringMatching(/stopped|unknown/i),
      'more',
    ]);
  });

  it('a task for the second and the third time', async () => {
    const { test, requests, id } = await resume({
      part: [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
      before: (task) => calls(call('Task', { prompt: 'more', resume: task })),
    });
    expect(textsOf(requests.at(-1))).toEqual(['part', 'more', 'more']);
    expect(eventsOfType(test, 'task.ended', id).map(({ result }) => result)).toEqual([
      'one',
      'two',
      'three',
    ]);
  });

  it('a grandchild', async () => {
    let deep = '';
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(call('Task', { prompt: 'part' })),
          () => {
            deep =
              [...statesOf(test.events).values()].find(({ spec }) => spec.prompt === 'deep')?.spec
                .id ?? '';
            return calls(call('Task', { prompt: 'more', resume: deep }));
          },
        ],
        part: [calls(call('Task', { prompt: 'deep' }))],
        deep: [{ text: 'one' }, { text: 'two' }],
      }),
    );
    const run = test.start('main');
    await run.end.written;
    expect(toldTo(test, 'main').at(-1)).toMatch(/^two\n\n/);
    expect(run.state.children.get(deep)?.status).toBe('completed');
  });

  it('in the background, and reports the new result', async () => {
    const { test, result } = await resume({
      part: [{ text: 'one' }, { text: 'two' }],
      input: { run_in_background: true },
    });
    expect(result?.text).toMatch(/^Task \w+ runs in the background; you are told when it ends\./);
    expect(toldTo(test, 'main').at(-1)).toContain('Result: two');
  });

  it('with another model and its own number of turns', async () => {
    const { requests, test, id } = await resume({
      part: [{ text: 'one' }, found, found, { text: 'three' }],
      input: { model: 'other', max_turns: 2 },
    });
    expect(requests.map(({ model }) => model.id)).toEqual(['one', 'other', 'other', 'other']);
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto', 'none']);
    expect(eventsOfType(test, 'task.ended', id).at(-1)?.end).toMatchObject({
      status: 'partial',
      because: 'the limit max_turns = 2 is reached (2 used)',
    });
  });

  it('and counts no descendant as new', async () => {
    let last = '';
    const part = () => eventsOfType(test, 'child.created')[0]?.child ?? '';
    const more = () => calls(call('Task', { prompt: 'more', resume: part() }));
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(call('Task', { prompt: 'part' })),
          more,
          more,
          calls(call('Task', { prompt: 'fourth' })),
          ({ results }) => {
            last = results[0]?.text ?? '';
            return { text: 'done' };
          },
        ],
        part: [calls(call('Task', { prompt: 'second' }), call('Task', { prompt: 'third' }))],
      }),
      { settings: { maxTasks: 4 } },
    );
    await test.start('main').end.written;
    expect(last).toMatch(/^done\n/);
  });

  it('and counts none of its earlier work again', async () => {
    const { run } = await resume({
      part: [
        { text: 'one', usage: { input: 100, output: 6_000 } },
        { text: 'two', usage: { input: 100, output: 100 } },
      ],
      setup: { settings: { treeTokens: 10_000 } },
    });
    expect(run.state.status).toBe('completed');
  });
});

describe('resume is refused without a request', () => {
  it.each([
    [
      'of another type than the recorded one',
      { subagent_type: 'Explore' },
      /^Task: subagent_type: task \w+ is of type general-purpose, which can't be changed; leave it out$/,
    ],
    [
      'of an unknown id',
      { resume: 'nobody000000' },
      /^Task: resume: no task or shell of yours begins with nobody000000$/,
    ],
    ['of an empty id', { resume: '' }, /^Task: resume: must not be empty$/],
    [
      'of an id in capitals',
      { resume: 'ABCDEFGH' },
      /^Task: resume: no task or shell of yours begins with ABCDEFGH$/,
    ],
  ])('%s', async (_, input, expected) => {
    const { result, requests } = await resume({ part: [{ text: 'one' }], input });
    expect(result).toMatchObject({ isError: true, text: expect.stringMatching(expected) });
    expect(requests.length).toBe(1);
  });

  it('while the task runs, also when two calls of one message resume it', async () => {
    let results: readonly ToolResultPart[] = [];
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(call('Task', { prompt: 'part' })),
          () => {
            const id = eventsOfType(test, 'child.created')[0]?.child ?? '';
            const again = call('Task', { prompt: 'more', resume: id });
            return calls(again, again);
          },
          (turn) => {
            ({ results } = turn);
            return { text: 'done' };
          },
        ],
        part: [
          { text: 'one' },
          async () => {
            await until(() => eventsOfType(test, 'call.ended').length === 2);
            return { text: 'two' };
          },
        ],
      }),
    );
    await test.start('main').end.written;
    // Either call may be the first, since the ended task may not have released its log yet.
    const told = results.map(({ text, isError }) => [isError, text.split('\n')[0]] as const);
    expect(told.toSorted(([one], [other]) => Number(one) - Number(other))).toEqual([
      [false, 'two'],
      [
        true,
        expect.stringMatching(
          /^Task: resume: task \w+ has not ended\. Send it a message with TaskSend, or wait for it with TaskOutput\.$/,
        ),
      ],
    ]);
  });

  it.each([
    ['scout', 'deny', /^Task: The deny rule `Task\(scout\)`/],
    ['finder', 'ask', /Task\(finder\)/],
    ['general-purpose', 'deny', null],
  ] as const)(
    'that a rule about its recorded type %s forbids (%s)',
    async (specifier, kind, refusal) => {
      const scout = { ...WORKER, name: 'scout', aliases: ['finder'] };
      const test = testEngine(
        play({
          main: [
            calls(call('Task', { prompt: 'part', subagent_type: 'scout' })),
            { text: 'first' },
            () => calls(call('Task', { prompt: 'more', resume: childOf(test) })),
          ],
        }),
        { agents: [scout] },
      );
      const run = test.start('main');
      await run.end.written;
      const source = { kind: 'flag', where: '--deny' } as const;
      const rule = { text: `Task(${specifier})`, tool: 'Task', specifier, source };
      const resumed = await test.engine.resume(run.spec.id, {
        prompt: 'again',
        maxRights: (rights) => ({ ...rights, rules: { ...rights.rules, [kind]: [rule] } }),
      });
      await resumed.end.written;
      const { refusals } = resumed.state;
      expect(refusals).toEqual(refusal === null ? [] : [expect.stringMatching(refusal)]);
      expect(requestsOf(test, 'part').length).toBe(refusal === null ? 2 : 1);
    },
  );

  it('of a task that was only made visible to the caller, since it is not below it', async () => {
    let text = '';
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(call('Task', { prompt: 'part' })),
          () => {
            const id = eventsOfType(test, 'child.created')[0]?.child ?? '';
            return calls(call('Task', { prompt: `other ${id}` }));
          },
        ],
        other: [
          ({ request }) => {
            const id = textsOf(request)[0]?.split(' ')[1] ?? '';
            return calls(call('Task', { prompt: 'more', resume: id }));
          },
          ({ results }) => {
            text = results[0]?.text ?? '';
            return { text: 'done' };
          },
        ],
      }),
    );
    await test.start('main').end.written;
    expect(text).toMatch(
      /^Task: resume: task \w+ is not below you; only your own subagents can be resumed$/,
    );
  });
});

it.each<[string, EventBody['type']]>([
  ['its own log', 'task.resumed'],
  ['the log of its parent', 'child.resumed'],
])('a resume that %s cannot record is an error, and nobody waits for it', async (_, type) => {
  let isBroken = false;
  const { result, run } = await resume({
    part: [{ text: 'one' }, { text: 'two' }],
    setup: {
      prepareStore: (store) =>
        hookLogs(store, {
          append: (_task, bodies) => {
            if (isBroken || !bodies.some((body) => body.type === type)) return;
            isBroken = true;
            throw new MusterError('INTERNAL_ERROR', 'the disk is full');
          },
        }),
    },
  });
  expect(result).toMatchObject({ isError: true, text: 'Task: the disk is full' });
  expect(run.state.status).toBe('completed');
});

it('a task whose end could not be written continues, and its result is reported then', async () => {
  let isBroken = false;
  const faults: unknown[] = [];
  const test: TestEngine = testEngine(
    play({
      main: [
        calls(background('part')),
        { text: 'waiting' },
        (turn) => calls(call('TaskOutput', { task_id: turn.child(0) })),
        (turn) =>
          calls(call('Task', { prompt: 'more', resume: turn.child(0), run_in_background: true })),
        { text: 'waiting again' },
      ],
      part: [{ text: 'one' }, { text: 'two' }],
    }),
    {
      onFault: (thrown) => void faults.push(thrown),
      prepareStore: (store) =>
        hookLogs(store, {
          append: (_task, bodies) => {
            if (isBroken || !bodies.some(({ type }) => type === 'task.ended')) return;
            isBroken = true;
            throw new MusterError('INTERNAL_ERROR', 'the disk is full');
          },
        }),
    },
  );
  const run = test.start('main');
  await run.end.written;
  expect(faults).toEqual([new MusterError('INTERNAL_ERROR', 'the disk is full')]);
  const told = toldTo(test, 'main');
  expect(told.filter((text) => text.startsWith('<notice>'))).toEqual([
    expect.stringContaining('INTERNAL_ERROR: the disk is full. Result: one'),
    expect.stringContaining('Result: two'),
  ]);
  expect(told.filter((text) => text.startsWith('Agent: '))).toEqual([
    expect.stringMatching(/Status: interrupted\n[^]*What it had found so far:\n\none/),
  ]);
  expect(run.state.status).toBe('completed');
});
