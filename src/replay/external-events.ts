import type { TaskEvent } from '../protocol/events/event.ts';

/**
 * Returns true if an event came to the loop of a task from outside: from people, other tasks, running tools, or the
 * process that opened the log. A rerun takes these events from the log; the loop has to produce the others again.
 */
export function isExternalEvent(event: TaskEvent): boolean {
  switch (event.type) {
    case 'input.queued': {
      const { kind, from, id } = event.input;
      // The used part of a cap depends on other tasks of the tree, and the date depends on the time zone.
      return kind !== 'notice' || from !== 'muster' || /^(?:budget|date)-/.test(id);
    }
    case 'terms.changed':
      return event.fallback === undefined;
    case 'task.created':
    case 'task.claimed':
    case 'task.held':
    case 'task.resumed':
    case 'task.rewound':
    case 'files.restored':
    case 'task.parked':
    case 'input.withdrawn':
    case 'items.reopened':
    case 'turn.quiet':
    case 'turn.flowing':
    case 'turn.interrupted':
    case 'question.asked':
    case 'question.answered':
    case 'rights.granted':
    case 'mode.granted':
    case 'child.created':
    case 'child.resumed':
    case 'child.detached':
    case 'child.ended':
    case 'shell.started':
    case 'shell.ended':
    case 'notified':
    case 'todos.set':
    case 'warning':
      return true;
    case 'task.started':
    case 'task.reused':
    case 'reuse.missed':
    case 'turn.started':
    case 'turn.held':
    case 'turn.accepted':
    case 'turn.retried':
    case 'turn.ended':
    case 'turn.failed':
    case 'context.cleared':
    case 'summary.started':
    case 'context.summarised':
    case 'summary.refused':
    case 'context.dropped':
    case 'context.handed':
    case 'call.started':
    case 'call.ended':
    case 'call.refused':
    case 'limit.reached':
    case 'task.ended':
      return false;
    default:
      return event satisfies never;
  }
}
