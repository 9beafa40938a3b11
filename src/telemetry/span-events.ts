import type { TaskEvent } from '../protocol/events/event.ts';
import type { SpanEvent } from './span-record.ts';
import { toSpanName } from './span-texts.ts';

/** An event of a span without its time. */
export type DescribedEvent = Omit<SpanEvent, 'timeMs'>;

/** Describes an event of a log as an event of a span, without content. Returns null for one that spans do not show. */
export function describeSpanEvent(event: TaskEvent): DescribedEvent | null {
  switch (event.type) {
    case 'task.started':
    case 'task.parked':
    case 'turn.interrupted':
    case 'task.rewound':
    case 'context.cleared':
    case 'context.dropped':
      return { name: `muster.${event.type}`, attributes: {} };
    case 'task.reused':
      return { name: 'muster.task.reused', attributes: { 'muster.task.id': event.of } };
    case 'turn.held':
      return { name: 'muster.turn.held', attributes: { 'muster.turn': event.turn } };
    case 'turn.retried':
      return {
        name: 'muster.turn.retried',
        attributes: {
          'error.type': event.failure.kind,
          'muster.attempt': event.attempt,
          'muster.wait_ms': event.waitMs,
        },
      };
    case 'limit.reached':
      return {
        name: 'muster.limit.reached',
        attributes: {
          'muster.limit': toSpanName(event.limit),
          'muster.limit.value': event.value,
          'muster.limit.used': event.used,
        },
      };
    case 'question.asked':
      return {
        name: 'muster.question.asked',
        attributes: {
          'muster.question.id': toSpanName(event.question.id),
          'gen_ai.tool.name': toSpanName(event.question.tool),
        },
      };
    case 'question.answered':
      return {
        name: 'muster.question.answered',
        attributes: { 'muster.question.id': toSpanName(event.question) },
      };
    case 'hook.ran':
      return { name: 'muster.hook.ran', attributes: { 'muster.hook.event': event.event } };
    case 'acceptance.checked':
      return {
        name: 'muster.acceptance.checked',
        attributes: { 'muster.acceptance.passed': event.outcome.isPassed },
      };
    default:
      return null;
  }
}
