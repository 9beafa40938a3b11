import type { EventBody, TaskEvent } from '../../protocol/events/event.ts';
import type { TaskLog } from '../../store/task-store.ts';
import type { EngineDeps } from './deps.ts';
import { eventOutputText } from './task-output-text.ts';
import type { TaskTree } from './task-tree.ts';
import { applyEvent } from '../../protocol/state/fold.ts';
import { initialState, type TaskState } from '../../protocol/state/task-state.ts';

/**
 * The one way a task's state changes: an event is written, then folded, then shown. So the live
 * state is the fold of the log by construction, and nothing is shown that is not written.
 */
export class Journal {
  readonly state: TaskState;
  private readonly log: TaskLog;
  /** The newest sync; null when an answer has come since. */
  private keeping: Promise<void> | null = Promise.resolve();
  private readonly show: (event: TaskEvent, state: TaskState) => void;

  /** `state`: the fold of all that the log holds. */
  constructor(log: TaskLog, state: TaskState, show: (event: TaskEvent, state: TaskState) => void) {
    this.log = log;
    this.show = show;
    this.state = state;
    for (const event of log.opening) show(event, state);
  }

  /** Writes the events as one batch. Throws when they can't be written; then nothing is folded. */
  record(...bodies: readonly EventBody[]): void {
    const events = this.log.append(bodies);
    for (const event of events) applyEvent(this.state, event);
    if (events.some(({ type }) => type === 'turn.ended')) this.keeping = null;
    for (const event of events) this.show(event, this.state);
  }

  /** Resolves when all that was recorded survives a loss of power. */
  sync(): Promise<void> {
    this.keeping = this.log.sync();
    return this.keeping;
  }

  /** The same for the newest answer, which an earlier `sync` may have seen to. */
  keepAnswer(): Promise<void> {
    if (this.keeping === null) return this.sync();
    return this.keeping;
  }

  close(): void {
    this.log.close();
  }
}

/**
 * The journal of a log that this process owns. `state`: the fold of what stood in it before; null for
 * a new one. What it writes is shown to whoever follows the tree.
 */
export function openJournal(
  deps: Pick<EngineDeps, 'store' | 'onEvent' | 'onFault'>,
  tree: Pick<TaskTree, 'id'>,
  log: TaskLog,
  before: TaskState | null = null,
): Journal {
  const state = foldOpening(log, before);
  return new Journal(log, state, (event, now) => {
    growOutput(deps, event);
    deps.onEvent(event, { tree: tree.id, state: now });
  });
}

function foldOpening(log: TaskLog, before: TaskState | null): TaskState {
  let state = before;
  for (const event of log.opening) {
    if (state === null) state = initialState(event);
    else applyEvent(state, event);
  }
  if (state === null) throw new Error(`the log of task ${log.id} holds no event`);
  return state;
}

/** The text beside the log is for people alone: what keeps it from growing keeps no task from working. */
function growOutput(deps: Pick<EngineDeps, 'store' | 'onFault'>, event: TaskEvent): void {
  const text = eventOutputText(event);
  if (text === null) return;
  try {
    deps.store.appendOutput(event.task, text);
  } catch (thrown) {
    deps.onFault(event.task, thrown);
  }
}
