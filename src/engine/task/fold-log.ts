import { MusterError } from '../../base/errors.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { liveEventFilter } from '../../protocol/events/rewound.ts';
import type { LogProblem, TaskStore } from '../../store/task-store.ts';
import { applyRewoundEvent, applyEvent } from '../../protocol/state/fold.ts';
import { initialState, type TaskState } from '../../protocol/state/task-state.ts';

/** Visits the events of a log from its beginning, at least up to the newest event that was added to the fold. */
export type RescanLog = (visit: (event: TaskEvent) => void) => void;

/**
 * Folds events one by one, so that a log does not have to be held in memory beside its state. After a rewind among
 * the events, the log is scanned again as soon as the state is needed.
 */
export class LogFold {
  private current: TaskState | null = null;
  /** The number of the newest event if it is not part of `current` yet; otherwise null. */
  private unfoldedSeq: number | null = null;
  private readonly rewinds: { readonly seq: number; readonly to: number }[] = [];
  private readonly rescan: RescanLog;

  constructor(readAgain: RescanLog) {
    this.rescan = readAgain;
  }

  readonly add = (event: TaskEvent): void => {
    if (event.type === 'task.rewound') this.rewinds.push({ seq: event.seq, to: event.to });
    if (this.unfoldedSeq !== null || event.type === 'task.rewound') this.unfoldedSeq = event.seq;
    else if (this.current !== null) applyEvent(this.current, event);
    // Events before `task.created`, which contains the specification of the task, can't be folded.
    else if (event.type === 'task.created') this.current = initialState(event);
  };

  /** The folded state; null as long as `task.created` is missing, as in a damaged log. */
  get state(): TaskState | null {
    if (this.unfoldedSeq !== null) this.current = this.foldAgain(this.unfoldedSeq);
    this.unfoldedSeq = null;
    return this.current;
  }

  private foldAgain(upTo: number): TaskState | null {
    const isLive = liveEventFilter(this.rewinds, upTo);
    let state: TaskState | null = null;
    this.rescan((event) => {
      if (event.seq > upTo) return;
      if (state === null) {
        if (event.type === 'task.created') state = initialState(event);
      } else if (isLive(event.seq)) applyEvent(state, event);
      else applyRewoundEvent(state, event);
    });
    return state;
  }
}

/**
 * Folds the log of a task, which any process may own. Throws MusterError (`NOT_FOUND`) when the beginning of the log
 * is missing.
 */
export function foldLog(store: Pick<TaskStore, 'scan' | 'logPath'>, id: string): TaskState {
  const fold = new LogFold((visit) => void store.scan(id, visit));
  const problems = store.scan(id, fold.add);
  const { state } = fold;
  if (state === null) throw missingBeginningError(store, id, problems);
  return state;
}

/** Returns all events of a log. Throws MusterError (`NOT_FOUND`) when the beginning of the log is missing. */
export function readFullLog(
  store: Pick<TaskStore, 'scan' | 'logPath'>,
  id: string,
): readonly TaskEvent[] {
  const events: TaskEvent[] = [];
  const problems = store.scan(id, (event) => void events.push(event));
  if (events[0]?.type !== 'task.created') throw missingBeginningError(store, id, problems);
  return events;
}

function missingBeginningError(
  store: Pick<TaskStore, 'logPath'>,
  id: string,
  problems: readonly LogProblem[],
): MusterError {
  const path = store.logPath(id);
  const where = path === null ? '' : ` (${path}:${problems[0]?.line ?? 1})`;
  const message = `task ${id} cannot be used: its specification (task.created) is missing or damaged in its log${where}`;
  return new MusterError('NOT_FOUND', message);
}
