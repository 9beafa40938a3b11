import type { Session } from '../../api/index.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';

/**
 * Reads the events of a conversation and of all tasks below it from their logs. The events of a task follow the event that announces
 * it. Everything is read in bounded memory.
 */
export async function* replayConversation(
  store: Pick<Session['store'], 'exists' | 'streamEvents'>,
  id: string,
  seen = new Set<string>(),
): AsyncGenerator<TaskEvent, void, undefined> {
  if (seen.has(id) || !store.exists(id)) return;
  seen.add(id);
  for await (const event of store.streamEvents(id, 0)) {
    yield event;
    if (event.type === 'child.created') yield* replayConversation(store, event.child, seen);
  }
}
