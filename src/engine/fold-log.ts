import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/event.ts';
import { applyEvent, initialState, type TaskState } from '../protocol/state.ts';
import type { TaskStore } from '../store/task-store.ts';

/** Folds events as they come, so that a log need not be held whole beside its state. */
export class LogFold {
  private current: TaskState | null = null;

  readonly add = (event: TaskEvent): void => {
    if (this.current === null) this.current = initialState(event);
    else applyEvent(this.current, event);
  };

  /** Null before the first event. */
  get state(): TaskState | null {
    return this.current;
  }
}

/** The state that a log tells, whoever owns it. Throws MusterError when it has lost its beginning. */
export function foldLog(store: TaskStore, id: string): TaskState {
  const fold = new LogFold();
  store.scan(id, (event) => {
    if (fold.state === null && event.type !== 'task.created') throw withoutBeginning(store, id);
    fold.add(event);
  });
  if (fold.state === null) throw withoutBeginning(store, id);
  return fold.state;
}

function withoutBeginning(store: TaskStore, id: string): MusterError {
  return new MusterError(
    'NOT_FOUND',
    `task ${id}: its log has lost its beginning, which says what the task was: ${store.log(id) ?? 'not kept'}`,
  );
}
