import { describe, expect, it } from 'vitest';
import { byteLength } from '../../../src/base/text.ts';
import { formatEventLine } from '../../../src/engine/task-tools/task-replay.ts';
import { background, call, calls, eventsOfType, play, until, type Play } from '../play.ts';
import { testEngine, WORKER, type EngineSetup, type TestEngine } from '../support.ts';

const MAIN_TOOLS = ['AskUser', 'TaskOutput', 'TaskStop', 'TaskSend', 'Notify', 'Task', 'TaskList'];

/** Returns the output of one call that the main agent makes after other calls. */
async function answerTo(
  name: string,
  input: Parameters<typeof call>[1] | ((test: TestEngine) => Parameters<typeof call>[1]),
  { before = [], others = {}, setup = {} }: Scene = {},
) {
  let answer = { text: '', isError: false };
  const test: TestEngine = testEngine(
    play({
      ...others,
      main: [
        ...before.map((line) => () => line(test)),
        () => calls(call(name, typeof input === 'function' ? input(test) : input)),
        ({ results }) => {
          const [result] = results;
          if (result !== undefined) answer = { text: result.text, isError: result.isError };
          for (const id of children(test)) test.engine.task(id)?.stop(ENOUGH);
          return { text: 'done' };
        },
      ],
    }),
    setup,
  );
  const run = test.start('main');
  await run.end.written;
  return { ...answer, test, run };
}

interface Scene {
  readonly before?: readonly ((
    test: TestEngine,
  ) => Promise<ReturnType<typeof calls>> | ReturnType<typeof calls>)[];
  readonly others?: Play;
  readonly setup?: EngineSetup;
}

const ENOUGH = { by: 'user', reason: 'enough', code: 'CANCELLED' } as const;

function children(test: TestEngine): readonly string[] {
  return eventsOfType(test, 'child.created').map(({ child }) => child);
}

it('the Task tools take little of each request, in the order of a request', async () => {
  const test = testEngine(play({}));
  await test.start('main').end.written;
  const tools = (test.model.requests[0]?.prefix.tools ?? []).filter(({ name }) => name !== 'Bash');
  const sizes = tools.map((tool) => byteLength(JSON.stringify(tool)));
  expect(tools.map(({ name }) => name)).toEqual(MAIN_TOOLS);
  expect(sizes).toEqual([357, 434, 220, 308, 229, 1199, 146]);
});

describe('TaskList', () => {
  it('shows an empty tree', async () => {
    expect(await answerTo('TaskList', {})).toMatchObject({
      text: 'No task or shell of yours.',
      isError: false,
    });
  });

  it('takes no argument', async () => {
    expect(await answerTo('TaskList', { status: 'running' })).toMatchObject({
      text: 'TaskList: status: is not an argument; there are none',
      isError: true,
    });
  });

  it('takes an explanation, which changes nothing', async () => {
    expect(await answerTo('TaskList', { explanation: 'to see' })).toMatchObject({ isError: false });
  });

  it('shows running tasks first, each below its parent', async () => {
    const { text, test } = await answerTo(
      'TaskList',
      {},
      {
        before: [
          () => calls(call('Task', { prompt: 'ended', description: 'first\n  job' })),
          () => calls(call('Task', { prompt: 'failing', description: 'second job' })),
          () => calls(background('busy')),
          async (at) => {
            await until(
              () =>
                eventsOfType(at, 'call.started').filter(({ tool }) => tool === 'Bash').length === 2,
            );
            return calls(call('Task', { prompt: 'third' }));
          },
        ],
        others: {
          failing: [{ failure: { kind: 'bad_request', message: 'no', retryable: false } }],
          busy: [calls(background('below'), call('Bash', { ms: 60_000 }))],
          below: [calls(call('Bash', { ms: 60_000 }))],
        },
      },
    );
    const [ended, failing, busy, below, third] = children(test);
    expect(text.split('\n')).toEqual([
      `${busy} running (Bash) · general-purpose · 1 turn · busy`,
      `  ${below} running (Bash) · general-purpose · 1 turn · below`,
      `${third} completed · general-purpose · 1 turn · third`,
      `${failing} failed · general-purpose · 0 turns · second job`,
      `${ended} completed · general-purpose · 1 turn · first job`,
    ]);
  });

  it('shows shells below the task that started them', async () => {
    const { text, test } = await answerTo(
      'TaskList',
      {},
      {
        before: [
          () => calls(background('busy')),
          async (at) => {
            const id = children(at)[0] ?? '';
            await until(() => at.engine.task(id)?.state.activity.kind === 'tools');
            for (const shell of ['shell0000001', 'shell0000002']) {
              at.engine.task(id)?.journal.record({
                type: 'shell.started',
                shell,
                callId: 'none',
                command: `serve\n${shell}`,
                output: '/dev/null',
              });
            }
            at.engine.task(id)?.journal.record({
              type: 'shell.ended',
              shell: 'shell0000001',
              end: 'exited',
              exitCode: 3,
            });
            return calls(call('Bash', {}));
          },
        ],
        others: { busy: [calls(call('Bash', { ms: 60_000 }))] },
      },
    );
    expect(text.split('\n')).toEqual([
      `${children(test)[0]} running (Bash) · general-purpose · 1 turn · busy`,
      '  shell0000002 running · shell · serve shell0000002',
      '  shell0000001 ended with exit code 3 · shell · serve shell0000001',
    ]);
  });

  it('shows at most 100 lines, and says how many are left out', async () => {
    const many = (test: TestEngine) => {
      const run = test.engine.task(test.events[0]?.task ?? '');
      const child = {
        callId: 'none',
        background: true,
        status: 'completed',
        below: [],
        receipt: null,
      } as const;
      for (let n = 0; n < 130; n += 1)
        run?.state.children.set(`many${1_000_000 + n}`, { ...child });
      return calls(call('Bash', {}));
    };
    const { text } = await answerTo('TaskList', {}, { before: [many] });
    const lines = text.split('\n');
    expect(lines.length).toBe(101);
    expect(lines[0]).toBe('many1000129 lost');
    expect(lines.at(-1)).toBe('[30 more; what has not ended comes first]');
    const caps = { resultBytes: 500, readBytes: 500, spillBytes: 500, toolMs: 10_000 };
    const few = await answerTo('TaskList', {}, { before: [many], setup: { settings: { caps } } });
    expect(byteLength(few.text)).toBeLessThanOrEqual(500);
    expect(few.text).toMatch(/\[\d+ more; what has not ended comes first\]$/);
  });
});

