import type { EventBody, TaskEvent } from './event.ts';

/** Returns the content of an event without its stamp (`EventStamp`). */
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
