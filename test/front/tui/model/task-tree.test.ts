import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/base/clock.ts';
import {
  placeTask,
  beginTree,
  emptyTaskTree,
  hasWork,
} from '../../../../src/front/tui/model/task-tree.ts';
import type { TaskStatus } from '../../../../src/protocol/result.ts';
import { openMemoryStore } from '../../../../src/store/memory-store.ts';
import { taskSpec } from '../../../store/fixture-data.ts';
import type { TaskState } from '../../../../src/protocol/state/task-state.ts';
import { foldEvents } from '../../../../src/protocol/state/fold.ts';

/** Both of its clocks agree, as on a machine whose clock nobody sets. */
const CLOCK: Clock = { now: () => 1_700_000_000_000, monotonic: () => 1_700_000_000_000 };

/** One that has made a child in the background, and asks. */
function asking(status: TaskStatus): TaskState {
  const log = openMemoryStore({ clock: CLOCK }).create(taskSpec('mainmain'));
  const question = {
    id: 'mainmainq1',
    task: 'mainmain',
    callId: 'u',
    kind: 'input',
    chain: ['main'],
    tool: 'AskUser',
    text: 'Which port?',
    options: [],
  } as const;
  const events = log.append([
    { type: 'task.started' },
    { type: 'child.created', child: 'child1xx', callId: 'c', background: true },
    { type: 'call.started', callId: 'u', tool: 'AskUser', input: {} },
    { type: 'question.asked', question, digest: '0', parks: false },
  ]);
  const state = foldEvents([...log.opening, ...events]);
  state.status = status;
  return state;
}

describe('a task that was read from its log', () => {
  it.each(['interrupted', 'parked'] as const)(
    'and that is %s counts as ended when its log did',
    (status) => {
      const ui = emptyTaskTree(CLOCK);
      beginTree(ui, 'mainmain');
      const state = asking(status);
      placeTask(ui, state, { isAsking: false });
      expect(ui.rows.get('mainmain')).toMatchObject({ status, endedAt: state.lifetime.newest.ts });
      expect([hasWork(ui), ui.questions.size, [...ui.background]]).toEqual([
        false,
        0,
        ['child1xx'],
      ]);
    },
  );

  it('is at work if its process still runs, and its question can be answered', () => {
    const ui = emptyTaskTree();
    beginTree(ui, 'mainmain');
    placeTask(ui, asking('running'), { isAsking: true });
    expect([hasWork(ui), [...ui.questions.keys()]]).toEqual([true, ['mainmainq1']]);
  });
});
