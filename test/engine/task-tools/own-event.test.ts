import { expect, test } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import { resolveOwnEvent, readOwnResult } from '../../../src/engine/task-tools/task-output.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';

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

function read(text: string, offset: number, maxBytes: number) {
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
    const page = (await read(whole, offset, 100)).text;
    const body = page.replace(/^Result of Read, as it was then:\n/, '');
    const cut = /\n\[Cut at (\d+) of \d+ characters\. The rest: TaskOutput\(.*\)\]$/.exec(body);
    const shown = cut === null ? body : body.slice(0, cut.index);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(100);
    expect(shown.isWellFormed()).toBe(true);
    text += shown;
    offset = cut === null ? whole.length : Number(cut[1]);
  }
  expect(text).toBe(whole);
  expect(await read('short', 99, 100)).toMatchObject({ error: 'INVALID_PARAM' });
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
