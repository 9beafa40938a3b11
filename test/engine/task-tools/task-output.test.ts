import { describe, expect, it, test } from 'vitest';
import type { ToolResultPart } from '../../../src/protocol/message.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { MusterError } from '../../../src/base/errors.ts';
import {
  background,
  call,
  calls,
  eventsOfType,
  hookLogs,
  play,
  toldTo,
  until,
  type Play,
} from '../play.ts';
import { testEngine, type EngineSetup, type TestEngine } from '../support.ts';
import { resolveOwnEvent, readOwnResult } from '../../../src/engine/task-tools/task-output.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';

/** Runs a background task to a certain state. Returns what TaskOutput then says about it. */
async function read(
  input: Record<string, number | string | boolean | null>,
  { child, setup = {}, when }: Scene,
): Promise<{
  readonly result: ToolResultPart | undefined;
  readonly test: TestEngine;
  readonly id: string;
}> {
  let result: ToolResultPart | undefined;
  let id = '';
  const test: TestEngine = testEngine(
    play({
      main: [
        calls(background('part')),
        async (turn) => {
          id = turn.child(0);
          await until(() => when(test, id));
          return calls(call('TaskOutput', { task_id: id, ...input }));
        },
        ({ results }) => {
          [result] = results;
          return calls(call('TaskStop', { task_id: id }));
        },
      ],
      part: child,
    }),
    setup,
  );
  await test.start('main').end.written;
  return { result, test, id };
}

interface Scene {
  readonly child: Play[string];
  readonly setup?: EngineSetup;
  readonly when: (test: TestEngine, id: string) => boolean;
}

const hasEnded = (test: TestEngine, id: string) => test.engine.task(id) === undefined;
const runsBash = (test: TestEngine, id: string) =>
  test.engine.task(id)?.state.activity.kind === 'tools';

const RUNNING: Scene = {
  child: [{ text: 'first finding', calls: [call('Bash', { ms: 60_000 })] }],
  when: runsBash,
};
const COMPLETED: Scene = { child: [{ text: 'the answer' }], when: hasEnded };
const LIMITS = { maxTokens: null, wallMs: null, resultMaxTokens: 2_000 };
const PARTIAL: Scene = {
  child: [{ text: 'so far', calls: [call('Bash', {})] }, { text: 'what I have' }],
  setup: { settings: { taskLimits: { ...LIMITS, maxTurns: 1 } } },
  when: hasEnded,
};
const FAILED: Scene = {
  child: [
    { text: 'found a thing', calls: [call('Bash', {})] },
    { failure: { kind: 'bad_request', message: 'the server said no', retryable: false } },
  ],
  when: hasEnded,
};

