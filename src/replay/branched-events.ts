import { stripStamp } from '../protocol/events/event-body.ts';
import { newId } from '../base/ids.ts';
import { runningShells } from '../protocol/state/owned-work.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import type { TaskInput } from '../protocol/input.ts';
import { NO_USAGE } from '../protocol/model.ts';
import { drawNonce } from '../protocol/outside-text.ts';
import type { CallDetails } from '../protocol/tool.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

interface Branched {
  /** True if the grants in the log were given by people on this machine. */
  readonly trustsGrants: boolean;
}

/**
 * Copies the events of a log for a branch: the conversation, the known files and the terms. Costs, changes and
 * started work stay with the task that made them.
 */
export function branchedEvents(
  events: readonly TaskEvent[],
  { trustsGrants }: Branched,
): readonly EventBody[] {
  return events.flatMap((event) => {
    const body = branched(stripStamp(event));
    return body === null || (isGrant(body) && !trustsGrants) ? [] : [body];
  });
}

function isGrant({ type }: EventBody): boolean {
  return type === 'rights.granted' || type === 'mode.granted';
}

/** Creates the notices about tasks and shells that were running at the branch point and that a branch does not have. */
export function lostWorkNotices(state: TaskState): readonly EventBody[] {
  const tasks = [...state.openChildren].map((id) => `- Task ${id}`);
  const shells = runningShells(state).map((id) => `- Shell ${id}`);
  return [...tasks, ...shells].map((what): EventBody => {
    const text = `${what} ran when this conversation was branched off from another one, and stayed there. Its outcome is unknown: look before you start it again.`;
    const input: TaskInput = {
      id: newId(),
      kind: 'result',
      from: 'muster',
      text,
      nonce: drawNonce(text),
    };
    return { type: 'input.queued', input };
  });
}

/** Returns the event as the branch gets it, or null for an event that it does not get. */
function branched(body: EventBody): EventBody | null {
  switch (body.type) {
    case 'task.resumed':
    case 'task.reused':
    case 'terms.changed':
    case 'input.withdrawn':
    case 'turn.started':
    case 'turn.accepted':
    case 'turn.interrupted':
    case 'rights.granted':
    case 'mode.granted':
    case 'todos.set':
    case 'context.cleared':
    case 'summary.started':
    case 'context.dropped':
    case 'context.handed':
      return body;
    case 'input.queued': {
      // A branch can see no task of the other tree.
      const { handed: _, ...input } = body.input;
      return { ...body, input };
    }
    case 'context.summarised':
    case 'summary.refused':
    case 'turn.ended': {
      const { pricedBy: _, estimated: _estimated, ...rest } = body;
      return { ...rest, usage: NO_USAGE, costUsd: 0 };
    }
    case 'turn.failed': {
      const { type, turn, failure } = body;
      return { type, turn, failure, usage: NO_USAGE };
    }
    case 'call.ended':
      return { ...body, facts: knowledgeOf(body.facts) };
    case 'call.refused':
      return { ...body, decision: null };
    case 'task.created':
    case 'task.rewound':
    case 'files.restored':
    case 'task.claimed':
    case 'task.held':
    case 'task.started':
    case 'reuse.missed':
    case 'task.parked':
    case 'task.ended':
    case 'turn.held':
    case 'items.reopened':
    case 'turn.quiet':
    case 'turn.flowing':
    case 'turn.retried':
    case 'call.started':
    case 'question.asked':
    case 'question.answered':
    case 'child.created':
    case 'child.resumed':
    case 'child.detached':
    case 'child.ended':
    case 'shell.started':
    case 'shell.ended':
    case 'notified':
    case 'limit.reached':
    case 'warning':
      return null;
    default:
      return body satisfies never;
  }
}

/** Keeps the files that a call read or wrote, since a task knows the content that it has written. */
function knowledgeOf({ read = [], changed = [], variables, skill }: CallDetails): CallDetails {
  const written = changed.flatMap(({ path, after, movedFrom, unread }) =>
    after === null || movedFrom !== undefined || unread === true ? [] : [{ path, hash: after }],
  );
  const seen = [...read, ...written];
  return {
    ...(seen.length === 0 ? {} : { read: seen }),
    ...(variables === undefined ? {} : { variables }),
    ...(skill === undefined ? {} : { skill }),
  };
}
