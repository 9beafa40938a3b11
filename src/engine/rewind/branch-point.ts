import { unansweredCalls } from '../../protocol/state/conversation.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { LogFold } from '../task/fold-log.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/**
 * The last event at or before `at` after which a conversation is whole: no request is under way, and each
 * call of the newest answer has its outcome. There is always one: the first event is.
 */
export function findBranchPoint(events: readonly TaskEvent[], at: number): number {
  const fold = new LogFold((visit) => events.forEach((event) => visit(event)));
  let point = 0;
  for (const event of events) {
    if (event.seq > at) break;
    fold.add(event);
    if (fold.state !== null && isWhole(fold.state)) point = event.seq;
  }
  return point;
}

function isWhole({ openTurn, conversation }: TaskState): boolean {
  return openTurn === null && unansweredCalls(conversation).length === 0;
}
