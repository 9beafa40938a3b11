import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { LogProblem, TaskStore } from '../../src/store/task-store.ts';

export interface LogContents {
  readonly events: readonly TaskEvent[];
  readonly problems: readonly LogProblem[];
}

/** Reads a complete log at once. */
export function readLog(store: TaskStore, id: string): LogContents {
  const events: TaskEvent[] = [];
  const problems = store.scan(id, (event) => events.push(event));
  return { events, problems };
}
