import { MusterError } from '../../base/errors.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { liveEventFilter } from '../../protocol/events/rewound.ts';
import type { LogProblem, TaskStore } from '../../store/task-store.ts';
import { applyRewoundEvent, applyEvent } from '../../protocol/state/fold.ts';
import { initialState, type TaskState } from '../../protocol/state/task-state.ts';

/** Visits the events of a log from its beginning, at least up to the newest one that was folded. */
export type RescanLog = (visit: (event: TaskEvent) => void) => void;

/**
 * Folds events one by one, so that a log need not be held in memory beside its state. When a rewind is among
 * them, the log is scanned once more as soon as the state is needed.
 */
export class LogFold {
  private current: TaskState | null = null;
  /** The number of the newest event when that is not part of `current` yet; else null. */
  private ahead: number | null = null;
  private readonly rewinds: { readonly seq: number; readonly to: number }[] = [];
  private readonly readAgain: RescanLog;

  constructor(readAgain: RescanLog) {
    this.readAgain = readAgain;
  }

  readonly add = (event: TaskEvent): void => {
    if (event.type === 'task.rewound') this.rewinds.push({ seq: event.seq, to: event.to });
    if (this.ahead !== null || event.type === 'task.rewound') this.ahead = event.seq;
    else if (this.current !== null) applyEvent(this.current, event);
    // Events before the specification of the task can't be folded.
    else if (event.type === 'task.created') this.current = initialState(event);
  };

  /** The folded state; null before the event with the specification, which a damaged log may lack. */
  get state(): TaskState | null {
    if (this.ahead !== null) this.current = this.foldAgain(this.ahead);
    this.ahead = null;
    return this.current;
  }

  private foldAgain(upTo: number): TaskState | null {
    const isLive = liveEventFilter(this.rewinds, upTo);
    let state: TaskState | null = null;
    this.readAgain((event) => {
      if (event.seq > upTo) return;
      if (state === null) {
        if (event.type === 'task.created') state = initialState(event);
      } else if (isLive(event.seq)) applyEvent(state, event);
      else applyRewoundEvent(state, event);
    });
    return state;
  }
}

/** Folds the log of a task, whoever owns it. Throws MusterError (`NOT_FOUND`) when its beginning is missing. */
export function foldLog(store: TaskStore, id: string): TaskState {
  const fold = new LogFold((visit) => void store.scan(id, visit));
  const problems = store.scan(id, fold.add);
  const { state } = fold;
  if (state === null) throw withoutBeginning(store, id, problems);
  return state;
}

/** Returns all events of a log. Throws MusterError (`NOT_FOUND`) when its beginning is missing. */
export function readFullLog(
  store: Pick<TaskStore, 'scan' | 'logPath'>,
  id: string,
): readonly TaskEvent[] {
  const events: TaskEvent[] = [];
  const problems = store.scan(id, (event) => void events.push(event));
  if (events[0]?.type !== 'task.created') throw withoutBeginning(store, id, problems);
  return events;
}

function withoutBeginning(
  store: Pick<TaskStore, 'logPath'>,
  id: string,
  problems: readonly LogProblem[],
): MusterError {
  const path = store.logPath(id);
  const where = path === null ? '' : ` (${path}:${problems[0]?.line ?? 1})`;
  const message = `task ${id} cannot be used: its specification (task.created) is missing or damaged in its log${where}`;
  return new MusterError('NOT_FOUND', message);
}
