import { expect, it } from 'vitest';
import { LongWork } from '../../src/front/headless/long-work.ts';
import { LOG_VERSION, type TaskEvent } from '../../src/protocol/events/event.ts';
import { taskSpec } from '../store/fixture-data.ts';
import { applyEvent } from '../../src/protocol/state/fold.ts';
import { initialState, type TaskState } from '../../src/protocol/state/task-state.ts';

type Happening = readonly [seconds: number, what: 'begins' | 'ends' | 'says', task: string];

/** What is told of a main task and its subagents. */
function told(...happenings: readonly Happening[]): readonly string[] {
  const lines: string[] = [];
  const longWork = new LongWork({
    showAtWork: ({ spec }) => void lines.push(`at work: ${spec.id}`),
    showTask: ({ type }, { spec }) => void lines.push(`${type}: ${spec.id}`),
  });
  const states = new Map<string, TaskState>();
  for (const [seconds, what, task] of happenings) {
    const stamp = { v: LOG_VERSION, seq: 0, ts: seconds * 1_000, task, epoch: 1 };
    const spec = taskSpec(task, task === 'main' ? {} : { parent: 'main' });
    const end = { status: 'completed', error: null, because: 'done', by: null } as const;
    const event: TaskEvent =
      what === 'begins'
        ? { ...stamp, type: 'task.created', spec }
        : what === 'ends'
          ? { ...stamp, type: 'task.ended', end, result: '' }
          : { ...stamp, type: 'notified', level: 'info', message: 'half way' };
    const state = states.get(task) ?? initialState({ ...stamp, type: 'task.created', spec });
    states.set(task, state);
    if (what !== 'begins') applyEvent(state, event);
    longWork.see(event, state);
  }
  return lines;
}

it('tells nothing of what is soon done', () => {
  expect(
    told([0, 'begins', 'main'], [1, 'begins', 'a'], [20, 'ends', 'a'], [29, 'ends', 'main']),
  ).toEqual([]);
});

it('tells of long work who is at it by then, and who begins and ends later', () => {
  expect(
    told(
      [0, 'begins', 'main'],
      [1, 'begins', 'soon'],
      [2, 'begins', 'long'],
      [3, 'ends', 'soon'],
      [31, 'says', 'main'],
      [32, 'begins', 'late'],
      [40, 'ends', 'long'],
      [41, 'ends', 'main'],
    ),
  ).toEqual(['at work: long', 'task.created: late', 'task.ended: long']);
});
