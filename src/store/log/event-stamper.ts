import { measureClockShift, type Clock } from '../../base/clock.ts';
import { ERROR_CODES, MusterError } from '../../base/errors.ts';
import { LOG_VERSION, type EventBody, type TaskEvent } from '../../protocol/events/event.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { TASK_STATUSES } from '../../protocol/result.ts';
import { TOOL_NAMES } from '../../protocol/tool-names.ts';
import { isTaskEvent } from './validate-event.ts';
import { isEventType } from './validate-terms.ts';
import { mapStrings } from './large-strings.ts';
import type { Redact } from '../redact/redactor.ts';

/** The task, epoch and number that the next events of a log are stamped with. */
interface StampPosition {
  readonly task: string;
  readonly epoch: number;
  /** The number of the first event. */
  readonly seq: number;
}

/** An event and its JSON. */
export interface StampedEvent {
  readonly event: TaskEvent;
  readonly json: string;
}

export type EventStamper = (
  bodies: readonly EventBody[],
  position: StampPosition,
) => readonly StampedEvent[];

/** Values of the protocol, which are never redacted: somebody's password may be `completed`. */
const PROTOCOL_VALUES: ReadonlySet<string> = new Set([
  ...TASK_STATUSES,
  ...ERROR_CODES,
  ...PERMISSION_MODES,
  ...TOOL_NAMES,
  'assistant',
  'reasoning',
  'tool_call',
  'tool_calls',
  'in_progress',
]);

/** Creates the function that turns event bodies into events: all with the same time, and with secrets redacted. */
export function createEventStamper(clock: Clock, redact: Redact | undefined): EventStamper {
  return (bodies, { task, epoch, seq }) => {
    const ts = clock.now();
    const shift = measureClockShift(clock, ts);
    const time = { ts, ...(shift === 0 ? {} : { clockShift: shift }) };
    return bodies.map((body, offset) => {
      const event = { v: LOG_VERSION, seq: seq + offset, ...time, task, epoch, ...body };
      const json = JSON.stringify(event);
      if (redact === undefined || redact.canChange?.(json) === false) return { event, json };
      const clean = redactEvent(event, redact);
      return clean === event ? { event, json } : { event: clean, json: JSON.stringify(clean) };
    });
  };
}

function redactEvent(event: TaskEvent, redact: Redact): TaskEvent {
  const clean = mapStrings(event, (text) =>
    isEventType(text) || PROTOCOL_VALUES.has(text) ? text : redact(text),
  );
  if (isTaskEvent(clean, event.task)) return clean;
  const message = `event ${event.type} of task ${event.task} is not valid after its secrets were redacted: check whether a secret is part of the task id`;
  throw new MusterError('INTERNAL_ERROR', message);
}
