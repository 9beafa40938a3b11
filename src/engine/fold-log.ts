import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/event.ts';
import { liveBefore } from '../protocol/rewound.ts';
import { applyCut, applyEvent, initialState, type TaskState } from '../protocol/state.ts';
import type { TaskStore } from '../store/task-store.ts';

/** Visits the events of a log from its beginning, at least up to those that were folded. */
export type ReadAgain = (visit: (event: TaskEvent) => void) => void;

/**
 * Folds events as they come, so that a log need not be held whole beside its state. At a rewind it is read
 * once more, `readAgain`, for what it goes back to.
 */
export class LogFold {
  private current: TaskState | null = null;
  private readonly rewinds: { readonly seq: number; readonly to: number }[] = [];
  private readonly readAgain: ReadAgain;

  constructor(readAgain: ReadAgain) {
    this.readAgain = readAgain;
  }

  readonly add = (event: TaskEvent): void => {
    if (this.current === null) this.current = initialState(event);
    else if (event.type === 'task.rewound') this.goBack(event);
    else applyEvent(this.current, event);
  };

  private goBack({ seq: at, to }: Extract<TaskEvent, { type: 'task.rewound' }>): void {
    this.rewinds.push({ seq: at, to });
    const isLive = liveBefore(this.rewinds, at);
    let state: TaskState | null = null;
    this.readAgain((event) => {
      if (event.seq > at) return;
      if (state === null) state = initialState(event);
      else if (isLive(event.seq)) applyEvent(state, event);
      else applyCut(state, event);
    });
    this.current = state;
  }

  /** Null before the first event. */
  get state(): TaskState | null {
    return this.current;
  }
}

/** The state that a log tells, whoever owns it. Throws MusterError when it has lost its beginning. */
export function foldLog(store: TaskStore, id: string): TaskState {
  const fold = new LogFold((visit) => void store.scan(id, visit));
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
