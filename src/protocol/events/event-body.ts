import type { EventBody, TaskEvent } from './event.ts';

/** Returns an event without its stamp: what it says, apart from when and where it was written. */
export function stripStamp(event: TaskEvent): EventBody {
  const {
    v: _v,
    seq: _seq,
    ts: _ts,
    clockShift: _clockShift,
    task: _task,
    epoch: _epoch,
    ...body
  } = event;
  return body;
}
