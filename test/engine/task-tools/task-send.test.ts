import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/protocol/model.ts';
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
import { testEngine, type EngineSetup, type TestEngine } from '../support.ts';

/** Counts the message in each request of the task, in order. */
function counts(requests: readonly ModelRequest[], message: string): readonly number[] {
  return requests.map((each) => textsOf(each).filter((text) => text === message).length);
}

interface Scene {
  readonly part: Play[string];
  readonly others?: Play;
  readonly setup?: EngineSetup;
  /** Returns true when the main agent must send the message. */
  readonly when: (test: TestEngine, part: string) => boolean;
}

/** Lets the main agent send `left` to a background task in a certain state. */
async function sendTo({ part, others = {}, setup = {}, when }: Scene) {
  let answer = '';
  let id = '';
  const test: TestEngine = testEngine(
    play({
      ...others,
      main: [
        calls(background('part')),
        async (turn) => {
          id = turn.child(0);
          await until(() => when(test, id));
          return calls(call('TaskSend', { to: id, message: 'left' }));
        },
        ({ results }) => {
          answer = results[0]?.text ?? '';
          return { text: 'waiting' };
        },
      ],
      part,
    }),
    setup,
  );
  const run = test.start('main');
  await run.end.written;
  expect(run.state.status).toBe('completed');
  return { test, answer, id };
}

const SENT = /^Sent: task \w+ reads it before its next step\.$/;
const WOKEN =
  /^Task \w+ had ended and goes on with it in the background; you are told when it ends\.$/;
const hasEnded = (test: TestEngine, id: string) => test.engine.task(id) === undefined;

describe('a message is in the very next request, once, when the task', () => {
  it('runs a tool', async () => {
    const { test, answer } = await sendTo({
      part: [calls(call('Bash', { ms: 40 })), calls(call('Bash', {}))],
      when: (at, id) => at.engine.task(id)?.state.activity.kind === 'tools',
    });
    expect(answer).toMatch(SENT);
    expect(counts(requestsOf(test, 'part'), 'left')).toEqual([0, 1, 1]);
  });

  it('streams its last answer', async () => {
    let isSent = () => false;
    const { test, answer } = await sendTo({
      part: [
        async () => {
          await until(() => isSent());
          return { text: 'what I would have said' };
        },
        { text: 'went left' },
      ],
      when: (at, id) => {
        isSent = () => eventsOfType(at, 'input.queued', id).length > 0;
        return at.engine.task(id)?.state.activity.kind === 'connecting';
      },
    });
    expect(answer).toMatch(SENT);
    expect(counts(requestsOf(test, 'part'), 'left')).toEqual([0, 1]);
    expect(toldTo(test, 'main').at(-1)).toContain('Result: went left');
  });

  it('waits for its children', async () => {
    const { test, answer } = await sendTo({
      part: [calls(background('deep')), { text: 'I wait' }, { text: 'heard' }],
      others: { deep: [calls(call('Bash', { ms: 200 }))] },
      when: (at, id) => at.engine.task(id)?.state.activity.kind === 'waiting_for_children',
    });
    expect(answer).toMatch(SENT);
    expect(counts(requestsOf(test, 'part'), 'left')).toEqual([0, 0, 1, 1]);
    const woken = textsOf(requestsOf(test, 'part')[2]);
    expect(woken.at(-1)).toBe('left');
  });

  it('waits for a slot', async () => {
    // Each message has a command beside the call. Without it the main agent would release the only slot.
    const busy = call('Bash', { ms: 20 });
    const test = testEngine(
      play({
        main: [
          calls(background('part'), busy),
          (turn) => calls(call('TaskSend', { to: turn.child(0), message: 'left' }), busy),
        ],
      }),
      { settings: { maxParallel: 1 } },
    );
    await test.start('main').end.written;
    expect(counts(requestsOf(test, 'part'), 'left')).toEqual([1]);
  });
});

