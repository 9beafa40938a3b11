import { unansweredCalls } from '../../protocol/state/conversation.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { LogFold } from '../task/fold-log.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/**
 * Returns the number of the last event at or before `at` after which a conversation is complete: no request is open
 * and each call of the newest answer has its outcome. There is always one, since the first event is complete.
 */
export function findBranchPoint(events: readonly TaskEvent[], at: number): number {
  const fold = new LogFold((visit) => events.forEach((event) => visit(event)));
  let point = 0;
  for (const event of events) {
    if (event.seq > at) break;
    fold.add(event);
    if (fold.state !== null && isComplete(fold.state)) point = event.seq;
  }
  return point;
}

function isComplete({ openTurn, conversation }: TaskState): boolean {
  return openTurn === null && unansweredCalls(conversation).length === 0;
}
