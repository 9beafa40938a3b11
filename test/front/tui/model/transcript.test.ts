import { expect, it } from 'vitest';
import { callSubject } from '../../../../src/report/call-subject.ts';
import {
  applySignalToTree,
  applyToTree,
  closeTranscript,
  emptyTaskTree,
  currentRows,
  openTranscript,
  paneRows,
} from '../../../../src/front/tui/model/task-tree.ts';
import { forgetOutputs } from '../../../../src/front/tui/model/call-outputs.ts';
import { applyToTranscript, emptyTranscript } from '../../../../src/front/tui/model/transcript.ts';
import {
  LOG_VERSION,
  type EventBody,
  type TaskEvent,
} from '../../../../src/protocol/events/event.ts';
import { applyEvent } from '../../../../src/protocol/state/fold.ts';
import { initialState, type TaskState } from '../../../../src/protocol/state/task-state.ts';
import type { AssistantPart } from '../../../../src/protocol/message.ts';
import { taskEnded, taskSpec, turnEnded } from '../../../store/fixture-data.ts';

/** A log that grows. */
class Log {
  readonly events: TaskEvent[] = [];
  private readonly id: string;

  constructor(id: string) {
    this.id = id;
  }

  add(body: EventBody): TaskEvent {
    const seq = this.events.length;
    const event = { v: LOG_VERSION, seq, ts: seq * 1_000, task: this.id, epoch: 1, ...body };
    this.events.push(event);
    return event;
  }
}

function answer(...content: readonly AssistantPart[]): EventBody {
  return turnEnded({ message: { role: 'assistant', content } });
}

it('a transcript lists messages, thoughts, calls and answers in order', () => {
  const log = new Log('mainmain');
  const transcript = emptyTranscript('mainmain');
  log.add({ type: 'task.created', spec: taskSpec('mainmain', { prompt: 'Where?' }) });
  log.add(
    answer(
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'tool_call', id: 'c', name: 'Grep', input: { pattern: 'retry' } },
    ),
  );
  log.add({ type: 'call.started', callId: 'c', tool: 'Grep', input: { pattern: 'retry' } });
  log.add({
    type: 'call.ended',
    callId: 'c',
    tool: 'Grep',
    text: 'a\nb\n',
    error: null,
    facts: {},
    ms: 5,
  });
  log.add(answer({ type: 'text', text: 'There.' }));
  log.add(taskEnded('stopped'));
  for (const event of log.events) applyToTranscript(transcript, event);
  // What was seen already changes nothing.
  for (const event of log.events) applyToTranscript(transcript, event);
  expect(transcript.entries).toEqual([
    { key: 1_024, kind: 'message', id: 'prompt', text: 'Where?', unread: false },
    { key: 2_048, kind: 'thinking', text: 'Let me see.' },
    {
      key: 2_049,
      kind: 'call',
      callId: 'c',
      tool: 'Grep',
      subject: 'retry',
      state: 'done',
      startedAt: 2_000,
      ms: 5,
      edits: [],
      formerContent: null,
      output: 'a\nb\n',
      outputLines: 2,
      tail: [],
      exitCode: null,
      document: null,
      todos: null,
      answer: null,
    },
    { key: 5_120, kind: 'answer', text: 'There.' },
    { key: 6_144, kind: 'ended', status: 'stopped', reason: 'it answered' },
  ]);
});

it.each([
  [null, 'done'],
  ['CANCELLED', 'stopped'],
  ['TIMEOUT', 'failed'],
] as const)('a call that ends with %s is %s', (error, state) => {
  const log = new Log('mainmain');
  const transcript = emptyTranscript('mainmain');
  const input = { command: 'make' };
  log.add({ type: 'task.created', spec: taskSpec('mainmain') });
  log.add(answer({ type: 'tool_call', id: 'c', name: 'Bash', input }));
  log.add({ type: 'call.started', callId: 'c', tool: 'Bash', input });
  log.add({ type: 'call.ended', callId: 'c', tool: 'Bash', text: '', error, facts: {}, ms: 5 });
  for (const event of log.events) applyToTranscript(transcript, event);
  expect(
    transcript.entries.flatMap((entry) => (entry.kind === 'call' ? [entry.state] : [])),
  ).toEqual([state]);
});

it.each<readonly [string, Parameters<typeof callSubject>[1], string]>([
  ['Bash', { command: 'npm test', timeout: 5 }, 'npm test'],
  ['Read', { file_path: 'a.ts', offset: 3 }, 'a.ts'],
  ['Task', { prompt: 'p', description: 'd', subagent_type: 'Explore' }, 'Explore: d'],
  ['Task', { prompt: 'p' }, 'p'],
  ['mcp__a__b', { deep: { x: 1 } }, '{"deep":{"x":1}}'],
  ['TaskList', {}, ''],
  ['Read', 'not an object', 'not an object'],
])('a call of %s with %j is about %s', (tool, input, subject) => {
  expect(callSubject(tool, input)).toBe(subject);
});