describe('an ended task continues with a message, and its new result is reported', () => {
  it('after its end', async () => {
    const { test, answer, id } = await sendTo({
      part: [{ text: 'one' }, { text: 'two' }],
      when: hasEnded,
    });
    expect(answer).toMatch(WOKEN);
    expect(textsOf(requestsOf(test, 'part').at(-1))).toEqual(['part', 'left']);
    const told = toldTo(test, 'main').join('\n');
    expect(told.match(/Result: one/g)?.length).toBe(1);
    expect(told.match(/Result: two/g)?.length).toBe(1);
    expect(eventsOfType(test, 'task.resumed', id).length).toBe(1);
  });

  it('while its end is being written', async () => {
    let release: (() => void) | undefined;
    let part = '';
    const at: { test?: TestEngine } = {};
    const { test, answer } = await sendTo({
      part: [
        async () => {
          await until(() => part !== '');
          return { text: 'one' };
        },
        { text: 'two' },
      ],
      setup: {
        prepareStore: (store) =>
          hookLogs(store, {
            sync: async (task) => {
              const state = at.test?.engine.task(task)?.state;
              if (task !== part || state?.end?.status !== 'completed' || release) return;
              await new Promise<void>((resolve) => (release = resolve));
            },
          }),
      },
      when: (now, id) => {
        at.test = now;
        part = id;
        if (release === undefined) return false;
        setTimeout(release, 20);
        return true;
      },
    });
    expect(answer).toMatch(WOKEN);
    expect(counts(requestsOf(test, 'part'), 'left')).toEqual([0, 1]);
    expect(
      toldTo(test, 'main')
        .join('\n')
        .match(/Result: two/g)?.length,
    ).toBe(1);
  });

  it('in its last turn after a limit, which needs the only slot again', async () => {
    let answer = '';
    let tries = 0;
    const isLast = () => eventsOfType(test, 'limit.reached').length > 0;
    const busy = {
      kind: 'overloaded',
      message: 'busy',
      retryable: true,
      retryAfterMs: 50,
    } as const;
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(call('Task', { prompt: 'part', max_turns: 1, run_in_background: true })),
          calls(call('TaskOutput', { task_id: 'x' })),
          async (turn) => {
            // Send while the last turn of the task waits for a retry.
            await until(() => tries > 0);
            return calls(call('TaskSend', { to: turn.child(0), message: 'left' }));
          },
          ({ results }) => {
            answer = results[0]?.text ?? '';
            return { text: 'waiting' };
          },
        ],
        part: [
          calls(call('Bash', {})),
          () => {
            if (!isLast() || (tries += 1) > 1) return { text: 'so far' };
            return { failure: busy, refused: true };
          },
          { text: 'went left' },
        ],
      }),
      { settings: { maxParallel: 1 } },
    );
    const run = test.start('main');
    await run.end.written;
    expect(answer).toMatch(WOKEN);
    expect(counts(requestsOf(test, 'part'), 'left')).toEqual([0, 0, 0, 1]);
    expect(toldTo(test, 'main').join('\n')).toContain('Result: went left');
  });

  it('when it is stopped in the same message', async () => {
    let answers: readonly string[] = [];
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('part')),
          async (turn) => {
            const id = turn.child(0);
            await until(() => test.engine.task(id)?.state.activity.kind === 'tools');
            return calls(
              call('TaskStop', { task_id: id }),
              call('TaskSend', { to: id, message: 'left' }),
            );
          },
          ({ results }) => {
            answers = results.map(({ text }) => text);
            return { text: 'waiting' };
          },
        ],
        part: [calls(call('Bash', { ms: 60_000 })), { text: 'went left' }],
      }),
    );
    await test.start('main').end.written;
    expect(answers).toEqual([
      expect.stringMatching(/^Task \w+ is stopped\./),
      expect.stringMatching(WOKEN),
    ]);
    expect(counts(requestsOf(test, 'part'), 'left')).toEqual([0, 1]);
    expect(toldTo(test, 'main').at(-1)).toContain('Result: went left');
  });
});

it('two messages keep their order', async () => {
  const test: TestEngine = testEngine(
    play({
      main: [
        calls(background('part')),
        (turn) =>
          calls(
            call('SendMessage', { recipient: turn.child(0), content: 'first' }),
            call('send_message', { to: turn.child(0), message: 'second' }),
          ),
      ],
      part: [calls(call('Bash', { ms: 60 }))],
    }),
  );
  await test.start('main').end.written;
  expect(textsOf(requestsOf(test, 'part').at(-1)).slice(-2)).toEqual(['first', 'second']);
});

describe('a message that cannot be sent is an error', () => {
  const cases: readonly (readonly [string, (of: Ids) => Record<string, string>, RegExp])[] = [
    [
      'to itself',
      ({ own }) => ({ to: own, message: 'x' }),
      /^TaskSend: to: no task or shell of yours begins with /,
    ],
    [
      'to its parent',
      ({ main }) => ({ to: main, message: 'x' }),
      /^TaskSend: to: no task or shell of yours begins with /,
    ],
    [
      'to a shell',
      ({ shell }) => ({ to: shell, message: 'x' }),
      /^TaskSend: to: \w+ is a shell and reads no messages$/,
    ],
    [
      'that is empty',
      ({ own }) => ({ to: own, message: ' ' }),
      /^TaskSend: message: must be a text, not " "$/,
    ],
    [
      'to nobody',
      () => ({ message: 'x' }),
      /^TaskSend: to: must be the id of a task, or the beginning of one, not null$/,
    ],
    [
      'of an unknown argument',
      ({ own }) => ({ to: own, message: 'x', urgent: 'y' }),
      /^TaskSend: urgent: is not an argument; valid are to, message$/,
    ],
    [
      'to two at once',
      ({ own }) => ({ to: own, task_id: own, message: 'x' }),
      /^TaskSend: task_id: means to, which is given too; send one of them$/,
    ],
  ];

  interface Ids {
    readonly own: string;
    readonly main: string;
    readonly shell: string;
  }

  it.each(cases)('%s', async (_, input, expected) => {
    let answer = '';
    let main = '';
    const test: TestEngine = testEngine(
      play({
        main: [calls(call('Task', { prompt: 'part' }))],
        part: [
          () => {
            const [child] = eventsOfType(test, 'child.created');
            const run = test.engine.task(child?.child ?? '');
            run?.journal.record({
              type: 'shell.started',
              shell: 'shell0000001',
              callId: 'none',
              command: 'true',
              output: '/dev/null',
            });
            run?.journal.record({
              type: 'shell.ended',
              shell: 'shell0000001',
              end: 'exited',
              exitCode: 0,
            });
            return calls(
              call('TaskSend', input({ own: child?.child ?? '', main, shell: 'shell0000001' })),
            );
          },
          ({ results }) => {
            answer = results[0]?.text ?? '';
            return { text: 'done' };
          },
        ],
      }),
    );
    const run = test.start('main');
    main = run.spec.id;
    await run.end.written;
    expect(answer).toMatch(expected);
  });
});
