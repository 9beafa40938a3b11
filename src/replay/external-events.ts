import type { TaskEvent } from '../protocol/events/event.ts';

/**
 * Whether an event of a task's log came to its loop from outside: from people, from other tasks, from
 * tools while they ran, from whoever opened the log. A rerun takes those from the log; the others are the
 * loop's own, and it has to make them again.
 */
export function isExternalEvent(event: TaskEvent): boolean {
  switch (event.type) {
    case 'input.queued': {
      const { kind, from, id } = event.input;
      // How much of a cap is used depends on what others of the tree have used by then, and the date on the place.
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