/** A setup with TaskReplay, which the main agent does not have by default. */
const WITH_REPLAY: EngineSetup = {
  agent: { ...WORKER, tools: { mode: 'allow', names: ['Task', 'TaskReplay', 'Bash'] } },
};

describe('TaskReplay', () => {
  const before = [() => calls(call('Task', { prompt: 'part', description: 'a job' }))];
  const others: Play = {
    part: [
      { text: 'looking', calls: [call('Bash', { ms: 0, note: 'n'.repeat(5_000) })] },
      { text: 'the\nanswer' },
    ],
  };
  const scene: Scene = { before, others, setup: WITH_REPLAY };

  it('gives the events of a task, one line each', async () => {
    const { text, test } = await answerTo(
      'TaskReplay',
      (at) => ({ task_id: children(at)[0] ?? '' }),
      scene,
    );
    const lines = text.split('\n');
    const events = test.events.filter(({ task }) => task === children(test)[0]);
    expect(lines.length).toBe(events.length + 1);
    expect(lines.slice(0, -1).map((line) => line.split(' ')[0])).toEqual(
      events.map(({ seq }) => `${seq}`),
    );
    expect(lines[0]).toMatch(
      /^0 \+0 ms task\.created \{"parent":"\w+","depth":1,"agent":"general-purpose","model":"scripted\/one","description":"a job","prompt":"part","tools":\[/,
    );
    expect(text).toContain(`"note":"${'n'.repeat(160)}… [5000 characters]"`);
    expect(text).toContain('"result":"the\\nanswer"');
    expect(lines.at(-1)).toBe(`[Events 0 to ${events.length - 1}: all of the log so far]`);
  });

  it('returns pages, and says how to read on', async () => {
    const page = (from: number, limit: number) =>
      answerTo('TaskReplay', (at) => ({ task_id: children(at)[0] ?? '', from, limit }), scene);
    const { text, test } = await page(2, 3);
    const id = children(test)[0];
    const events = test.events.filter(({ task }) => task === id).length;
    expect(text.split('\n').map((line) => line.split(' ')[0])).toEqual(['2', '3', '4', '[Events']);
    expect(text.split('\n').at(-1)).toBe(
      `[Events 2 to 4 of ${events}. Read on: TaskReplay(task_id: "${id}", from: 5)]`,
    );
    expect((await page(events, 3)).text).toBe(
      `[No event from ${events} on; the log has ${events} so far]`,
    );
  });

  it('stays within tool_result_bytes, and still reaches the end', async () => {
    const caps = { resultBytes: 600, readBytes: 600, spillBytes: 600, toolMs: 10_000 };
    const seen: string[] = [];
    let from: number | null = 0;
    while (from !== null) {
      const start: number = from;
      const { text, test } = await answerTo(
        'TaskReplay',
        (at) => ({ task_id: children(at)[0] ?? '', from: start, limit: 200 }),
        { ...scene, setup: { ...WITH_REPLAY, settings: { caps } } },
      );
      const lines = text.split('\n');
      seen.push(...lines.slice(0, -1).map((line) => line.split(' ')[0] ?? ''));
      // One event is always shown, and its line is short.
      expect(byteLength(text)).toBeLessThanOrEqual(lines.length > 2 ? 600 : 1_100);
      const next = /from: (\d+)\)\]$/.exec(text)?.[1];
      from = next === undefined ? null : Number(next);
      if (from === null) {
        const events = test.events.filter(({ task }) => task === children(test)[0]);
        expect(seen).toEqual(events.map(({ seq }) => `${seq}`));
      }
    }
  });

  it.each([
    [{ task_id: 'nobody000000' }, 'task_id: no task or shell of yours begins with nobody000000'],
    [{ task_id: '' }, 'task_id: must be the id of a task, or the beginning of one, not ""'],
    [{ task_id: 'x', from: 'a' }, 'from: must be a whole number from 0 on, not "a"'],
    [{ task_id: 'x', limit: 1.5 }, 'limit: must be a whole number from 1 to 200, not 1.5'],
    [{ task_id: 'x', all: true }, 'all: is not an argument; valid are task_id, from, limit'],
  ])('refuses %j', async (input, message) => {
    expect(await answerTo('TaskReplay', input, scene)).toMatchObject({
      text: `TaskReplay: ${message}`,
      isError: true,
    });
  });

  it('replaces numbers out of range by the nearest valid ones, and says so', async () => {
    const { text } = await answerTo(
      'TaskReplay',
      (at) => ({ task_id: children(at)[0] ?? '', from: -1, limit: 201 }),
      scene,
    );
    expect(text).toMatch(
      /^0 \+0 ms[^]*\n\[from: -1 is below the minimum, 0 was used\]\n\[limit: 201 is above the maximum, 200 was used\]$/,
    );
  });

  it('limits each line, whatever an event contains', () => {
    const inputs = Array.from({ length: 10_000 }, (_, n) => `input${n}`);
    const stamp = { v: 2, seq: 7, ts: 61_000, task: 'aaaaaaaaaaaa', epoch: 1 };
    const line = formatEventLine(
      { ...stamp, type: 'turn.started', turn: 1, inputs, model: 'm\u2028\n', toolChoice: 'auto' },
      0,
    );
    expect(line).toMatch(/^7 \+1 min 1 s turn\.started \{"turn":1,"inputs":\["input0",/);
    expect(line).toMatch(/… \[\d+ characters\]$/);
    expect(line.length).toBeLessThan(850);
    expect(line).not.toContain('\n');
  });
});

describe('Notify', () => {
  it('writes the event, and answers with one word', async () => {
    const { text, isError, test, run } = await answerTo('Notify', {
      message: 'half way',
      level: 'warning',
    });
    expect([text, isError]).toEqual(['noted', false]);
    expect(eventsOfType(test, 'notified', run.spec.id)).toMatchObject([
      { level: 'warning', message: 'half way' },
    ]);
  });

  it('has level info by default', async () => {
    const { test } = await answerTo('Notify', { message: 'm'.repeat(2_000) });
    expect(eventsOfType(test, 'notified').map(({ level }) => level)).toEqual(['info']);
  });

  it.each([
    [
      { message: 'm'.repeat(2_001) },
      'message: has 2001 characters; at most 2000 are taken, so say it shorter',
    ],
    [{ message: '' }, 'message: must be a text, not ""'],
    [{}, 'message: must be a text, not null'],
    [{ message: 'x', level: 'fatal' }, 'level: must be one of info, warning, error, not "fatal"'],
    [{ message: ['m'.repeat(500)] }, `message: must be a text, not ["${'m'.repeat(78)}…`],
  ])('refuses %#', async (input, message) => {
    const { text, isError, test } = await answerTo('Notify', input);
    expect([text, isError]).toEqual([`Notify: ${message}`, true]);
    expect(eventsOfType(test, 'notified')).toEqual([]);
  });

  it('of a child reaches neither the model of its parent nor its result', async () => {
    const test = testEngine(
      play({
        main: [calls(call('Task', { prompt: 'part' }))],
        part: [calls(call('Notify', { message: 'half way' }))],
      }),
    );
    await test.start('main').end.written;
    expect(eventsOfType(test, 'notified').length).toBe(1);
    const main = test.model.requests.filter(({ prefix }) => prefix.system.length === 1);
    expect(main.length).toBe(2);
    expect(JSON.stringify(main)).not.toContain('half way');
  });
});
