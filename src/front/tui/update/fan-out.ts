import type { TaskEvent } from '../../../protocol/events/event.ts';
import { toolCalls } from '../../../protocol/message.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';
import type { PlannedFanOut } from '../../../report/fan-out-estimate.ts';
import { calledAgent } from '../model/call-details.ts';
import type { LibraryInfo } from '../model/ui-library.ts';

/** The minimum number of equal Task calls of a message for which the cost is estimated. */
const MIN_CALLS = 8;

/**
 * Returns the fan-out that an answer of the main agent begins: many Task calls to the same agent. Returns null for every
 * other event.
 */
export function findFanOut(
  event: TaskEvent,
  { spec }: Pick<TaskState, 'spec'>,
  { agents }: Pick<LibraryInfo, 'agents'>,
): PlannedFanOut | null {
  if (event.type !== 'turn.ended' || spec.parent !== null) return null;
  const names = toolCalls(event.message).flatMap(
    ({ name, input }) => calledAgent(name, input) ?? [],
  );
  if (names.length < MIN_CALLS) return null;
  for (const [agent, calls] of Map.groupBy(names, (name) => name)) {
    if (calls.length < MIN_CALLS) continue;
    const model = agents.agents.find(({ name }) => name === agent)?.model ?? 'inherit';
    const inherited = `${spec.model.provider}/${spec.model.id}`;
    return { agent, count: calls.length, model: model === 'inherit' ? inherited : null };
  }
  return null;
}