describe('the table of TaskOutput', () => {
  it.each([
    ['at once', { block: false }],
    ['at once with a timeout of 0', { timeout: 0 }],
    ['after the timeout', { timeout: 20 }],
    ['after a timeout that was given as a string', { timeout: '20' }],
  ])('running: its state and the options, %s', async (_, input) => {
    const { result, id } = await read(input, RUNNING);
    expect(result).toMatchObject({ isError: false });
    expect(result?.text.replaceAll(/\d+ s(?= so far|\))/g, 'N s').split('\n')).toEqual([
      'Agent: general-purpose',
      'Status: still running (Bash for N s)',
      'Turns: 1',
      'Tokens: 0',
      'Duration: N s so far',
      '',
      'Last lines:',
      'first finding',
      '',
      'Options:',
      `  - Wait longer: TaskOutput(task_id: "${id}", timeout: 60000)`,
      `  - Check: TaskOutput(task_id: "${id}", block: false)`,
      `  - Stop: TaskStop(task_id: "${id}")`,
    ]);
  });

  it('running: waits for the end and gives the result', async () => {
    const { result } = await read({}, { child: [{ delayMs: 30, text: 'late' }], when: () => true });
    expect(result?.text).toContain('Status: completed');
    expect(result?.text).toContain('late');
  });

  it('queued: says what it waits for', async () => {
    let text: string | undefined;
    // Each message has a command beside the call. Without it the main agent would release the only slot.
    const busy = call('Bash', { ms: 20 });
    const test = testEngine(
      play({
        main: [
          calls(background('part'), busy),
          (turn) => calls(call('TaskOutput', { task_id: turn.child(0), block: false }), busy),
          ({ results }) => {
            text = results[0]?.text;
            return { text: 'done' };
          },
        ],
      }),
      { settings: { maxParallel: 1 } },
    );
    await test.start('main').end.written;
    expect(text).toContain('Status: queued: it waits for a slot\nTurns: 0\n');
  });

  it.each([{ block: true }, { block: false }])('completed: the result, %j', async (input) => {
    const { result, test, id } = await read(input, COMPLETED);
    const [end] = eventsOfType(test, 'task.ended', id);
    expect(end?.result).toBe('the answer');
    expect(result?.isError).toBe(false);
    expect(result?.text).toMatch(
      /^Agent: general-purpose\nStatus: completed\nTurns: 1\nTokens: 0\nDuration: [\d.]+ m?s\n\nOutput:\nthe answer\n\n\[The task made no tool call\]\n\n\[task /,
    );
  });

  it.each([{ block: true }, { block: false }])('partial: its result so far, %j', async (input) => {
    const { result } = await read(input, PARTIAL);
    expect(result?.isError).toBe(false);
    expect(result?.text).toContain('Status: partial');
    expect(result?.text).toContain('LIMIT_EXCEEDED: the limit max_turns = 1 is reached');
    expect(result?.text).toContain('what I have');
  });

  it.each([{ block: true }, { block: false }])('failed: error and output, %j', async (input) => {
    const { result } = await read(input, FAILED);
    expect(result?.isError).toBe(true);
    expect(result?.text).toContain('Status: failed');
    expect(result?.text).toContain('PROVIDER_ERROR: the server said no');
    expect(result?.text).toContain('What it had found so far:\n\n');
    expect(result?.text).toContain('found a thing');
  });

  it('stopped: error and output', async () => {
    const { result } = await read(
      {},
      {
        ...RUNNING,
        when: (test, id) => {
          test.engine.task(id)?.stop({ by: 'user', reason: 'enough', code: 'CANCELLED' });
          return hasEnded(test, id);
        },
      },
    );
    expect(result?.isError).toBe(true);
    expect(result?.text).toContain('Status: stopped');
    expect(result?.text).toContain('CANCELLED: enough. What it had found so far:');
    expect(result?.text).toContain('first finding');
  });
});

describe('offset', () => {
  const long = Array.from({ length: 400 }, (_, n) => `Paragraph ${n} of the answer.`).join('\n\n');
  const scene: Scene = {
    child: [{ text: long }],
    setup: {
      settings: { taskLimits: { ...LIMITS, maxTurns: null, resultMaxTokens: 100 } },
    },
    when: hasEnded,
  };

  it('reads a long answer to its end without repetitions or gaps', async () => {
    let pages = '';
    let id = '';
    const test: TestEngine = testEngine((request) => {
      const [first] = request.messages;
      if (first?.role === 'user' && first.content[0]?.text === 'part') return { text: long };
      const last = request.messages.at(-1);
      const text = last?.role === 'tool' ? (last.content[0]?.text ?? '') : '';
      if (text === '') return calls(call('Task', { prompt: 'part' }));
      id ||= /\[task ([a-z0-9]+) /.exec(text)?.[1] ?? '';
      const [page = ''] = text.split('\n\n[');
      pages += `${page}\n\n`;
      const next = /offset: (\d+)\)/.exec(text)?.[1];
      if (next === undefined) return { text: 'read' };
      return calls(call('TaskOutput', { task_id: id, offset: Number(next) }));
    }, scene.setup);
    await test.start('main').end.written;
    expect(pages.trim()).toBe(long);
    expect(test.model.requests.length).toBeGreaterThan(10);
  });

  it.each([
    [long.length, false, '[task '],
    [
      long.length + 1,
      true,
      `offset: ${long.length + 1} is beyond the end; the answer has ${long.length} characters`,
    ],
    [-1, false, '\n[offset: -1 is below the minimum, 0 was used]'],
    [1.5, true, 'offset: must be a whole number from 0 on, not 1.5'],
  ])('%d', async (offset, isError, text) => {
    const { result } = await read({ offset }, scene);
    expect(result?.isError).toBe(isError);
    expect(result?.text).toContain(text);
  });
});

