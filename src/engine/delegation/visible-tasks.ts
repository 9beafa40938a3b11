import { catchMusterError, MusterError } from '../../base/errors.ts';
import { truncate } from '../../base/text.ts';
import type { EngineContext } from './engine-context.ts';
import { foldLog } from '../task/fold-log.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { interruptionError } from '../results/result.ts';

/** Maximum number of candidates that the error about an ambiguous id names. */
const MAX_CANDIDATES = 5;
/** Maximum length, in code points, of a wrong id in its error. Ids are shorter. */
const SHOWN_LENGTH = 64;

/** A task or shell that a task can see. */
export type VisibleTask =
  | { readonly kind: 'task'; readonly id: string }
  /** A shell, and the task that started it. */
  | { readonly kind: 'shell'; readonly id: string; readonly owner: string };

/**
 * Returns everything that a task may see, by id: its descendants, the tasks whose ids were passed to it, its own
 * shells and those of its running descendants. It never sees itself, nor tasks of its parent, its siblings or
 * another tree that were not passed to it.
 */
export function visibleTasks(
  state: TaskState,
  running: RunningTasks,
): ReadonlyMap<string, VisibleTask> {
  const visible = new Map<string, VisibleTask>();
  for (const id of state.handed) visible.set(id, { kind: 'task', id });
  addOwn(state, running, visible);
  // A parent may have passed the task its own id.
  visible.delete(state.spec.id);
  return visible;
}

function addOwn(state: TaskState, running: RunningTasks, visible: Map<string, VisibleTask>): void {
  for (const id of state.shells.keys()) {
    visible.set(id, { kind: 'shell', id, owner: state.spec.id });
  }
  for (const [id, { below }] of state.children) {
    visible.set(id, { kind: 'task', id });
    for (const lower of below) visible.set(lower, { kind: 'task', id: lower });
    const run = running.get(id);
    if (run !== undefined) addOwn(run.state, running, visible);
  }
}

/**
 * Finds the task or shell that an id, or the beginning of one, refers to. `field` is the name of the argument, for
 * the error.
 */
export function findVisibleTask(
  caller: TaskRun,
  running: RunningTasks,
  { field, reference }: { readonly field: string; readonly reference: string },
): VisibleTask | MusterError {
  const visible = new Map(visibleTasks(caller.state, running));
  // Its ancestors are left out even if they were passed to it: two tasks that wait for each other would never end.
  for (let at: TaskRun | null = caller; at !== null; at = at.parent) visible.delete(at.spec.id);
  const shown = truncate(reference, SHOWN_LENGTH);
  const exact = visible.get(reference);
  if (exact !== undefined) return exact;
  const found = [...visible.values()].filter(({ id }) => id.startsWith(reference));
  const [first] = found;
  if (first === undefined) {
    return new MusterError('NOT_FOUND', `${field}: no task or shell of yours begins with ${shown}`);
  }
  if (found.length === 1) return first;
  const named = found.slice(0, MAX_CANDIDATES).map(({ id }) => id);
  const rest = found.length - named.length;
  const message = `${field}: ${reference} is the beginning of ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}; give more of the id`;
  return new MusterError('INVALID_PARAM', message);
}

/** Returns the ids of visible tasks that a text of the sender names. The recipient of the text may see them too. */
export function visibleTasksNamedIn(
  text: string,
  { state, tree }: Pick<TaskRun, 'state' | 'tree'>,
  running: RunningTasks,
): readonly string[] {
  // Many words only look like an id. The visible tasks are gathered only if there is a real one.
  const ids = [...new Set(text.match(/[a-z0-9]{8,32}/g) ?? [])].filter(
    (word) => state.handed.has(word) || tree.hasTask(word),
  );
  if (ids.length === 0) return [];
  const visible = visibleTasks(state, running);
  return ids.filter((id) => visible.get(id)?.kind === 'task');
}

/**
 * Returns the state of a task, whether or not it runs in this process. A task without an end that does not run here
 * has the status `interrupted`. Returns a MusterError if its log can't be read.
 */
export function readTaskState(
  { deps, running }: EngineContext,
  id: string,
): TaskState | MusterError {
  const run = running.get(id);
  if (run !== undefined) return run.outcome();
  const state = catchMusterError(() => foldLog(deps.store, id));
  if (state instanceof MusterError || state.end !== null) return state;
  const error = interruptionError(state);
  const end = { status: 'failed', error, because: error.message, by: null } as const;
  return { ...state, status: 'interrupted', end };
}
