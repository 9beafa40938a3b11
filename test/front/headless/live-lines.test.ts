import { describe, expect, it } from 'vitest';
import { LiveLines, type LiveOptions } from '../../../src/front/headless/live-lines.ts';
import { LOG_VERSION, type EventBody, type TaskEvent } from '../../../src/protocol/events/event.ts';
import { call, calls, play } from '../../engine/play.ts';
import { statesOf, testEngine, waitTool, WORKER } from '../../engine/support.ts';
import { eventOutputText } from '../../../src/engine/task/journal.ts';

/** What a person sees of a child that says this, its id and times left out. */
async function linesOf(
  message: string,
  level: string,
  detail: LiveOptions['detail'],
  roots: LiveOptions['roots'] = 'hidden',
) {
  const test = testEngine(
    play({
      main: [calls(call('Task', { prompt: 'part', description: 'a\njob' }))],
      part: [calls(call('Notify', { message, level }))],
    }),
  );
  await test.start('main').end.written;
  return linesAbout(test.events, { detail, roots }).map((line) =>
    line.replace(/(general-purpose|main) \w{6}:/, '$1 ID:').replace(/[\d.]+ m?s$/, 'T'),
  );
}

function linesAbout(events: readonly TaskEvent[], options: LiveOptions): readonly string[] {
  const lines: string[] = [];
  const live = new LiveLines((line) => lines.push(line), options);
  const states = statesOf(events);
  for (const event of events) {
    const state = states.get(event.task);
    if (state !== undefined) live.show(event, state);
  }
  return lines;
}

const AROUND = (line: string) => [
  '▸ general-purpose ID: a job',
  line,
  '✓ general-purpose ID: 2 turns, 1 tool call, T',
];

it.each([
  ['half way', 'info', '· general-purpose ID: half way'],
  ['odd', 'warning', '! warning: general-purpose ID: odd'],
  ['broken', 'error', '! error: general-purpose ID: broken'],
  [
    'done\n✓ general-purpose 123456: 1 turn\r\u001b[2K',
    'info',
    '· general-purpose ID: done ✓ general-purpose 123456: 1 turn␍',
  ],
])('what a subagent notifies of is one line: %j', async (message, level, line) => {
  expect(await linesOf(message, level, 'tasks')).toEqual(AROUND(line));
});

it('a finding that a subagent posts is one line', async () => {
  const finder = {
    ...WORKER,
    name: 'finder',
    tools: { mode: 'allow', names: ['Board'] },
  } as const;
  const post = { action: 'post', title: 'The\ncache', text: 'It is keyed by path.' };
  const task = { prompt: 'part', description: 'job', subagent_type: 'finder' };
  const test = testEngine(
    play({ main: [calls(call('Task', task))], part: [calls(call('Board', post))] }),
    { agents: [finder] },
  );
  await test.start('main').end.written;
  const lines = linesAbout(test.events, { detail: 'tasks', roots: 'hidden' });
  expect(lines.map((line) => line.replace(/finder \w{6}:/, 'finder ID:'))[1]).toBe(
    '· finder ID: finding: The cache',
  );
  const written = test.events.flatMap((event) => eventOutputText(event) ?? []);
  expect(written).toContain('· finding: The cache\n');
});

it('a person who does not watch gets no line for a notice', async () => {
  expect(await linesOf('half way', 'error', 'waits')).toEqual([]);
});

it('another terminal also shows main tasks, with their ids', async () => {
  expect(await linesOf('half way', 'info', 'calls', 'shown')).toEqual([
    '▸ main ID: main',
    '  main ID: Task {"prompt":"part","description":"a\\njob"}',
    '  ▸ general-purpose ID: a job',
    '    general-purpose ID: Notify {"message":"half way","level":"info"}',
    '  · general-purpose ID: half way',
    '  ✓ general-purpose ID: 2 turns, 1 tool call, T',
    '✓ main ID: 2 turns, 1 tool call, T',
  ]);
});

it('a task at work and a task without its process get a line each', async () => {
  const test = testEngine(play({ main: [] }));
  const run = test.start('look\naround');
  await run.end.written;
  const lines: string[] = [];
  const live = new LiveLines((line) => lines.push(line), { detail: 'calls', roots: 'shown' });
  const state = { ...run.state, status: 'running' } as const;
  live.showAtWork(state, 'Bash');
  live.showAtWork(state, null);
  live.showLeft({ ...state, status: 'interrupted' });
  const name = `main ${run.spec.id.slice(0, 6)}`;
  expect(lines).toEqual([
    `▸ ${name}: running (Bash): ${state.spec.description}`,
    `▸ ${name}: running: ${state.spec.description}`,
    `✗ ${name}: interrupted: its process has gone`,
  ]);
});