describe('wrong arguments', () => {
  it.each([
    [{ timeout: 1.5 }, 'timeout: must be a whole number from 0 to 600000, not 1.5'],
    [{ timeout: 'soon' }, 'timeout: must be a whole number from 0 to 600000, not "soon"'],
    [{ block: 'maybe' }, 'block: must be true or false, not "maybe"'],
    [{ block: 1 }, 'block: must be true or false, not 1'],
    [{ wait: 3 }, 'wait: is not an argument; valid are task_id, block, timeout, offset'],
    [{ task_id: '' }, 'task_id: must be the id of a task, or the beginning of one, not ""'],
    [{ task_id: null }, 'task_id: must be the id of a task, or the beginning of one, not null'],
    [{ id: 'x' }, 'id: means task_id, which is given too; send one of them'],
  ])('%j', async (input, text) => {
    const { result } = await read(input, COMPLETED);
    expect(result).toMatchObject({ isError: true, text: `TaskOutput: ${text}` });
  });
});

it.each([
  [{ timeout: -1 }, 'timeout: -1 is below the minimum, 0 was used'],
  [{ timeout: 600_001 }, 'timeout: 600001 is above the maximum, 600000 was used'],
])(
  'a number out of range is replaced by the nearest one, and the result says so: %j',
  async (input, note) => {
    const { result } = await read(input, COMPLETED);
    expect(result).toMatchObject({ isError: false, text: expect.stringContaining(`\n[${note}]`) });
  },
);

describe('a result', () => {
  const NOTICE = /Ended in the background/;

  it('that was read by TaskOutput before its notice was sent is not reported again', async () => {
    const { test } = await read({}, COMPLETED);
    const told = toldTo(test, 'main');
    expect(told.filter((text) => NOTICE.test(text))).toEqual([]);
    // Once from TaskOutput, and once more because TaskStop was called, too.
    expect(told.filter((text) => text.includes('the answer')).length).toBe(2);
  });

  it('that was read while its end was being written is not reported again', async () => {
    let held: (() => void) | undefined;
    let childId = '';
    const test: TestEngine = testEngine(
      play({
        main: [
          calls(background('part')),
          async (turn) => {
            childId = turn.child(0);
            await until(() => test.engine.task(childId)?.state.end !== null && held !== undefined);
            return calls(call('TaskOutput', { task_id: childId, block: false }));
          },
          ({ results }) => {
            expect(results[0]?.text).toContain('the answer');
            held?.();
            return { text: 'read it' };
          },
        ],
        part: [{ text: 'the answer' }],
      }),
      {
        prepareStore: (store) =>
          hookLogs(store, {
            sync: async (task) => {
              if (task !== childId || test.engine.task(task)?.state.end === null) return;
              await new Promise<void>((resolve) => (held = resolve));
            },
          }),
      },
    );
    const run = test.start('main');
    await run.end.written;
    expect(run.state.result).toBe('read it');
    expect(toldTo(test, 'main').filter((text) => text.includes('the answer')).length).toBe(1);
  });

  it('that was reported stays reported, and can be read once more', async () => {
    const test = testEngine(
      play({
        main: [
          calls(background('part')),
          { text: 'waiting' },
          (turn) => {
            expect(turn.told).toContain('Result: the answer');
            return calls(call('TaskOutput', { task_id: turn.child(0) }));
          },
        ],
        part: [{ text: 'the answer' }],
      }),
    );
    await test.start('main').end.written;
    const told = toldTo(test, 'main');
    expect(told.filter((text) => text.includes('the answer'))).toEqual([
      expect.stringMatching(/^<notice>/),
      expect.stringMatching(/^Agent:/),
    ]);
  });
});

it('whose log is gone is an error that affects nobody else', async () => {
  const prepareStore = (store: TaskStore) => {
    store.scan = (id) => {
      throw new MusterError('NOT_FOUND', `task ${id} is not known`);
    };
  };
  const { result, id } = await read({}, { ...COMPLETED, setup: { prepareStore } });
  expect(result).toMatchObject({ isError: true, text: `TaskOutput: task ${id} is not known` });
});

