import { expect, it } from 'vitest';
import { taskRow } from '../../../../src/front/tui/model/task-row.ts';
import { taskSpec } from '../../../store/fixture-data.ts';
import { LOG_VERSION, type EventBody } from '../../../../src/protocol/events/event.ts';
import { called, CLAIMED, ended, STARTED } from '../../../report/logs.ts';
import { foldEvents } from '../../../../src/protocol/state/fold.ts';

const ID = 'task00000001';

/** The row of a task whose process has a clock that is ahead by `writer`, shown where it is by `viewer`. */
function rowOf(bodies: readonly EventBody[], writer: number, viewer: number) {
  const events = bodies.map((body, seq) =>
    Object.assign(
      { v: LOG_VERSION, seq, ts: 10_000 + seq * 1_000, task: ID, epoch: 1 },
      writer === 0 ? {} : { clockShift: writer },
      body,
    ),
  );
  return taskRow(foldEvents(events), viewer);
}

const BEGUN = [{ type: 'task.created', spec: taskSpec(ID) } as const, CLAIMED, STARTED];

it.each([
  ['of this process', 0, 0, 11_000],
  ['of this process, whose clock was set forwards', 5_000, 5_000, 6_000],
  ['of a process whose clock was set forwards before this one began', 5_000, 0, 11_000],
  ['of a process whose clock was set back before this one began', -5_000, 0, 11_000],
  ['of a process that began after the clock of this one was set', 0, 5_000, 6_000],
])('task times %s use the clock of the viewing process', (_, writer, viewer, since) => {
  const atWork = rowOf([...BEGUN, called('c1', 'Bash')], writer, viewer);
  expect(atWork).toMatchObject({ since, endedAt: null, activity: { since: since + 2_000 } });
  expect(rowOf([...BEGUN, ended()], writer, viewer)).toMatchObject({
    since,
    endedAt: since + 2_000,
  });
});