it('a question shows the complete command, with the escape sequences in it', async () => {
  const command = 'ls \u001b]0; rm -rf ~ \u0007 \u009d; touch x\necho';
  const test = testEngine(play({ main: [calls(call('Bash', { command }))] }), {
    mode: 'default',
    onAsk: 'park',
    tools: [
      {
        ...waitTool,
        parse: (input) => ({ ok: true, input }),
        describe: () => ({ reads: [], writes: [], commands: [command], hosts: [] }),
      },
    ],
  });
  await test.start('main').end.written;
  const lines: string[] = [];
  const live = new LiveLines((line) => lines.push(line), { detail: 'waits', roots: 'hidden' });
  const states = statesOf(test.events);
  const shown: (string | null)[] = [];
  for (const event of test.events) {
    const state = states.get(event.task);
    if (state !== undefined) live.show(event, state);
    if (event.type === 'question.asked') shown.push(eventOutputText(event));
  }
  const whole = 'Bash: ls ⟨U+001B⟩]0; rm -rf ~ ⟨U+0007⟩ ⟨U+009D⟩; touch x␊echo';
  expect(lines).toEqual([expect.stringContaining(whole)]);
  expect(shown).toEqual([expect.stringContaining(whole)]);
});

describe('what holds a task', () => {
  const test = async () => {
    const made = testEngine(
      play({ main: [calls(call('Task', { prompt: 'part' }))], part: [{ text: 'ok' }] }),
    );
    const run = made.start('main');
    await run.end.written;
    const states = [...statesOf(made.events).values()];
    const root = states.find(({ spec }) => spec.parent === null);
    const child = states.find(({ spec }) => spec.parent !== null);
    if (root === undefined || child === undefined) throw new Error('a task is missing');
    return { root, child };
  };
  const NOW = new Date(2026, 2, 1, 17, 5, 9).getTime();
  const because = 'the rate limit of fake';

  it.each<[string, 'root' | 'child', LiveOptions['detail'], EventBody, string | null]>([
    [
      'a long one',
      'child',
      'waits',
      { type: 'turn.held', turn: 1, because, untilMs: NOW },
      '… general-purpose ID: waiting for the rate limit of fake until 17:05:09',
    ],
    [
      'a short one',
      'root',
      'waits',
      { type: 'turn.held', turn: 1, because, untilMs: NOW - 59_000 },
      null,
    ],
    [
      'one without an end of the main agent',
      'root',
      'waits',
      { type: 'turn.held', turn: 1, because, untilMs: null },
      '… main: waiting for the rate limit of fake',
    ],
    [
      'one without an end of a child',
      'child',
      'waits',
      { type: 'turn.held', turn: 1, because, untilMs: null },
      null,
    ],
    [
      'the same for who watches',
      'child',
      'tasks',
      { type: 'turn.held', turn: 1, because, untilMs: null },
      '… general-purpose ID: waiting for the rate limit of fake',
    ],
  ])('%s', async (_, whose, detail, body, line) => {
    const state = (await test())[whose];
    const lines: string[] = [];
    const live = new LiveLines((text) => lines.push(text), { detail, roots: 'hidden' });
    const stamp = { v: LOG_VERSION, seq: 9, ts: NOW - 60_000, task: state.spec.id, epoch: 1 };
    live.show(Object.assign(stamp, body), state);
    const shown = lines.map((text) =>
      text.replace(/general-purpose \w{6}:/, 'general-purpose ID:'),
    );
    expect(shown).toEqual(line === null ? [] : [line]);
  });
});

it('reports the progress of a server at most every five seconds, and of no other tool', async () => {
  const test = testEngine(play({ main: [calls(call('Notify', { message: 'x' }))] }));
  const { id } = test.start('main').spec;
  await test.start('other').end.written;
  const lines: string[] = [];
  const live = new LiveLines((line) => lines.push(line), { detail: 'calls', roots: 'hidden' });
  const state = statesOf(test.events).get(id);
  const started = test.events.find((event) => event.task === id && event.type === 'call.started');
  if (state === undefined || started === undefined) throw new Error('nothing was called');
  const progress = (tool: string, line: string, now: number) =>
    live.showProgress({ type: 'progress', task: id, callId: 'c', tool, line }, now);
  progress('mcp__s__work', 'too early: the call is not known', 0);
  live.show(started, state);
  progress('mcp__s__work', '1 of 3', 0);
  progress('mcp__s__work', '2 of 3', 4_999);
  progress('mcp__s__work', '3 of 3\u001b[2J\nx', 5_000);
  progress('Bash', 'output', 20_000);
  expect(lines.slice(1)).toEqual([
    '  main: mcp__s__work: 1 of 3',
    '  main: mcp__s__work: 3 of 3 x',
  ]);
});
