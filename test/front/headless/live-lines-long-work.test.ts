import { expect, it } from 'vitest';
import { LOG_VERSION, type TaskEvent } from '../../../src/protocol/events/event.ts';
import { reportLongWork } from '../../../src/front/headless/live-lines.ts';
import { taskSpec } from '../../store/fixture-data.ts';
import { applyEvent } from '../../../src/protocol/state/fold.ts';
import { initialState, type TaskState } from '../../../src/protocol/state/task-state.ts';

type Step = readonly [seconds: number, action: 'starts' | 'ends' | 'reports', task: string];

/** The lines that are printed for a main task and its subagents. */
function linesFor(...steps: readonly Step[]): readonly string[] {
  const lines: string[] = [];
  const longWork = reportLongWork({
    showAtWork: ({ spec }) => void lines.push(`at work: ${spec.id}`),
    showTask: ({ type }, { spec }) => void lines.push(`${type}: ${spec.id}`),
  });
  const states = new Map<string, TaskState>();
  for (const [seconds, action, task] of steps) {
    const stamp = { v: LOG_VERSION, seq: 0, ts: seconds * 1_000, task, epoch: 1 };
    const spec = taskSpec(task, task === 'main' ? {} : { parent: 'main' });
    const end = { status: 'completed', error: null, because: 'done', by: null } as const;
    const event: TaskEvent =
      action === 'starts'
        ? { ...stamp, type: 'task.created', spec }
        : action === 'ends'
          ? { ...stamp, type: 'task.ended', end, result: '' }
          : { ...stamp, type: 'notified', level: 'info', message: 'half way' };
    const state = states.get(task) ?? initialState({ ...stamp, type: 'task.created', spec });
    states.set(task, state);
    if (action !== 'starts') applyEvent(state, event);
    longWork(event, state);
  }
  return lines;
}

it('a short run prints nothing', () => {
  expect(
    linesFor([0, 'starts', 'main'], [1, 'starts', 'a'], [20, 'ends', 'a'], [29, 'ends', 'main']),
  ).toEqual([]);
});

it('a long run prints the subagents at work by then, and those that start and end later', () => {
  expect(
    linesFor(
      [0, 'starts', 'main'],
      [1, 'starts', 'soon'],
      [2, 'starts', 'long'],
      [3, 'ends', 'soon'],
      [31, 'reports', 'main'],
      [32, 'starts', 'late'],
      [40, 'ends', 'long'],
      [41, 'ends', 'main'],
    ),
  ).toEqual(['at work: long', 'task.created: late', 'task.ended: long']);
});