it('a transcript keeps a bounded number of entries', () => {
  const big = 'x'.repeat(100_000);
  const sizes = [2_000, 20_000].map((turns) => {
    const transcript = emptyTranscript('mainmain');
    const log = new Log('mainmain');
    for (let turn = 0; turn < turns; turn += 1) {
      applyToTranscript(
        transcript,
        log.add(answer({ type: 'text', text: turn % 500 === 0 ? big : 'short' })),
      );
      log.events.length = 1;
      transcript.lastSeq = -1;
    }
    return transcript;
  });
  for (const { entries, dropped } of sizes) {
    expect(entries.length).toBeLessThanOrEqual(500);
    expect(dropped).toBeGreaterThan(1_000);
    const longest = Math.max(
      ...entries.map((entry) => (entry.kind === 'answer' ? entry.text.length : 0)),
    );
    expect(longest).toBeLessThan(66_000);
  }
});

/** A tree in view: a main task and children that come and go. */
function tree(children: number, { ended }: { readonly ended: number }) {
  const ui = emptyTaskTree();
  const states = new Map<string, TaskState>();
  const logs = new Map<string, Log>();
  const write = (id: string, body: EventBody) => {
    const log = logs.get(id) ?? new Log(id);
    logs.set(id, log);
    const event = log.add(body);
    const state = states.get(id) ?? initialState(event);
    if (states.has(id)) applyEvent(state, event);
    states.set(id, state);
    applyToTree(ui, event, state);
  };
  write('mainmain', { type: 'task.created', spec: taskSpec('mainmain') });
  for (let index = 0; index < children; index += 1) {
    const id = `child${String(index).padStart(5, '0')}`;
    write(id, {
      type: 'task.created',
      spec: taskSpec(id, { root: 'mainmain', parent: 'mainmain', depth: 1 }),
    });
    if (index < ended) write(id, taskEnded());
    if (index < ended) states.delete(id);
  }
  return ui;
}

it('the tree shows tasks at work first and counts the rest', () => {
  const ui = tree(12, { ended: 4 });
  const { shown, hidden } = paneRows(currentRows(ui), 5);
  expect(shown.map(({ row }) => row.id)).toEqual([
    'mainmain',
    'child00004',
    'child00005',
    'child00006',
    'child00007',
  ]);
  expect(hidden).toEqual({ atWork: 4, ended: 4 });
});

it('the tree keeps a bounded number of ended tasks, and all tasks at work', () => {
  const ui = tree(3_000, { ended: 2_990 });
  expect(ui.rows.size).toBeLessThanOrEqual(750);
  expect(ui.rows.size + ui.droppedRows).toBe(3_001);
  expect([...ui.rows.values()].filter(({ endedAt }) => endedAt === null).length).toBe(11);
});

it('the end of streamed text is kept, also of a few tasks out of view', () => {
  const ui = tree(100, { ended: 0 });
  const opened = emptyTranscript('child00000');
  ui.opened = opened;
  const children = [...ui.rows.keys()].filter((id) => id !== 'mainmain');
  for (let index = 0; index < 10; index += 1) {
    for (const task of ['mainmain', ...children]) {
      applySignalToTree(ui, { type: 'text_delta', task, text: 'y'.repeat(10_000) });
    }
  }
  expect([ui.main.stream.text.length, opened.stream.text.length]).toEqual([65_536, 65_536]);
  expect(ui.streams.size).toBe(64);
  expect(Math.max(...[...ui.streams.values()].map(({ text }) => text.length))).toBe(65_536);
});

it('a task that is opened shows what its running commands have written so far', () => {
  const ui = tree(1, { ended: 0 });
  const task = 'child00000';
  const command = { callId: 'c1', tool: 'Bash', input: { command: 'make' } } as const;
  const started = { v: LOG_VERSION, seq: 9, ts: 1, task, epoch: 1, type: 'call.started' } as const;
  const report = (callId: string, ...lines: readonly string[]): void =>
    applySignalToTree(ui, { type: 'progress', task, callId, tool: 'Bash', line: '', lines });
  const shown = (): unknown => {
    const opened = emptyTranscript(task);
    applyToTranscript(opened, { ...started, ...command });
    openTranscript(ui, opened);
    const [call] = ui.opened?.entries ?? [];
    return call?.kind === 'call' ? call.tail : null;
  };
  report('c1', 'one');
  report('c1', 'one', 'two');
  report('another', 'three');
  const first = shown();
  closeTranscript(ui);
  const again = shown();
  closeTranscript(ui);
  for (let index = 0; index < 100; index += 1) report(`more${index}`, 'x'.repeat(10_000));
  const { size } = ui.outputs;
  forgetOutputs(ui.outputs, {
    ...started,
    type: 'call.ended',
    callId: 'c1',
    tool: 'Bash',
    text: '',
    error: null,
    facts: {},
    ms: 1,
  });
  const afterEnd = shown();
  forgetOutputs(ui.outputs, { ...started, ...taskEnded() });
  expect([first, again, size, afterEnd, ui.outputs.size]).toEqual([
    ['one', 'two'],
    ['one', 'two'],
    64,
    [],
    0,
  ]);
});

it('a task that is opened, left and opened again shows the answer that it is writing', () => {
  const ui = tree(1, { ended: 0 });
  const write = (text: string): void =>
    applySignalToTree(ui, { type: 'text_delta', task: 'child00000', text });
  const shown: (string | undefined)[] = [];
  write('It ');
  openTranscript(ui, emptyTranscript('child00000'));
  write('is ');
  shown.push(ui.opened?.stream.text);
  closeTranscript(ui);
  write('here');
  openTranscript(ui, emptyTranscript('child00000'));
  shown.push(ui.opened?.stream.text);
  expect(shown).toEqual(['It is ', 'It is here']);
  expect(ui.streams.size).toBe(0);
});