const TASK = 'abcd1234efgh';

type Origins = Parameters<typeof resolveOwnEvent>[1];

function goesOnWith(task: string, seq: number): Pick<Required<Origins>, 'inherited'> {
  return { inherited: { task, seq, agent: 'main', messages: [], known: [] } };
}

/**
 * `heir` continues `fork` up to event 20 of `fork`, which continues `first` up to event 90. `loop` leads back to
 * itself.
 */
const TASKS: readonly Origins[] = [
  { id: TASK },
  { id: 'first' },
  { id: 'fork', branchedFrom: { task: 'first', seq: 90 } },
  { id: 'heir', ...goesOnWith('fork', 20) },
  { id: 'orphan', ...goesOnWith('gone', 5), branchedFrom: { task: 'lost', seq: 5 } },
  { id: 'loop', ...goesOnWith('pool', 9) },
  { id: 'pool', ...goesOnWith('loop', 9) },
];

test.each<[task: string, word: string, named: string | null]>([
  [TASK, `${TASK}#41`, `${TASK} 41`],
  [TASK, 'abcd#7', `${TASK} 7`],
  [TASK, '#7', `${TASK} 7`],
  [TASK, 'other#7', null],
  [TASK, TASK, null],
  [TASK, `${TASK}#x`, null],
  [TASK, `${TASK}#9999999999999`, null],
  ['heir', 'fork#20', 'fork 20'],
  ['heir', 'fork#21', null],
  ['heir', 'first#90', 'first 90'],
  ['heir', 'first#91', null],
  ['fork', 'heir#3', null],
  ['orphan', 'gone#5', 'gone 5'],
  ['orphan', 'first#5', null],
  ['loop', 'first#5', null],
  ['loop', 'pool#9', 'pool 9'],
])('for the task %s, %s refers to the event %s', (task, word, named) => {
  const find = (id: string) => TASKS.find((each) => each.id === id) ?? null;
  const own = find(task);
  const event = own === null ? null : resolveOwnEvent(word, own, find);
  expect(event === null ? null : `${event.task} ${event.seq}`).toBe(named);
});

function readPage(text: string, offset: number, maxBytes: number) {
  const stamp = { v: 4, seq: 3, ts: 0, task: TASK, epoch: 1 };
  const outcome = { callId: 'c', tool: 'Read', text, error: null, facts: {}, ms: 1 } as const;
  const event: TaskEvent = { ...stamp, type: 'call.ended', ...outcome };
  const store = {
    scan: (_: string, visit: (event: TaskEvent) => void) => {
      visit(event);
      return undefined as never;
    },
  };
  return readOwnResult(store, { task: TASK, seq: 3 }, { offset, maxBytes, attach: undefined });
}

test('a result is read page by page without loss, and no character is split', async () => {
  const whole = `${'a line\n'.repeat(50)}${'漢字😀'.repeat(60)}`;
  let text = '';
  for (let offset = 0; offset < whole.length;) {
    const page = (await readPage(whole, offset, 100)).text;
    const body = page.replace(/^Result of Read, as it was then:\n/, '');
    const cut = /\n\[Cut at (\d+) of \d+ characters\. The rest: TaskOutput\(.*\)\]$/.exec(body);
    const shown = cut === null ? body : body.slice(0, cut.index);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(100);
    expect(shown.isWellFormed()).toBe(true);
    text += shown;
    offset = cut === null ? whole.length : Number(cut[1]);
  }
  expect(text).toBe(whole);
  expect(await readPage('short', 99, 100)).toMatchObject({ error: 'INVALID_PARAM' });
});

test('the error says that a log is gone', async () => {
  const store = {
    scan: () => {
      throw new MusterError('NOT_FOUND', 'there is no task gone');
    },
  };
  const page = { offset: 0, maxBytes: 100, attach: undefined };
  expect(await readOwnResult(store, { task: 'gone', seq: 3 }, page)).toEqual({
    text: 'TaskOutput: task_id: gone#3: there is no task gone',
    error: 'NOT_FOUND',
  });
});
